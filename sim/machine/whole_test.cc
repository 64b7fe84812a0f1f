// The whole machine under random records: skipping changes nothing (T28), nothing is lost (checked
// at the end of each run), and the memory's commands are legal (T26).

#include <gtest/gtest.h>

#include "sim/dram/command_checker.h"
#include "sim/machine/machine_test_kit.h"

namespace weft::sim {
namespace {

// Of little memory and few lines, so that all queues fill and lines are fought for.
MachineOptions Small() {
  MachineOptions options;
  options.l1 = {.kilobytes = 1, .ways = 2, .mshrs = 4};
  options.l2.shape = {.kilobytes = 16, .ways = 2, .mshrs = 2};
  options.core.store_buffer = 2;
  options.controller.transactions_max = 2;
  options.controller.commands_max = 2;
  return options;
}

struct Case {
  const char* name;
  MachineOptions options;
  uint32_t gap_max;
  uint64_t lines;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  const auto add = [&](const char* name, const MachineOptions& options, uint32_t gap_max,
                       uint64_t lines) -> MachineOptions& {
    cases.push_back({name, options, gap_max, lines});
    return cases.back().options;
  };
  add("default", {}, 2000, 1 << 20);
  add("dense", {}, 8, 1 << 20);
  add("small", Small(), 20, 1 << 12);
  add("shared", Small(), 4, 64);
  add("plain 0.5", {}, 300, 1 << 14).core.plain_slots = 2;
  add("plain 1", Small(), 300, 1 << 14).core.plain_slots = 4;
  add("busy mesh", Small(), 10, 1 << 16).mesh.is_busy = true;
  ControllerOptions& buffer = add("write buffer", Small(), 10, 1 << 16).controller;
  buffer.writes = WritePolicy::kBuffer;
  buffer.write_buffer_max = 4;
  buffer.idle_writes_max = 1;
  MachineOptions& warm = add("warm-up", {}, 100, 1 << 16);
  warm.core.warmup_ops = 100;
  warm.core.ops_max = 600;
  warm.core.keeps_kv_latencies = true;
  warm.epoch_clocks = 500;
  ControllerOptions& closed = add("closed pages, power-down", {}, 400, 1 << 16).controller;
  closed.page = PagePolicy::kClosed;
  closed.powers_down = true;
  closed.refresh_drain = true;
  add("first come", Small(), 40, 1 << 16).controller.order = OrderPolicy::kFirstCome;
  return cases;
}

TEST(Whole, SkippingChangesNothing) {
  const uint64_t seed = TestSeed();
  for (const auto& [name, options, gap_max, lines] : Cases()) {
    SCOPED_TRACE(name);
    const auto records = RandomRecords(seed, 8, 100, gap_max, lines);
    MachineOptions whole = options;
    whole.skips = false;
    const RunResult skipped = Simulate(ListSource(records), options);
    ExpectSame(skipped, Simulate(ListSource(records), whole));
    EXPECT_GT(skipped.channels[0].controller.reads_done, 0);
  }
}

TEST(Whole, ARunIsAlikeEachTime) {
  const auto records = RandomRecords(TestSeed(), 8, 100, 100);
  ExpectSame(Simulate(ListSource(records)), Simulate(ListSource(records)));
}

TEST(Whole, EachReadMissIsReadOnce) {
  const auto records = RandomRecords(TestSeed(), 8, 300, 40, 1 << 10);
  const RunResult run = Simulate(ListSource(records), Small());
  const PortFigures all = run.AllChannels();
  EXPECT_EQ(all.controller.reads_done, run.l2.misses);
  // Write-backs may be on their way still when the last core is done.
  EXPECT_LE(all.controller.writes_done, run.l2.write_backs);
  EXPECT_GT(all.controller.writes_done, run.l2.write_backs - 64);
  EXPECT_GT(run.l2.remote_hits, 0);
  EXPECT_GT(run.l2.invalidations, 0);
  EXPECT_GT(run.l2.waited_for_mshr, 0);
  int64_t latencies = 0;
  for (const int64_t count : all.demand_latencies) latencies += count;
  EXPECT_EQ(latencies, all.demand_latency.count);
}

TEST(Whole, EpochsAddUp) {
  MachineOptions options;
  options.epoch_clocks = 1000;
  const RunResult run =
      Simulate(ListSource(RandomRecords(TestSeed(), 4, 200, 200, 1 << 16)), options);
  int64_t ops = 0;
  int64_t reads = 0;
  for (const EpochFigures& epoch : run.epochs) {
    ops += epoch.ops;
    reads += epoch.reads;
    EXPECT_GE(epoch.bus_utilization, 0);
    EXPECT_LE(epoch.bus_utilization, 1);
  }
  ASSERT_GT(run.epochs.size(), 3u);
  EXPECT_EQ(run.epochs[1].clock, 2000);
  EXPECT_LE(ops, run.ops);
  EXPECT_GT(ops, run.ops - 100);
  EXPECT_LE(reads, run.AllChannels().controller.reads_done);
}

TEST(Whole, MeasuredAccessesDontDependOnTime) {
  const auto records = RandomRecords(TestSeed(), 4, 200, 50);
  MachineOptions fast;
  fast.core.warmup_ops = 80;
  fast.core.keeps_kv_latencies = true;
  MachineOptions slow = fast;
  slow.l2.bank_cycles = 90;
  slow.core.plain_slots = 4;
  const RunResult a = Simulate(ListSource(records), fast);
  const RunResult b = Simulate(ListSource(records), slow);
  EXPECT_EQ(a.cores.reads.count, b.cores.reads.count);
  EXPECT_EQ(a.cores.op_cycles.size(), 4u * 180);
  for (size_t core = 0; core < 4; ++core) {
    EXPECT_EQ(a.by_core[core].kv_latencies.size(), b.by_core[core].kv_latencies.size());
    for (const uint32_t latency : a.by_core[core].kv_latencies) EXPECT_GT(latency, 0u);
  }
  const Comparison comparison = Compare(a, b);
  EXPECT_LT(comparison.m2_gain, 0);
  EXPECT_GT(comparison.paired_cycles, comparison.paired_cycles_baseline);
}

TEST(Whole, CommandsAreLegal) {
  Preset preset = PresetNamed(kDefaultPreset);
  preset.organization.channels = 2;
  std::vector<CommandChecker> checkers(2, CommandChecker(preset.organization, preset.timing, true));
  MachineOptions options;
  options.on_command = [&](int channel, const IssuedCommand& issued) {
    checkers[static_cast<size_t>(channel)].Check(issued);
  };
  Simulate(ListSource(RandomRecords(TestSeed(), 8, 1200, 60)), options);
  uint64_t commands = 0;
  for (const CommandChecker& checker : checkers) {
    commands += checker.commands();
    EXPECT_TRUE(checker.violations().empty());
  }
  EXPECT_GT(commands, 100'000u);
}

TEST(Whole, AWarmUpThatNeverEndsIsAnError) {
  ListSource source(RandomRecords(TestSeed(), 2, 10, 10));
  TableImage table = source.InitialTable();
  MachineOptions options;
  options.core.warmup_ops = 30;
  Machine machine(options, PresetNamed(kDefaultPreset), source, &table, {});
  const Result<RunResult> result = machine.Run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace weft::sim
