#include "sim/core/core.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "base/seed_test_kit.h"

namespace weft::sim {
namespace {

constexpr Time kCycle = 250;

// A core whose lines come after a time that the test sets, for itself alone.
class CoreTest : public testing::Test, public CorePort, public TraceSource {
 protected:
  struct Asked {
    uint64_t line;
    int64_t cycle;
    bool owns;
    bool operator==(const Asked&) const = default;
  };

  int cores() const override { return 1; }
  const StoreShape& shape() const override { return shape_; }
  TableImage InitialTable() const override { return {}; }
  Result<bool> Next(int /*core*/, Record* record) override {
    if (at_ == records_.size()) return false;
    *record = records_[at_++];
    return true;
  }
  void AskL2(const L2Request& request, Time when) override {
    asked_.push_back({request.line, when / kCycle, request.owns});
    const Time latency = latency_of_ ? latency_of_(request.line) : 100;
    coming_.emplace(when + latency * kCycle, request);
  }
  void OnMark(int /*core*/, const Record& record, Time now) override {
    marks_.emplace_back(record.kind, now / kCycle);
  }
  void OnOpEnd(int /*core*/, Time now) override {
    marks_.emplace_back(RecordKind::kOpEnd, now / kCycle);
  }

  CoreFigures Play(std::vector<Record> records) {
    records_ = std::move(records);
    at_ = 0;
    asked_.clear();
    marks_.clear();
    L1Cache l1({.kilobytes = 16, .ways = 4, .mshrs = mshrs_});
    EXPECT_TRUE(Validate(options_).ok());
    Core core(0, options_, {.lines = 1 << 20, .buckets = 1, .slots_per_bucket = 8}, *this, l1,
              this);
    while (!core.is_done()) {
      if (!coming_.empty() && coming_.begin()->first <= core.next()) {
        const auto [now, request] = *coming_.begin();
        coming_.erase(coming_.begin());
        l1.Granted(request.line, request.owns ? Mesi::kModified : grants_);
        core.Filled(l1.Fill(request.line), true, now);
      } else {
        EXPECT_NE(core.next(), kNever);
        core.Step();
      }
    }
    EXPECT_TRUE(core.status().ok());
    return core.figures();
  }
  static Record Touch(RecordKind kind, uint64_t line, uint32_t gap = 0, uint8_t dep = 0) {
    return {.addr = line * 64, .gap = gap, .size = 8, .kind = kind, .dep = dep};
  }

