// The paper's units in the machine.

#include <gtest/gtest.h>

#include "base/seed_test_kit.h"
#include "sim/prefetch/lines.h"
#include "sim/run/run_test_kit.h"

namespace weft::sim {
namespace {

constexpr Time kCycle = 250;

// Each core looks buckets up that no other does, each once, in an order without pattern.
std::vector<std::vector<Lookup>> LookupsOnce(uint64_t seed, int cores, size_t count,
                                             uint64_t buckets, int slots) {
  std::mt19937_64 random(base::TestSeed(seed));
  std::vector<uint64_t> order(buckets);
  for (uint64_t i = 0; i < buckets; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::vector<Lookup>> lookups(static_cast<size_t>(cores));
  for (auto& of_core : lookups) {
    while (of_core.size() < count) {
      of_core.push_back(
          {order.back(), static_cast<uint8_t>(random() % static_cast<uint64_t>(slots))});
      order.pop_back();
    }
  }
  return lookups;
}

class UnitsTest : public testing::Test {
 protected:
  static constexpr int kCores = 4;
  static constexpr size_t kLookups = 250;  // of a core

  UnitRun Play(const PrefetchOptions& prefetch, const LookupGaps& gaps = {}) {
    LookupSource source(&store_, LookupsOnce(seed_, kCores, kLookups, kBuckets, kSlots), gaps);
    return PlaySource(source, prefetch, options_, seed_);
  }

  static constexpr uint64_t kBuckets = 1 << 13;
  static constexpr int kSlots = 4;
  const uint64_t seed_ = TestSeed();
  const TestStore store_{kBuckets, kSlots, 180};
  MachineOptions options_;
};

TEST_F(UnitsTest, TheRightAddressAndSizeLeaveNoMissOfObjects) {
  // So long after the bucket that all has come, though a rank refresh.
  const LookupGaps gaps = {.header = 8000};
  const UnitRun off = Play({}, gaps);
  EXPECT_GT(off.result.l2.object_misses, 3500);  // 3.80 lines a lookup
  EXPECT_EQ(off.result.l2.bucket_misses, 1000);
  for (const char* pacu : {"oracle:1", "insitu"}) {
    const UnitRun with = Play({.pacu = pacu}, gaps);
    EXPECT_EQ(with.result.l2.object_misses, 0);
    EXPECT_EQ(with.result.l2.bucket_misses, 1000);
    EXPECT_EQ(with.counts.triggers, 1000);
    EXPECT_EQ(with.counts.addresses_right, 1000);
    // Neighbours in the log share lines: the second finds its own there.
    EXPECT_EQ(with.result.prefetch.of(PrefetchOutcome::kTimely) +
                  with.result.prefetch.of(PrefetchOutcome::kRedundant),
              with.counts.lines_asked);
    EXPECT_EQ(with.result.prefetch.timeliness(), 1);
  }
}

TEST_F(UnitsTest, WithoutTimeTheyAreLateAndStillFaster) {
  const UnitRun off = Play({});
  const UnitRun exact = Play({.pacu = "oracle:1"});
  const UnitRun runtime = Play({.pacu = "oracle:1", .pscu = "runtime"});
  EXPECT_GT(exact.result.prefetch.of(PrefetchOutcome::kLate), 500);  // first lines
  EXPECT_LT(exact.result.cores.kv_misses.value(), 0.8 * off.result.cores.kv_misses.value());
  // The rest of an object is asked for a memory's read later, and so is late again.
  EXPECT_LT(runtime.result.prefetch.timeliness(), exact.result.prefetch.timeliness());
  EXPECT_GT(runtime.result.cores.kv_misses.value(), exact.result.cores.kv_misses.value());
  EXPECT_LT(runtime.result.cores.kv_misses.value(), off.result.cores.kv_misses.value());
}

TEST_F(UnitsTest, AStaticSizeThatFitsIsTheExactOne) {
  const UnitRun exact = Play({.pacu = "insitu"});
  const UnitRun fixed = Play({.pacu = "insitu", .pscu = "static:128"});
  ExpectSame(exact.result, fixed.result);
  EXPECT_EQ(exact.counts, fixed.counts);
  const UnitRun larger = Play({.pacu = "insitu", .pscu = "static:256"});
  EXPECT_GT(larger.result.prefetch.of(PrefetchOutcome::kUseless), 1000);
  const UnitRun dynamic = Play({.pacu = "insitu", .pscu = "dynamic", .prof_window = 64});
  EXPECT_EQ(dynamic.counts.size_registrations, 1000 / 64);
  // All but the first window's.
  EXPECT_GT(dynamic.counts.lines_missing, 0);
  EXPECT_LT(dynamic.counts.lines_missing, 2 * 80);
}

TEST_F(UnitsTest, ExhaustedAsksForAllObjectsOfEachBucket) {
  for (int most = 1; most <= kSlots + 1; ++most) {
    const UnitRun run = Play({.pacu = "exhausted", .exhausted_max = most});
    const int each = std::min(most, kSlots);
    EXPECT_EQ(run.counts.objects, 1000 * each);
    int64_t lines = 0;
    for (const auto& of_core : LookupsOnce(seed_, kCores, kLookups, kBuckets, kSlots)) {
      for (const Lookup& lookup : of_core) {
        for (int slot = 0; slot < each; ++slot) {
          const TableSlot& object = store_.table.At(lookup.bucket, slot);
          lines += static_cast<int64_t>(LineCount(object.addr, object.bytes));
        }
      }
    }
    EXPECT_EQ(run.counts.lines_asked, lines);
    EXPECT_EQ(run.result.prefetch.asked, run.counts.lines_asked);
    EXPECT_EQ(SumOfOutcomes(run.result), run.counts.lines_asked);
    EXPECT_EQ(run.counts.addresses_right + run.counts.addresses_wrong, 1000);
    EXPECT_EQ(run.counts.addresses_right == 1000, most >= kSlots);
  }
}

TEST_F(UnitsTest, EachLineHasOneOutcome) {
  uint32_t number = 0;
  for (const char* pacu : {"exhausted", "insitu", "hittable", "oracle:0.5"}) {
    for (const char* pscu : {"exact", "runtime", "static:512", "dynamic"}) {
      for (int variant = 0; variant < 4; ++variant) {
        if (number++ % base::Stride(64) != 0) continue;
        SCOPED_TRACE(std::string(pacu) + " " + pscu + " " + std::to_string(variant));
        options_ = {};
        if (variant == 1) options_.port.buffer_lines = 64;
        if (variant == 2) options_.port.staging_max = 2;
        if (variant == 3) options_.core.warmup_ops = 300;
        options_.l2.shape.kilobytes = 128;
        const UnitRun run = Play({.pacu = pacu, .pscu = pscu, .prof_window = 100});
        EXPECT_EQ(SumOfOutcomes(run.result),
                  run.result.prefetch.asked + run.result.prefetch.carried);
        EXPECT_EQ(run.result.prefetch.asked, run.counts.lines_asked);
        EXPECT_GT(run.result.prefetch.asked, 500);
        EXPECT_EQ(run.result.prefetch.of(PrefetchOutcome::kDropped) > 0, variant == 2);
        const int64_t decided =
            run.counts.triggers_asked + run.counts.triggers_nothing + run.counts.triggers_displaced;
        if (variant == 3) {
          EXPECT_NEAR(static_cast<double>(run.counts.triggers), 700, 10);
          EXPECT_NEAR(static_cast<double>(decided), static_cast<double>(run.counts.triggers), 10);
        } else {
          EXPECT_EQ(run.counts.triggers, 1000);
          EXPECT_EQ(decided, 1000);
        }
      }
    }
  }
}

// T25.
TEST_F(UnitsTest, UnitsOfWhichAllIsDroppedChangeNothing) {
  const UnitRun off = Play({});
  options_.filter = PrefetchFilter::kAll;
  for (const char* pacu : {"exhausted", "insitu", "hittable", "oracle:0"}) {
    for (const char* pscu : {"exact", "runtime", "static:512", "dynamic"}) {
      const UnitRun run = Play({.pacu = pacu, .pscu = pscu});
      ExpectSame(off.result, run.result);
      EXPECT_GT(run.counts.lines_asked, 0);
      EXPECT_EQ(run.result.prefetch.of(PrefetchOutcome::kDropped), run.counts.lines_asked);
    }
  }
}

TEST_F(UnitsTest, SkippingChangesNothingAndSeedsRepeat) {
  for (const char* pacu : {"exhausted", "insitu", "hittable", "oracle:0.5"}) {
    const PrefetchOptions prefetch = {.pacu = pacu, .pscu = "runtime"};
    options_.skips = true;
    const UnitRun run = Play(prefetch);
    const UnitRun again = Play(prefetch);
    options_.skips = false;
    const UnitRun whole = Play(prefetch);
    for (const UnitRun* other : {&again, &whole}) {
      ExpectSame(run.result, other->result);
      EXPECT_EQ(run.counts, other->counts);
      EXPECT_EQ(run.result.prefetch.outcomes, other->result.prefetch.outcomes);
    }
  }
}

TEST_F(UnitsTest, TheOraclesAccuracyIsTheSameAtAnyPace) {
  const UnitRun run = Play({.pacu = "oracle:0.3"});
  // 1000 draws: a deviation of 14.5.
  EXPECT_NEAR(static_cast<double>(run.counts.addresses_right), 300, 4 * 14.5);
  EXPECT_EQ(run.counts.addresses_right + run.counts.addresses_wrong, 1000);
  const UnitRun slower = Play({.pacu = "oracle:0.3", .pscu = "runtime"}, {.scan = 3000});
  EXPECT_NE(slower.result.time, run.result.time);
  EXPECT_EQ(slower.counts.addresses_right, run.counts.addresses_right);
  EXPECT_EQ(slower.counts.addresses_wrong, run.counts.addresses_wrong);
}

TEST_F(UnitsTest, AKeyAfterItsBucketIsWaitedFor) {
  const UnitRun early = Play({.pacu = "insitu"});
  EXPECT_EQ(early.counts.triggers_waited, 0);
  EXPECT_EQ(early.counts.triggers_asked, 1000);
  const UnitRun late = Play({.pacu = "insitu"}, {.key_is_late = true});
  EXPECT_EQ(late.counts.triggers_waited, 1000);
  EXPECT_EQ(late.counts.triggers_asked, 1000);
  EXPECT_EQ(late.counts.addresses_right, 1000);
  EXPECT_GT(late.result.cores.kv_misses.value(), early.result.cores.kv_misses.value());
}

// Writes down what a unit was told and asked.
struct Diary {
  struct Line {
    uint64_t line;
    Time time;
  };
  std::vector<Line> reads;
  std::vector<Line> asked;
  std::vector<Line> came;
  std::vector<uint64_t> ids;  // of asked
};

class WatchedUnit : public Prefetcher {
 public:
  WatchedUnit(std::unique_ptr<Prefetcher> unit, Diary* diary)
      : unit_(std::move(unit)), diary_(diary) {}

  void OnLineRead(uint64_t line, int core, Time now) override {
    diary_->reads.push_back({line, now});
    unit_->OnLineRead(line, core, now);
  }
  void OnMark(const Record& record, int core, Time now) override {
    unit_->OnMark(record, core, now);
  }
  void OnAskedLine(uint64_t id, bool was_dropped, Time now) override {
    for (size_t i = 0; i < diary_->ids.size(); ++i) {
      if (diary_->ids[i] == id) diary_->came.push_back({diary_->asked[i].line, now});
    }
    unit_->OnAskedLine(id, was_dropped, now);
  }
  Time NextEvent() const override { return unit_->NextEvent(); }
  void AdvanceTo(Time now, std::vector<AskedLine>* asked) override {
    const size_t before = asked->size();
    unit_->AdvanceTo(now, asked);
    for (size_t i = before; i < asked->size(); ++i) {
      diary_->asked.push_back({(*asked)[i].line, (*asked)[i].ready});
      diary_->ids.push_back((*asked)[i].id);
    }
  }

 private:
  const std::unique_ptr<Prefetcher> unit_;
  Diary* const diary_;
};

// A slot of which no line is in the bucket's own bank: all rows that are read are closed.
uint8_t SlotOfOtherBanks(const TestStore& store, uint64_t bucket) {
  for (uint8_t slot = 0; slot < 4; ++slot) {
    const TableSlot& object = store.table.At(bucket, slot);
    bool is_apart = true;
    for (uint64_t line = object.addr / 64; line * 64 < object.addr + object.bytes; ++line) {
      is_apart = is_apart && line % 64 != bucket % 64;  // channel, rank and bank
    }
    if (is_apart) return slot;
  }
  return kNoSlot;
}

// One lookup on a machine that is otherwise at rest. The core wants the object later.
Diary DiaryOf(uint64_t bucket, const PrefetchOptions& prefetch) {
  const TestStore store(1000, 4, 180);
  MachineOptions options;
  options.controller.refreshes = false;
  const uint8_t slot = SlotOfOtherBanks(store, bucket);
  EXPECT_NE(slot, kNoSlot);
  Diary diary;
  LookupSource source(&store, {{{bucket, slot}}}, {.header = 4000});
  PlaySource(source, prefetch, options, 1,
             [&](std::unique_ptr<Prefetcher> unit) -> std::unique_ptr<Prefetcher> {
               return std::make_unique<WatchedUnit>(std::move(unit), &diary);
             });
  return diary;
}

constexpr Time kClock = 1500;
// Offered at `when`, 25 clocks long.
Time DataAt(Time when) { return (when / kClock + 1 + 25) * kClock; }

// The specification's section 3.9, whose reads take 38 clocks where these take 25: in-situ begins
// 40 cycles after the bucket is at the controller, and its line is at L2 8 + 228 + 15 cycles later.
TEST(Units, InSituStartsAfterTheBucketAsTheBudgetSays) {
  double at_l2 = 0;
  for (uint64_t bucket = 0; bucket < 16; ++bucket) {  // all banks of L2, both controllers
    const Diary diary = DiaryOf(bucket, {.pacu = "insitu"});
    ASSERT_GE(diary.asked.size(), 3u);
    ASSERT_EQ(diary.came.size(), diary.asked.size());
    const Time bucket_at = diary.reads.at(0).time;
    ASSERT_EQ(diary.reads[0].line, bucket);
    for (const Diary::Line& asked : diary.asked) {
      EXPECT_EQ(asked.time, bucket_at + 40 * kCycle);
    }
    std::array<Time, 2> waits{};  // by channel: the second's data comes from another rank
    for (const Diary::Line& asked : diary.asked) {
      const bool is_far = asked.line % 2 != bucket % 2;
      // Four hops to the other controller, of 4 cycles.
      const Time hops = is_far ? 16 * kCycle : 0;
      const auto came = std::find_if(diary.came.begin(), diary.came.end(),
                                     [&](const auto& each) { return each.line == asked.line; });
      ASSERT_NE(came, diary.came.end());
      EXPECT_EQ(came->time, DataAt(asked.time + hops) + waits[is_far]);
      waits[is_far] += 5 * kClock;
    }
    // To its bank, on average two hops, and the packet's tail.
    at_l2 += static_cast<double>(diary.came[0].time / kCycle + 8 + 7) / 16;
  }
  // 20 instructions, then 258 + 40 + 8 + 228 + 15 of the budget, with 2 x (38 - 25) clocks less.
  EXPECT_NEAR(at_l2, 20 / 4 + 545 - 2 * 13 * 6, 12);
}

TEST(Units, RunTimeSizesAskForTheRestAReadLater) {
  const Diary fixed = DiaryOf(6, {.pacu = "insitu", .pscu = "static:128"});
  const Diary runtime = DiaryOf(6, {.pacu = "insitu", .pscu = "runtime"});
  ASSERT_EQ(runtime.asked.size(), fixed.asked.size());
  EXPECT_EQ(runtime.asked[0].time, fixed.asked[0].time);
  for (size_t i = 1; i < fixed.asked.size(); ++i) {
    EXPECT_EQ(fixed.asked[i].time, fixed.asked[0].time);
    EXPECT_EQ(runtime.asked[i].line, fixed.asked[i].line);
    EXPECT_EQ(runtime.asked[i].time, runtime.came[0].time + 2000);
  }
}

}  // namespace
}  // namespace weft::sim
