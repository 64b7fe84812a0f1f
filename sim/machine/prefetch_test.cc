// The machine's side of prefetching, with units that follow a script.

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/machine/machine_test_kit.h"

namespace weft::sim {
namespace {

using testing::ElementsAre;

constexpr Time kCycle = 250;

// What all units of a run were told.
struct Told {
  struct Line {
    uint64_t line;
    int core;
    Time now;
  };
  std::vector<Line> reads;
  std::vector<std::pair<Record, Time>> marks;
  std::map<uint64_t, bool> was_dropped;  // by id
  std::map<uint64_t, Time> answered;
};

// Asks for lines at their times, and for what `on_read` says when a line was read.
class ScriptedUnit : public Prefetcher {
 public:
  ScriptedUnit(std::vector<AskedLine> script, Told* told,
               std::function<std::vector<AskedLine>(uint64_t, Time)> on_read = {})
      : script_(std::move(script)), told_(told), on_read_(std::move(on_read)) {}

  void OnLineRead(uint64_t line, int core, Time now) override {
    if (!on_read_) {
      told_->reads.push_back({line, core, now});
      return;
    }
    for (const AskedLine& asked : on_read_(line, now)) script_.push_back(asked);
  }
  void OnMark(const Record& record, int /*core*/, Time now) override {
    told_->marks.emplace_back(record, now);
  }
  void OnAskedLine(uint64_t id, bool was_dropped, Time now) override {
    told_->was_dropped[id] = was_dropped;
    told_->answered[id] = now;
  }
  Time NextEvent() const override {
    Time next = kNever;
    for (const AskedLine& asked : script_) next = std::min(next, asked.ready);
    return next;
  }
  void AdvanceTo(Time now, std::vector<AskedLine>* asked) override {
    const auto later = std::stable_partition(script_.begin(), script_.end(),
                                             [&](const AskedLine& a) { return a.ready <= now; });
    asked->insert(asked->end(), script_.begin(), later);
    script_.erase(script_.begin(), later);
  }

 private:
  std::vector<AskedLine> script_;
  Told* const told_;
  const std::function<std::vector<AskedLine>(uint64_t, Time)> on_read_;
};

class PrefetchTest : public testing::Test {
 protected:
  // One core; unit 0 follows the script, unit 1 does nothing.
  RunResult Play(std::vector<Record> records, std::vector<AskedLine> script) {
    std::vector<std::unique_ptr<Prefetcher>> units;
    units.push_back(std::make_unique<ScriptedUnit>(std::move(script), &told_));
    units.push_back(std::make_unique<ScriptedUnit>(std::vector<AskedLine>{}, &told_));
    return Simulate(ListSource({std::move(records)}), options_, std::move(units));
  }
  static std::vector<int64_t> Outcomes(const RunResult& run) {
    return {run.prefetch.outcomes.begin(), run.prefetch.outcomes.end()};
  }

