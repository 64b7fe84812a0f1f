// Open segments that are extended by their neighbours, so that large objects fill them well.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>
#include <vector>

#include "cache/cache_test_kit.h"
#include "cache/object_log.h"

namespace weft::cache {
namespace {

class SharedSegments : public testing::Test {
 protected:
  static constexpr uint64_t kSegmentBytes = 64 << 10;
  static constexpr uint32_t kSegments = 1024;

  uint64_t Append(uint64_t bytes, Generation generation = Generation::kYoung) {
    return log_->Append(0, generation, 0, bytes, kNeverExpires);
  }
  std::map<uint64_t, uint64_t> Fill(uint64_t bytes) {
    std::map<uint64_t, uint64_t> places;
    while (const uint64_t location = Append(bytes)) places[location] = bytes;
    return places;
  }
  // Evicts the oldest: its objects, of `bytes` each, go.
  uint64_t EvictOldest(std::map<uint64_t, uint64_t>* places) {
    const Victim victim = log_->PickVictim(1, true, false);
    if (victim.kind == VictimKind::kNone) return 0;
    uint64_t gone = 0;
    for (auto each = places->begin(); each != places->end();) {
      if (log_->SegmentOf(each->first) != victim.segment) {
        ++each;
        continue;
      }
      log_->Release(each->first, each->second);
      each = places->erase(each);
      gone++;
    }
    log_->Retire(victim.segment);
    log_->Reclaim();
    return gone;
  }

