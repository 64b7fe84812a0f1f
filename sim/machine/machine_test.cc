// The machine's microtests with known answers, T20 to T24, demand only.

#include "sim/machine/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/machine/machine_test_kit.h"

namespace weft::sim {
namespace {

// The cores before `core` only warm up.
std::vector<std::vector<Record>> OnCore(int core, std::vector<Record> records) {
  std::vector<std::vector<Record>> all(static_cast<size_t>(core) + 1,
                                       {Mark(RecordKind::kOpBegin), Mark(RecordKind::kOpEnd)});
  all.back() = std::move(records);
  return all;
}

// T20: a chase of lines that L2 has, each of another set of L1.
TEST(Machine, ALineOfL2TakesAsLongAsItsWay) {
  const Mesh mesh({});
  double sum = 0;
  for (int core = 0; core < 8; ++core) {
    for (int bank = 0; bank < 8; ++bank) {
      // All are in one set of L1, which has room for four, and so are out of it when asked again.
      std::vector<Record> records;
      for (int turn = 0; turn < 2; ++turn) {
        if (turn == 1) records.push_back(Mark(RecordKind::kOpBegin));
        if (turn == 1) records.push_back(Mark(RecordKind::kOpEnd));
        for (uint64_t i = 0; i < 8; ++i) {
          records.push_back(Read(static_cast<uint64_t>(bank) + 64 * (i + 1), 0, i > 0 || turn > 0));
        }
      }
      MachineOptions options;
      options.core.warmup_ops = core + 1;
      const RunResult run = Simulate(ListSource(OnCore(core, records)), options);
      EXPECT_EQ(run.cores.misses.count, 8);
      EXPECT_EQ(run.cores.misses.sum, 8 * (22 + 8 * mesh.Hops(core, bank)))
          << "core " << core << ", bank " << bank;
      sum += run.cores.misses.value();
    }
  }
  EXPECT_EQ(sum / 64, 36);
}

TEST(Machine, AReadOfMemoryTakesItsWayAndTheControllersTime) {
  // Node 0 has all of them: 1 + 14 to the controller, which begins a clock every 6 cycles: that at
  // 18. A closed bank takes 25 of them; then the data's tail to L2 and to the core.
  const RunResult run = Simulate(ListSource({{Read(0)}}));
  EXPECT_EQ(run.cores.misses.sum, 18 + 25 * 6 + 7 + 7);
  EXPECT_EQ(run.cores.reads.sum, run.cores.misses.sum);
  EXPECT_EQ(run.channels[0].demand_latency.sum, 25);
  EXPECT_EQ(run.channels[0].controller.activates, 1);
  EXPECT_EQ(run.channels[1].demand_latency.count, 0);
  EXPECT_EQ(run.l2.misses, 1);
}

// T21. Neighbours, so that channels, ranks and banks all take part, and one of another row.
TEST(Machine, SixteenMissesOverlapAndTheNextWaits) {
  const auto last_activate = [](int mshrs) {
    std::vector<Record> records;
    for (uint64_t i = 0; i < 16; ++i) records.push_back(Read(i));
    records.push_back(Read((1 << 13) + 16));
    MachineOptions options;
    options.l1.mshrs = mshrs;
    Clock clock = 0;
    options.on_command = [&](int, const IssuedCommand& issued) {
      if (issued.command == Command::kActivate && issued.row == 1) clock = issued.clock;
    };
    const RunResult run = Simulate(ListSource({records}), options);
    // Eight lines of a channel take its bus 40 clocks.
    EXPECT_TRUE(mshrs < 16 || run.cores.cycles < 200 + 40 * 6 + 40) << run.cores.cycles;
    return clock;
  };
  // The first's data is at the core after 183 cycles; the way to the controller is 15 and more.
  EXPECT_LT(last_activate(17), 16);
  EXPECT_GE(last_activate(16), (183 + 15) / 6);
  EXPECT_LT(last_activate(16), 45);
  EXPECT_GT(last_activate(1), 16 * 30);
}

// T22.
TEST(Machine, TheWindowIsWhatTwoMissesMayOverlapIn) {
  const auto cycles = [](uint32_t gap) {
    return Simulate(ListSource({{Read(8), Read(800, gap)}})).cores.cycles;
  };
  const int64_t alone = Simulate(ListSource({{Read(8)}})).cores.cycles;
  EXPECT_LT(cycles(100), alone + 60);
  EXPECT_LT(cycles(126), alone + 60);
  // The second comes in when the first has retired: a cycle later the earliest.
  EXPECT_GT(cycles(127), 2 * alone - 20);
  EXPECT_GT(cycles(200), 2 * alone - 20);
}

// T23.
TEST(Machine, AMergedMissCountsOnce) {
  const RunResult run = Simulate(ListSource({{Read(8), Read(8), Read(8)}}));
  EXPECT_EQ(run.cores.reads.count, 3);
  EXPECT_EQ(run.cores.misses.count, 1);
  EXPECT_EQ(run.l2.misses, 1);
  EXPECT_EQ(run.l2.hits, 0);
  EXPECT_EQ(run.channels[0].controller.reads_done, 1);
  // They started a cycle apart, and all had their data at once.
  EXPECT_EQ(run.cores.reads.sum, 3 * run.cores.misses.sum - 3);
}

TEST(Machine, CoresThatAskForALineTogetherReadItOnce) {
  const RunResult run = Simulate(ListSource({{Read(8)}, {Read(8)}, {Read(8)}}));
  EXPECT_EQ(run.l2.misses, 1);
  EXPECT_EQ(run.l2.joined_misses, 2);
  EXPECT_EQ(run.channels[0].controller.reads_done, 1);
  EXPECT_EQ(run.cores.misses.count, 3);
}

// T24.
TEST(Machine, AFullQueueHoldsRequestsBackAndLosesNone) {
  std::vector<std::vector<Record>> records(8);
  for (uint64_t core = 0; core < 8; ++core) {
    // One bank of the memory, another row each time: 34 clocks a line.
    for (uint64_t i = 0; i < 64; ++i) records[core].push_back(Read((core * 64 + i + 1) << 13));
  }
  MachineOptions options;
  options.controller.commands_max = 4;
  options.l2.shape.mshrs = 128;
  const RunResult run = Simulate(ListSource(records), options);
  EXPECT_EQ(run.channels[0].controller.reads_done, 512);
  EXPECT_EQ(run.cores.misses.count, 512);
  // 128 ask at once; 36 fit in.
  EXPECT_GT(run.channels[0].wait.value(), 34.0 * 60);
  EXPECT_LT(run.channels[0].demand_latency.value(), 34.0 * 40);
}

TEST(Machine, ADependentReadWaitsForItsData) {
  const int64_t alone = Simulate(ListSource({{Read(8)}})).cores.misses.sum;
  const RunResult free = Simulate(ListSource({{Read(8), Read(800)}}));
  const RunResult chained = Simulate(ListSource({{Read(8), Read(800, 0, 1)}}));
  EXPECT_LT(free.cores.cycles, alone + 60);
  EXPECT_GT(chained.cores.cycles, 2 * alone - 20);
  // A wide read is here when its last line is.
  Record wide = Read(8);
  wide.size = 65;
  const RunResult after = Simulate(ListSource({{wide, Read(800, 0, 1)}}));
  EXPECT_EQ(after.cores.misses.count, 3);
  EXPECT_GT(after.cores.cycles, chained.cores.cycles);
}

TEST(Machine, SoftwarePrefetchesDontHoldTheWindow) {
  std::vector<Record> records;
  for (uint64_t i = 0; i < 8; ++i) {
    records.push_back(Read(8 + 8 * i, 400));
    records.back().kind = RecordKind::kPrefetch;
  }
  records.push_back(Read(8, 400));
  const RunResult run = Simulate(ListSource({records}));
  EXPECT_EQ(run.cores.stalled_cycles, 0);
  EXPECT_EQ(run.cores.misses.count, 8);
  EXPECT_EQ(run.cores.reads, (Mean{1, 1}));
}

TEST(Machine, DirtyLinesGoBackToMemory) {
  // L2 of 16 lines in 8 banks: two a bank.
  MachineOptions options;
  options.l2.shape = {.kilobytes = 1, .ways = 2, .mshrs = 4};
  options.l1 = {.kilobytes = 1, .ways = 4, .mshrs = 4};
  std::vector<Record> records;
  for (uint64_t i = 0; i < 40; ++i) records.push_back(Write(8 * i));
  const RunResult run = Simulate(ListSource({records}), options);
  EXPECT_EQ(run.l2.write_backs, 38);
  EXPECT_EQ(run.channels[0].controller.reads_done, 40);
}

TEST(Machine, PlainInstructionsTakeTheirCycles) {
  for (const int slots : {1, 2, 4}) {
    MachineOptions options;
    options.core.plain_slots = slots;
    const RunResult run = Simulate(
        ListSource({{Mark(RecordKind::kOpBegin, 0), Mark(RecordKind::kOpEnd, 4000)}}), options);
    EXPECT_EQ(run.cores.instructions, 4000);
    ASSERT_EQ(run.cores.op_cycles.size(), 1u);
    EXPECT_EQ(run.cores.op_cycles[0], 1000u * static_cast<unsigned>(slots));
  }
}

TEST(Machine, BadRecordsAreNamed) {
  const std::pair<Record, const char*> cases[] = {
      {{.addr = uint64_t{1} << 40, .size = 8}, "beyond the memory"},
      {{.addr = UINT64_MAX, .size = 8}, "beyond the memory"},
      {{.addr = 64}, "no bytes"},
      {{.addr = 64, .size = 8, .dep = 2}, "before the first"},
      {{.kind = RecordKind::kOpEnd}, "hasn't begun"},
      {{.kind = RecordKind::kSlot, .aux = 64, .slot = 0}, "bucket 64 of 64"},
      {{.kind = RecordKind::kSlot, .aux = 0, .slot = 8}, "slot 8 of 8"},
      {{.kind = RecordKind::kChain, .aux = 0, .slot = kNoSlot}, "slot 255 of 8"},
      {{.addr = uint64_t{1} << 40, .kind = RecordKind::kKey}, "beyond the memory"},
      {{.kind = static_cast<RecordKind>(77)}, "unknown kind"},
  };
  for (const auto& [record, what] : cases) {
    ListSource source({{}, {Read(1), record}});
    TableImage table = source.InitialTable();
    Preset preset = PresetNamed(kDefaultPreset);
    Machine machine({}, preset, source, &table, {});
    const Result<RunResult> result = machine.Run();
    ASSERT_FALSE(result) << what;
    EXPECT_EQ(result.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(std::string(result.error().message()), testing::HasSubstr(what));
    EXPECT_THAT(std::string(result.error().message()), testing::StartsWith("core 1, record 2: "));
  }
}

}  // namespace
}  // namespace weft::sim