  StoreShape shape_;
  std::vector<Record> records_;
  size_t at_ = 0;
  CoreOptions options_;
  int mshrs_ = 16;
  Mesi grants_ = Mesi::kExclusive;
  std::function<Time(uint64_t line)> latency_of_;  // cycles
  std::multimap<Time, L2Request> coming_;
  std::vector<Asked> asked_;
  std::vector<std::pair<RecordKind, int64_t>> marks_;
};

TEST_F(CoreTest, StartsOneAccessACycle) {
  const CoreFigures figures =
      Play({Touch(RecordKind::kRead, 1), Touch(RecordKind::kRead, 2), Touch(RecordKind::kRead, 3)});
  EXPECT_EQ(asked_, (std::vector<Asked>{{1, 1, false}, {2, 2, false}, {3, 3, false}}));
  EXPECT_EQ(figures.reads, (Mean{3, 3 * 101}));
  EXPECT_EQ(figures.instructions, 3);
  // All came in in cycle 0; the first retired in 101, the last in 103.
  EXPECT_EQ(figures.cycles, 104);
  EXPECT_EQ(figures.stalled_cycles, 100);
}

TEST_F(CoreTest, AWideAccessIsAnAccessALine) {
  Record wide = Touch(RecordKind::kRead, 1);
  wide.addr += 60;
  wide.size = 70;  // lines 1, 2 and 3
  Play({wide});
  EXPECT_EQ(asked_, (std::vector<Asked>{{1, 1, false}, {2, 2, false}, {3, 3, false}}));
  wide.size = 4;
  Play({wide});
  EXPECT_EQ(asked_, (std::vector<Asked>{{1, 1, false}}));
}

TEST_F(CoreTest, AYoungerAccessPassesOneThatWaitsForData) {
  Play({Touch(RecordKind::kRead, 1), Touch(RecordKind::kRead, 2, 0, 1),
        Touch(RecordKind::kRead, 3)});
  EXPECT_EQ(asked_, (std::vector<Asked>{{1, 1, false}, {3, 2, false}, {2, 102, false}}));
  // What depends on a line that is here starts in the next cycle. Of the 500 the window takes 127
  // in before the first line is here, in cycle 101; the last comes in in 194, with both reads.
  Play({Touch(RecordKind::kRead, 1), Touch(RecordKind::kRead, 1, 500),
        Touch(RecordKind::kRead, 2, 0, 1)});
  EXPECT_EQ(asked_, (std::vector<Asked>{{1, 1, false}, {2, 196, false}}));
}

TEST_F(CoreTest, StoresDontHoldTheWindowUntilTheirBufferIsFull) {
  std::vector<Record> records;
  for (uint64_t i = 0; i < 16; ++i) records.push_back(Touch(RecordKind::kWrite, 1 + i));
  records.push_back(Touch(RecordKind::kRead, 1, 4000));
  EXPECT_EQ(Play(records).stalled_cycles, 0);
  EXPECT_EQ(asked_.size(), 16u);
  EXPECT_TRUE(asked_[0].owns);
  options_.store_buffer = 4;
  // Four at a time: each later four waits for those before.
  EXPECT_GT(Play(records).stalled_cycles, 3 * 90);
  EXPECT_EQ(asked_.size(), 16u);
}

TEST_F(CoreTest, AStoreToASharedLineAsksAgain) {
  grants_ = Mesi::kShared;
  Play({Touch(RecordKind::kRead, 1), Touch(RecordKind::kWrite, 1, 4000)});
  EXPECT_EQ(asked_.size(), 2u);
  // One that joined the read's miss as well.
  Play({Touch(RecordKind::kPrefetch, 1), Touch(RecordKind::kWrite, 1)});
  EXPECT_EQ(asked_, (std::vector<Asked>{{1, 1, false}, {1, 102, true}}));
  grants_ = Mesi::kExclusive;
  Play({Touch(RecordKind::kPrefetch, 1), Touch(RecordKind::kWrite, 1)});
  EXPECT_EQ(asked_.size(), 1u);
}

TEST_F(CoreTest, APrefetchWaitsForAnMshrInTheWindow) {
  mshrs_ = 1;
  const CoreFigures figures =
      Play({Touch(RecordKind::kPrefetch, 1), Touch(RecordKind::kPrefetch, 2)});
  EXPECT_EQ(asked_[1].cycle, 102);
  EXPECT_EQ(figures.misses, (Mean{2, 2 * 101}));
  EXPECT_EQ(figures.reads.count, 0);
}

TEST_F(CoreTest, MarksTakeNoTimeAndComeInOrder) {
  const Record end{.kind = RecordKind::kOpEnd};
  const Record begin{.kind = RecordKind::kOpBegin};
  const Record hit{.gap = 8, .kind = RecordKind::kHit};
  const CoreFigures figures = Play({begin, hit, Touch(RecordKind::kRead, 1), end, begin, end});
  EXPECT_EQ(marks_,
            (std::vector<std::pair<RecordKind, int64_t>>{
                {RecordKind::kHit, 2}, {RecordKind::kOpEnd, 103}, {RecordKind::kOpEnd, 103}}));
  EXPECT_EQ(figures.op_cycles, (std::vector<uint32_t>{103, 101}));
  EXPECT_EQ(figures.instructions, 9);
}

TEST_F(CoreTest, OperationsAreCountedAfterTheWarmUpUntilEnough) {
  const Record begin{.kind = RecordKind::kOpBegin};
  const Record end{.gap = 40, .kind = RecordKind::kOpEnd};
  std::vector<Record> records;
  for (uint64_t i = 0; i < 10; ++i) {
    records.insert(records.end(), {begin, Touch(RecordKind::kRead, i), end});
  }
  options_.warmup_ops = 2;
  options_.ops_max = 5;
  const CoreFigures figures = Play(records);
  EXPECT_EQ(asked_.size(), 5u);
  EXPECT_EQ(figures.op_cycles.size(), 3u);
  EXPECT_EQ(figures.misses.count, 3);
}

// T28 for a core: gaps, marks and accesses of all kinds, and lines that come soon or late, between
// cycles too.
TEST_F(CoreTest, SkippingChangesNothing) {
  std::mt19937_64 random(base::TestSeed());
  const auto below = [&](uint64_t n) { return random() % n; };
  for (int run = 0; run < 60; ++run) {
    std::vector<Record> records;
    const uint32_t gap_max = run % 3 == 0 ? 4 : run % 3 == 1 ? 200 : 2000;
    uint64_t accesses = 0;
    for (int i = 0; i < 300; ++i) {
      Record record = Touch(static_cast<RecordKind>(below(3)), below(600),
                            below(2) == 0 ? 0 : static_cast<uint32_t>(below(gap_max)));
      if (below(4) == 0) record.size = static_cast<uint16_t>(1 + below(200));
      if (below(3) == 0)
        record.dep = static_cast<uint8_t>(below(std::min<uint64_t>(accesses, 9) + 1));
      if (below(5) == 0) {
        record = {.gap = record.gap, .kind = RecordKind::kHit};
      } else {
        ++accesses;
      }
      records.push_back(record);
    }
    options_.plain_slots = 1 << below(3);
    options_.store_buffer = 1 + static_cast<int>(below(16));
    options_.window = 4 + static_cast<int>(below(125));
    mshrs_ = 1 + static_cast<int>(below(16));
    grants_ = below(2) == 0 ? Mesi::kShared : Mesi::kExclusive;
    const uint64_t turn = random();
    latency_of_ = [turn](uint64_t line) {
      return static_cast<Time>(1 + (line * turn >> 40) % 300);
    };
    options_.skips = true;
    const CoreFigures skipped = Play(records);
    const auto asked = asked_;
    const auto marks = marks_;
    options_.skips = false;
    EXPECT_TRUE(skipped == Play(records)) << run;
    EXPECT_EQ(asked, asked_) << run;
    EXPECT_EQ(marks, marks_) << run;
  }
}

TEST(CoreOptions, RefusesWhatItCannotBe) {
  EXPECT_TRUE(Validate(CoreOptions{}).ok());
  EXPECT_FALSE(Validate(CoreOptions{.plain_slots = 3}).ok());
  EXPECT_FALSE(Validate(CoreOptions{.window = 3}).ok());
  EXPECT_FALSE(Validate(CoreOptions{.store_buffer = 0}).ok());
  EXPECT_FALSE(Validate(CoreOptions{.ops_max = 10, .warmup_ops = 10}).ok());
}

}  // namespace
}  // namespace weft::sim