  Epochs epochs_;
  const std::unique_ptr<ObjectLog> log_ = OpenLog(kSegments, kSegmentBytes, &epochs_);
};

TEST_F(SharedSegments, AreFilledWellByObjectsOfAnySize) {
  for (const uint64_t bytes :
       {5000, 9000, 22000, 33000, 40000, 66000, 100000, 140000, 200000, 300000, 400000, 500000}) {
    Epochs epochs;
    const auto log = OpenLog(kSegments, kSegmentBytes, &epochs);
    uint64_t stored = 0;
    const uint64_t rounded = (bytes + 7) / 8 * 8;
    while (log->Append(0, Generation::kYoung, 0, rounded, kNeverExpires) != 0) stored += rounded;
    EXPECT_EQ(log->live_bytes(), stored);
    EXPECT_LE(log->resident_bytes(), kSegments * kSegmentBytes);
    EXPECT_GT(stored * 100, kSegments * kSegmentBytes * 92) << bytes;
  }
}

TEST_F(SharedSegments, HoldObjectsThatDoNotOverlapAndHaveVersionsOfTheirOwn) {
  std::mt19937_64 random(TestSeed());
  std::map<uint64_t, uint64_t> places;
  std::set<uint64_t> versions;
  for (;;) {
    const uint64_t bytes = (random() % (uint64_t{1} << (random() % 15)) + 2) * 8;
    const uint64_t location = Append(bytes);
    if (location == 0) break;
    ASSERT_TRUE(places.emplace(location, bytes / 8).second);
    const task::LogRef ref = log_->Ref();
    ASSERT_TRUE(versions
                    .insert(ref.version_bases[location >> ref.segment_shift] +
                            location % log_->segment_units())
                    .second);
  }
  uint64_t end = 1, live = 0;
  for (const auto& [location, units] : places) {
    ASSERT_GE(location, end);
    end = location + units;
    live += units * 8;
  }
  EXPECT_EQ(log_->live_bytes(), live);
  // Each is counted in the segment that it belongs to: nothing is left when all are gone.
  for (const auto& [location, units] : places) log_->Release(location, units * 8);
  EXPECT_EQ(log_->live_bytes(), 0u);
}

// However sizes change, what was freed is used again, and no more addresses than are needed.
TEST_F(SharedSegments, ComeBackWholeAndAreUsedAgain) {
  std::mt19937_64 random(TestSeed() + 1);
  std::map<uint64_t, uint64_t> places;
  uint64_t gone = 0;
  uint64_t highest = 0;
  for (uint32_t round = 0; round < 20; round++) {
    const uint64_t mean = (random() % 20000 + 100) * 8;
    for (uint32_t i = 0; i < 1000; i++) {
      const uint64_t bytes = (random() % (mean / 4) + 2) * 8;
      uint64_t location = 0;
      for (uint32_t tries = 0; (location = Append(bytes)) == 0; tries++) {
        ASSERT_LT(tries, 100u) << bytes;
        const uint64_t evicted = EvictOldest(&places);
        if (evicted == 0) log_->SealAll();
        gone += evicted;
      }
      ASSERT_TRUE(places.emplace(location, bytes).second);
      highest = std::max(highest, location);
      ASSERT_LE(log_->resident_bytes(), kSegments * kSegmentBytes);
    }
  }
  EXPECT_GT(gone, 1000u);
  uint64_t live = 0;
  for (const auto& [location, bytes] : places) live += bytes;
  EXPECT_EQ(log_->live_bytes(), live);
}

TEST_F(SharedSegments, WritersOfOneLaneDoNotOverlap) {
  constexpr int kThreads = 4;
  std::vector<std::map<uint64_t, uint64_t>> places(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(TestSeed() * 8 + t);
      Epochs::Slot* slot = epochs_.Claim();
      epochs_.Enter(slot);
      for (;;) {
        const uint64_t bytes = (random() % 12000 + 2) * 8;
        const uint64_t location = Append(bytes);
        if (location == 0) break;
        places[t][location] = bytes / 8;
      }
      epochs_.Exit(slot);
      epochs_.Release(slot);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::map<uint64_t, uint64_t> all;
  for (const auto& mine : places) {
    for (const auto& [location, units] : mine) ASSERT_TRUE(all.emplace(location, units).second);
  }
  uint64_t end = 1;
  for (const auto& [location, units] : all) {
    ASSERT_GE(location, end);
    end = location + units;
  }
}

// A mirror copies segments one by one: it is told of those objects alone that lie in the first
// whole.
TEST_F(SharedSegments, AreWatchedAsFarAsObjectsLieInTheFirstWhole) {
  const uint64_t first = Append(40000);
  const uint64_t second = Append(40000);
  const uint64_t third = Append(40000);
  const auto segment = static_cast<uint32_t>(first / log_->segment_units());
  ASSERT_EQ(log_->SegmentOf(second), segment);
  ASSERT_EQ(log_->SegmentOf(third), segment);
  ASSERT_EQ(third / log_->segment_units(), segment + 1);
  log_->Watch();
  std::vector<ObjectLog::Watched> watched;
  log_->LookAt(&watched);
  ASSERT_EQ(watched.size(), 1u);
  EXPECT_EQ(watched[0].segment, segment);
  EXPECT_TRUE(watched[0].in_use);
  EXPECT_EQ(watched[0].fill_units, 40000u / 8);
  // From now on none is extended.
  std::map<uint32_t, uint64_t> most;
  for (int i = 0; i < 20; i++) most[log_->SegmentOf(Append(40000))]++;
  for (const auto& [each, count] : most) EXPECT_TRUE(each == segment || count == 1) << each;
}

TEST_F(SharedSegments, AreSealedByAFlush) {
  const uint64_t before = Append(40000);
  const uint64_t spans = Append(40000);
  ASSERT_EQ(log_->SegmentOf(before), log_->SegmentOf(spans));
  const uint64_t behind = Append(40000);
  log_->Flush();
  const uint64_t after = Append(40000);
  const task::LogRef ref = log_->Ref();
  for (const uint64_t location : {before, spans, behind})
    EXPECT_TRUE(task::IsFlushed(ref, location));
  EXPECT_FALSE(task::IsFlushed(ref, after));
}

}  // namespace
}  // namespace weft::cache
