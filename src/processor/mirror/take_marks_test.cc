#include "processor/mirror/take_marks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <thread>

#include "cache/cache_test_kit.h"

namespace weft::processor {
namespace {

// A table without buckets: marking looks at none.
class Marks {
 public:
  explicit Marks(uint64_t bucket_count) : words_(task::MarkWords(bucket_count), 0) {
    index_.older = {&somewhere_, bucket_count};
    index_.marks = words_.data();
  }

  task::IndexRef& index() { return index_; }
  void Mark(uint64_t bucket) { task::MarkBucket(index_, index_.older, bucket); }
  std::vector<uint64_t> Take() {
    std::vector<uint64_t> numbers;
    EXPECT_TRUE(TakeMarks(index_, SIZE_MAX, &numbers));
    return numbers;
  }

 private:
  task::Bucket somewhere_{};
  task::IndexRef index_{};
  std::vector<uint32_t> words_;
};

using BucketNumbers = std::vector<uint64_t>;

TEST(TakeMarks, FindsEachOnce) {
  std::mt19937_64 random(cache::TestSeed());
  for (uint64_t bucket_count : {2ull, 62ull, 64ull, 2046ull, 2048ull, 65536ull, 200002ull}) {
    Marks marks(bucket_count);
    EXPECT_EQ(marks.Take(), BucketNumbers());
    marks.Mark(0);
    marks.Mark(bucket_count - 1);
    BucketNumbers expected = {0, (bucket_count - 1)};
    for (int i = 0; i < 100; i++) {
      const uint64_t bucket = random() % bucket_count;
      marks.Mark(bucket);
      expected.push_back(bucket);
    }
    std::sort(expected.begin(), expected.end());
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    EXPECT_EQ(marks.Take(), expected) << bucket_count;
    EXPECT_EQ(marks.Take(), BucketNumbers());
  }
}

// Of many marks a call takes some, and the next ones the others: each once, in rising order.
TEST(TakeMarks, TakesSomeOfMany) {
  constexpr uint64_t kBuckets = 4'000'000;
  constexpr size_t kEnough = 1000;
  for (const uint64_t step : {uint64_t{1}, uint64_t{100}, uint64_t{5000}}) {
    Marks marks(kBuckets);
    BucketNumbers expected, taken;
    for (uint64_t bucket = 0; bucket < kBuckets; bucket += step) {
      marks.Mark(bucket);
      expected.push_back(bucket);
    }
    for (;;) {
      const size_t before = taken.size();
      const bool is_all = TakeMarks(marks.index(), kEnough, &taken);
      ASSERT_LT(taken.size() - before, kEnough + kTakenAtOnce);
      if (is_all) break;
      ASSERT_GE(taken.size() - before, std::min(kEnough, expected.size() - before));
    }
    EXPECT_EQ(taken, expected) << step;
    EXPECT_EQ(marks.Take(), BucketNumbers());
  }
}

TEST(TakeMarks, AnotherTableIsNotMarked) {
  Marks marks(4096);
  task::Bucket other{};
  task::MarkBucket(marks.index(), {&other, 4096}, 17);
  EXPECT_EQ(marks.Take(), BucketNumbers());
}

// One marker has set the mark and stands before the summary.
TEST(TakeMarks, WhoSeesAMarkOfAStoppedMarkerIsFoundAllTheSame) {
  Marks marks(100000);
  marks.index().marks[5000 / 32] |= 1u << (5000 % 32);
  EXPECT_EQ(marks.Take(), BucketNumbers());  // it has not returned
  marks.Mark(5000);
  EXPECT_EQ(marks.Take(), BucketNumbers{5000});
  // The first one goes on: a bit of the summary with no mark below it, or with the next one.
  task::MarkSummary(marks.index())[5000 / kMarkLineBuckets / 32] |=
      1u << (5000 / kMarkLineBuckets % 32);
  EXPECT_EQ(marks.Take(), BucketNumbers());
  marks.Mark(5000);
  EXPECT_EQ(marks.Take(), BucketNumbers{5000});
}

// Each marker sees its mark found after it began to mark, by the first call that begins after it
// has marked at the latest.
TEST(TakeMarks, FindsEveryMarkWhateverTheInterleaving) {
  constexpr uint64_t kBuckets = 3 * kMarkLineBuckets;
  constexpr uint64_t kNumbers = kBuckets;
  constexpr int kMarkers = 3;
  Marks marks(kBuckets);
  std::atomic<uint64_t> begun{0}, ended{0};                               // calls
  const auto last = std::make_unique<std::atomic<uint64_t>[]>(kNumbers);  // call that found it
  std::atomic<int> working{kMarkers};
  std::atomic<uint64_t> lost{0};
  std::vector<std::thread> markers;
  for (int m = 0; m < kMarkers; m++) {
    markers.emplace_back([&, m] {
      std::mt19937_64 random(cache::TestSeed() * 8 + m);
      const uint32_t rounds = cache::Rounds(30000);
      for (uint32_t i = 0; i < rounds; i++) {
        // A few places, so that markers meet.
        const uint64_t bucket = random() % 3 * kMarkLineBuckets + random() % 2 * 40;
        const uint64_t before = ended.load();
        marks.Mark(bucket);
        const uint64_t enough = begun.load() + 1;
        if (i % 4 != 0) continue;
        while (ended.load() < enough) std::this_thread::yield();
        if (last[bucket].load() <= before) lost++;
      }
      working--;
    });
  }
  while (working.load() != 0) {
    const uint64_t call = ++begun;
    for (const uint64_t number : marks.Take()) last[number] = call;
    ended = call;
  }
  for (std::thread& marker : markers) marker.join();
  EXPECT_EQ(lost.load(), 0u);
}

}  // namespace
}  // namespace weft::processor