  MachineOptions options_;
  Told told_;
};

// timely, late, redundant, useless, dropped, duplicate
TEST_F(PrefetchTest, ALineThatCameBeforeIsTimely) {
  const RunResult run = Play({Read(8, 4000)}, {{8, 0, 1}});
  EXPECT_THAT(Outcomes(run), ElementsAre(1, 0, 0, 0, 0, 0));
  EXPECT_EQ(run.cores.misses.sum, 22);
  EXPECT_EQ(run.l2.misses, 0);
  EXPECT_EQ(run.prefetch.accuracy(), 1);
  EXPECT_EQ(run.prefetch.timeliness(), 1);
  EXPECT_EQ(told_.was_dropped[1], false);
  // Asked at 0, offered in clock 1, 25 clocks.
  EXPECT_EQ(told_.answered[1], 26 * 1500);
  EXPECT_EQ(run.channels[0].prefetch_latency, (Mean{1, 25}));
}

TEST_F(PrefetchTest, ALineHasOneOutcomeByWhenItIsAskedFor) {
  // Of bank 6: 3 hops from controller and core. The later the read, the better; in between, its
  // request crosses the line on the mesh.
  std::vector<int64_t> seen(6);
  size_t stage = 0;
  constexpr std::array<size_t, 3> kStages = {1, 5, 0};  // late, duplicate, timely
  int64_t last = 1000;
  for (uint32_t gap = 0; gap < 1200; gap += 4) {
    const RunResult run = Play({Read(6, gap)}, {{6, 0, 1}});
    const auto outcomes = Outcomes(run);
    ASSERT_EQ(std::accumulate(outcomes.begin(), outcomes.end(), int64_t{0}), 1) << gap;
    const auto which =
        static_cast<size_t>(std::find(outcomes.begin(), outcomes.end(), 1) - outcomes.begin());
    while (stage < 3 && kStages[stage] != which) ++stage;
    ASSERT_LT(stage, 3u) << "outcome " << which << " at gap " << gap;
    ++seen[which];
    EXPECT_LE(run.cores.misses.sum, last + 6) << gap;  // to the begin of a clock
    last = run.cores.misses.sum;
  }
  EXPECT_GT(seen[1], 100);
  EXPECT_GT(seen[5], 3);
  EXPECT_GT(seen[0], 100);
}

TEST_F(PrefetchTest, ALateLineIsReadOnceAndSavesWhatItWasEarlier) {
  const RunResult without = Play({Read(8, 200)}, {});
  const RunResult with = Play({Read(8, 200)}, {{8, 0, 1}});
  EXPECT_THAT(Outcomes(with), ElementsAre(0, 1, 0, 0, 0, 0));
  EXPECT_EQ(with.channels[0].controller.reads_done, 1);
  // The read would be at the controller in cycle 65, offered in clock 11; the line was in clock 1.
  EXPECT_EQ(without.cores.misses.sum - with.cores.misses.sum, 10 * 6);
  ASSERT_EQ(told_.reads.size(), 2u);  // the unit hears of it all the same
}

TEST_F(PrefetchTest, ALineThatL2HasIsRedundant) {
  const std::vector<Record> records = {Read(8), Mark(RecordKind::kOpBegin, 4000),
                                       Mark(RecordKind::kOpEnd)};
  const std::vector<AskedLine> script = {{8, 500 * kCycle, 1}};
  const RunResult unfiltered = Play(records, script);
  EXPECT_THAT(Outcomes(unfiltered), ElementsAre(0, 0, 1, 0, 0, 0));
  EXPECT_EQ(unfiltered.channels[0].controller.reads_done, 2);
  EXPECT_FALSE(told_.was_dropped[1]);
  options_.filter = PrefetchFilter::kOracle;
  const RunResult filtered = Play(records, script);
  EXPECT_THAT(Outcomes(filtered), ElementsAre(0, 0, 1, 0, 0, 0));
  EXPECT_EQ(filtered.channels[0].controller.reads_done, 1);
  EXPECT_TRUE(told_.was_dropped[1]);
}

TEST_F(PrefetchTest, AChangedLineIsNotOverwritten) {
  // L1 of one set: the write leaves it for L2 when the others come, and L2's copy is dirty.
  options_.l1 = {.kilobytes = 1, .ways = 16, .mshrs = 4};
  std::vector<Record> records = {Write(8)};
  for (uint64_t i = 1; i < 40; ++i) records.push_back(Read(8 + 8 * i, 100));
  const RunResult run = Play(records, {{8, 400 * kCycle, 1}});
  EXPECT_THAT(Outcomes(run), ElementsAre(0, 0, 1, 0, 0, 0));
  EXPECT_EQ(run.l2.write_backs, 0);
}

TEST_F(PrefetchTest, ALineThatIsOnItsWayIsRedundantAndTold) {
  // The read is at the controller in cycle 15.
  const RunResult run = Play({Read(8)}, {{8, 30 * kCycle, 1}, {16, 0, 2}, {16, 0, 3}});
  EXPECT_THAT(Outcomes(run), ElementsAre(0, 0, 2, 1, 0, 0));
  EXPECT_EQ(told_.was_dropped, (std::map<uint64_t, bool>{{1, false}, {2, false}, {3, false}}));
  EXPECT_EQ(told_.answered[2], told_.answered[3]);
  ASSERT_EQ(told_.reads.size(), 1u);
  EXPECT_EQ(told_.answered[1], told_.reads[0].now);
}

TEST_F(PrefetchTest, ALineThatNobodyAsksForIsUseless) {
  EXPECT_THAT(Outcomes(Play({Read(8, 4000)}, {{16, 0, 1}})), ElementsAre(0, 0, 0, 1, 0, 0));
  // Two ways a bank: evicted.
  options_.l2.shape = {.kilobytes = 1, .ways = 2, .mshrs = 4};
  const RunResult evicted =
      Play({Read(0, 4000), Read(8, 2000), Read(24, 2000), Read(16, 2000)}, {{16, 0, 1}});
  EXPECT_THAT(Outcomes(evicted), ElementsAre(0, 0, 0, 1, 0, 0));
  EXPECT_EQ(evicted.l2.misses, 4);
}

TEST_F(PrefetchTest, AHitThatAPushedLineCostIsCounted) {
  options_.l2.shape = {.kilobytes = 1, .ways = 2, .mshrs = 4};
  const std::vector<Record> records = {Read(0), Read(8, 2000), Read(0, 8000)};
  const RunResult with = Play(records, {{16, 1500 * kCycle, 1}});
  EXPECT_EQ(with.l2.misses, 3);
  EXPECT_EQ(with.l2.lost_hits, 1);
  const RunResult without = Play(records, {});
  EXPECT_EQ(without.l2.lost_hits, 0);
  EXPECT_EQ(without.l2.misses, 2);
}

TEST_F(PrefetchTest, MoreThanTheStagingQueueHoldsAreDropped) {
  std::vector<AskedLine> script;
  for (uint64_t i = 0; i < 100; ++i) script.push_back({8 + 8 * i, 0, i});
  const RunResult run = Play({Read(4, 20000)}, script);
  // Offered in the next clock, when all have come: 64 are staged.
  EXPECT_THAT(Outcomes(run), ElementsAre(0, 0, 0, 64, 36, 0));
  EXPECT_FALSE(told_.was_dropped[63]);
  EXPECT_TRUE(told_.was_dropped[64]);
  EXPECT_EQ(told_.answered[64], 0);
}

TEST_F(PrefetchTest, OldOnesAreDropped) {
  options_.controller.transactions_max = 1;
  options_.controller.commands_max = 1;
  options_.port.drop_age = 50;
  std::vector<AskedLine> script;
  for (uint64_t i = 0; i < 20; ++i) script.push_back({(i + 1) << 13, 0, i});  // a bank, 34 clocks
  const RunResult run = Play({Read(4, 20000)}, script);
  // One is at the bank and one waits for it; their reads, at clocks 12 and 46, let the next come.
  EXPECT_THAT(Outcomes(run), ElementsAre(0, 0, 0, 4, 16, 0));
  EXPECT_EQ(told_.answered[19], (1 + 50 + 1) * 1500);
}

TEST_F(PrefetchTest, DemandMayGoFirst) {
  options_.controller.transactions_max = 1;
  options_.controller.commands_max = 1;
  // A bank's rows, asked for by unit and core at about the same time.
  std::vector<AskedLine> script;
  std::vector<Record> records;
  for (uint64_t i = 0; i < 8; ++i) {
    script.push_back({(i + 1) << 13, 0, i});
    records.push_back(Read((i + 100) << 13));
  }
  records.push_back(Read(4, 20000));
  const RunResult alike = Play(records, script);
  options_.port.demand_first = true;
  const RunResult first = Play(records, script);
  EXPECT_THAT(Outcomes(first), ElementsAre(0, 0, 0, 8, 0, 0));
  EXPECT_LT(first.cores.misses.value(), alike.cores.misses.value() - 34 * 6);
}

TEST_F(PrefetchTest, AnotherControllersLinesTravel) {
  Play({Read(4, 4000)}, {{8, 0, 1}, {9, 0, 2}});
  // Four hops are 16 cycles, so it is offered in clock 3, not 1.
  EXPECT_EQ(told_.answered[2] - told_.answered[1], 2 * 1500);
}

TEST_F(PrefetchTest, LinesBeyondTheMemoryAreDropped) {
  const RunResult run = Play({Read(8, 4000)}, {{uint64_t{1} << 40, 0, 1}});
  EXPECT_THAT(Outcomes(run), ElementsAre(0, 0, 0, 0, 1, 0));
  EXPECT_TRUE(told_.was_dropped[1]);
}

TEST_F(PrefetchTest, TheControllersBufferServesALineOnce) {
  options_.port.buffer_lines = 2;
  const RunResult run = Play({Read(8, 4000), Read(16, 4000)}, {{8, 0, 1}, {16, 0, 2}});
  EXPECT_THAT(Outcomes(run), ElementsAre(2, 0, 0, 0, 0, 0));
  // 1 + 14 to the controller, and back.
  EXPECT_EQ(run.cores.misses.sum, 2 * (15 + 14));
  EXPECT_EQ(run.l2.misses, 2);
  // Three in room for two: the first goes.
  const RunResult full =
      Play({Read(8, 8000), Read(16), Read(24)}, {{8, 0, 1}, {16, 0, 2}, {24, 0, 3}});
  EXPECT_THAT(Outcomes(full), ElementsAre(2, 0, 0, 1, 0, 0));
}

TEST_F(PrefetchTest, AWriteDropsTheBuffersCopy) {
  options_.port.buffer_lines = 2;
  options_.l2.shape = {.kilobytes = 1, .ways = 2, .mshrs = 4};
  // The dirty line leaves L2 after it was fetched anew.
  const RunResult run =
      Play({Write(8), Read(16, 8000), Read(24, 4000), Read(32, 4000)}, {{8, 1000 * kCycle, 1}});
  EXPECT_THAT(Outcomes(run), ElementsAre(0, 0, 0, 1, 0, 0));
  EXPECT_EQ(run.l2.write_backs, 1);
}

TEST_F(PrefetchTest, MarksComeToTheirBucketsController) {
  // Bucket 3 is line 3, of controller 1 at node 7.
  const Record key{.addr = 3 * 64, .gap = 4, .kind = RecordKind::kKey, .tag = 7, .slot = 2};
  const Record hit{.gap = 4, .kind = RecordKind::kHit, .aux = 2, .slot = 1};
  Play({key, hit, Read(8)}, {});
  ASSERT_EQ(told_.marks.size(), 2u);
  EXPECT_EQ(told_.marks[0].first, hit);  // of controller 0, at the core's own node
  EXPECT_EQ(told_.marks[0].second, 2 * kCycle);
  EXPECT_EQ(told_.marks[1].first, key);
  EXPECT_EQ(told_.marks[1].second, (1 + 16) * kCycle);
}

TEST(Prefetch, SlotRecordsChangeTheTableInOrderOfTime) {
  const auto slot = [](uint32_t gap, uint64_t addr) {
    return Record{
        .addr = addr, .gap = gap, .size = 100, .kind = RecordKind::kSlot, .aux = 5, .slot = 1};
  };
  for (const uint32_t gap : {100u, 300u}) {
    ListSource source({{slot(gap, 64), Read(1)}, {slot(200, 128), Read(1)}});
    TableImage table = source.InitialTable();
    Machine machine({}, PresetNamed(kDefaultPreset), source, &table, {});
    ASSERT_TRUE(machine.Run());
    EXPECT_EQ(table.At(5, 1).addr, gap == 100 ? 128u : 64u);
  }
}

// Units that ask for lines around those read, some of them beyond the memory.
std::vector<std::unique_ptr<Prefetcher>> RandomUnits(uint64_t seed, Told* told) {
  auto random = std::make_shared<std::mt19937_64>(seed);
  std::vector<std::unique_ptr<Prefetcher>> units;
  for (int unit = 0; unit < 2; ++unit) {
    units.push_back(std::make_unique<ScriptedUnit>(
        std::vector<AskedLine>{}, told, [random](uint64_t line, Time now) {
          std::vector<AskedLine> asked;
          for (uint64_t n = (*random)() % 4; n > 0; --n) {
            const bool is_far = (*random)() % 64 == 0;
            asked.push_back({is_far ? line << 20 : line + (*random)() % 8,
                             now + static_cast<Time>((*random)() % 40) * kCycle, (*random)()});
          }
          return asked;
        }));
  }
  return units;
}

std::vector<MachineOptions> PrefetchingMachines() {
  std::vector<MachineOptions> all(6);
  for (size_t i = 1; i < all.size(); ++i) {
    all[i].l1 = {.kilobytes = 1, .ways = 2, .mshrs = 4};
    all[i].l2.shape = {.kilobytes = 16, .ways = 2, .mshrs = 2};
    all[i].controller.transactions_max = 2;
    all[i].controller.commands_max = 2;
  }
  all[1].port.staging_max = 4;
  all[2].port.drop_age = 100;
  all[3].port.demand_first = true;
  all[3].filter = PrefetchFilter::kOracle;
  all[4].port.buffer_lines = 8;
  all[5].core.warmup_ops = 60;
  return all;
}

// The end of each run checks that a line that was asked for has one outcome, and no request is
// lost.
TEST(Prefetch, SkippingChangesNothing) {
  const uint64_t seed = TestSeed();
  const auto records = RandomRecords(seed, 8, 100, 60, 1 << 11);
  std::vector<int64_t> seen(kPrefetchOutcomes);
  int number = 0;
  for (MachineOptions options : PrefetchingMachines()) {
    SCOPED_TRACE("machine " + std::to_string(number++));
    Told told;
    const RunResult skipped = Simulate(ListSource(records), options, RandomUnits(seed, &told));
    options.skips = false;
    const RunResult whole = Simulate(ListSource(records), options, RandomUnits(seed, &told));
    ExpectSame(skipped, whole);
    EXPECT_EQ(skipped.prefetch.outcomes, whole.prefetch.outcomes);
    EXPECT_EQ(skipped.l2.lost_hits, whole.l2.lost_hits);
    int64_t sum = 0;
    for (size_t i = 0; i < seen.size(); ++i) {
      seen[i] += skipped.prefetch.outcomes[i];
      sum += skipped.prefetch.outcomes[i];
    }
    EXPECT_EQ(sum, skipped.prefetch.asked + skipped.prefetch.carried);
  }
  for (const int64_t count : seen) EXPECT_GT(count, 0);
}

// T25.
TEST(Prefetch, UnitsOfWhichAllIsDroppedChangeNothing) {
  const uint64_t seed = TestSeed();
  const auto records = RandomRecords(seed, 8, 200, 60, 1 << 14);
  for (MachineOptions options : PrefetchingMachines()) {
    const RunResult off = Simulate(ListSource(records), options);
    Told told;
    options.filter = PrefetchFilter::kAll;
    const RunResult dropped = Simulate(ListSource(records), options, RandomUnits(seed, &told));
    ExpectSame(off, dropped);
    EXPECT_GT(dropped.prefetch.of(PrefetchOutcome::kDropped), 100);
    EXPECT_EQ(dropped.l2.lost_hits, 0);
    EXPECT_EQ(dropped.prefetch.accuracy(), 0);
  }
}

}  // namespace
}  // namespace weft::sim
