// T27: the hit table is as accurate in the machine as closed forms say: for each lookup, and for
// each trigger, where L2 has kept the often-used buckets from triggering.
//
// A lookup draws object i with probability p(i), independently; its bucket has P in all. The slot
// of the last one is the next one's with probability a = sum of p(i)^2 / P^2. Of all lookups that
// is sum over buckets of P a = sum of p(i)^2 / P.
//
// L2, with LRU and room for C lines, has a line until it was not asked for during a time T (Che's
// approximation): sum over lines of 1 - exp(-rate T) = C. A bucket triggers when it was not looked
// up for T lookups, exp(-P T); what was before doesn't depend on that. So of triggers the accuracy
// is sum of P exp(-P T) a / sum of P exp(-P T).
//
// Source    the simulator's specification, sections 3.5 and 4.1; H. Che, Y. Tung, Z. Wang,
// "Hierarchical
//           Web Caching Systems", 2002.

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "base/seed_test_kit.h"
#include "sim/prefetch/lines.h"
#include "sim/run/run_test_kit.h"

namespace weft::sim {
namespace {

struct Objects {
  std::vector<Lookup> places;
  std::vector<double> probabilities;
};

// Objects that hash to buckets, the ninth of a bucket left out, into the first free slot.
Objects Hashed(uint64_t seed, double load, TestStore* store) {
  std::mt19937_64 random(base::TestSeed(seed));
  const uint64_t buckets = store->shape.buckets;
  std::vector<uint8_t> used(buckets);
  Objects objects;
  for (auto n = static_cast<int64_t>(load * static_cast<double>(buckets)); n > 0; --n) {
    const uint64_t bucket = random() % buckets;
    if (used[bucket] == 8) continue;
    store->Add(bucket, used[bucket], 180);
    objects.places.push_back({bucket, used[bucket]++});
  }
  return objects;
}

// Zipf's law, the most popular anywhere; theta 0 is uniform.
void SetZipf(uint64_t seed, double theta, Objects* objects) {
  std::mt19937_64 random(base::TestSeed(seed + 1));
  std::shuffle(objects->places.begin(), objects->places.end(), random);
  double sum = 0;
  for (size_t rank = 0; rank < objects->places.size(); ++rank) {
    objects->probabilities.push_back(std::pow(static_cast<double>(rank + 1), -theta));
    sum += objects->probabilities.back();
  }
  for (double& each : objects->probabilities) each /= sum;
}

struct Expected {
  double per_lookup = 0;
  double per_trigger = 0;
  double bucket_misses = 0;  // of lookups
};

Expected ExpectedOf(const TestStore& store, const Objects& objects, double l2_lines) {
  std::vector<double> popularity(store.shape.buckets);
  std::vector<double> right(store.shape.buckets);  // a, but not divided by P^2
  std::map<uint64_t, double> rates;                // of lines
  for (size_t i = 0; i < objects.places.size(); ++i) {
    const Lookup& place = objects.places[i];
    const double p = objects.probabilities[i];
    popularity[place.bucket] += p;
    right[place.bucket] += p * p;
    const TableSlot& object = store.table.At(place.bucket, place.slot);
    for (uint64_t line = object.addr / 64; line * 64 < object.addr + object.bytes; ++line) {
      rates[line] += p;
    }
  }
  for (uint64_t bucket = 0; bucket < popularity.size(); ++bucket) {
    if (popularity[bucket] > 0) rates[bucket] += popularity[bucket];
  }
  double low = 0;
  double high = 1e9;
  while (high - low > 1e-6 * high) {
    const double time = (low + high) / 2;
    double lines = 0;
    for (const auto& [line, rate] : rates) lines += 1 - std::exp(-rate * time);
    (lines < l2_lines ? low : high) = time;
  }
  Expected expected;
  double right_triggers = 0;
  for (uint64_t bucket = 0; bucket < popularity.size(); ++bucket) {
    const double p = popularity[bucket];
    if (p == 0) continue;
    expected.per_lookup += right[bucket] / p;
    expected.bucket_misses += p * std::exp(-p * low);
    right_triggers += std::exp(-p * low) * right[bucket] / p;
  }
  expected.per_trigger = right_triggers / expected.bucket_misses;
  return expected;
}

struct Measured {
  UnitRun run;
  Expected expected;
  double bucket_misses = 0;
};

// 2^11 buckets, 64 KB of L2 and 1 KB of L1 instead of 2^20, 4 MB and 16 KB.
Measured Measure(uint64_t seed, double load, double theta, PrefetchFilter filter, int cores = 1) {
  constexpr int64_t kLookups = 80'000;
  TestStore store(1 << 11);
  Objects objects = Hashed(seed, load, &store);
  SetZipf(seed, theta, &objects);
  std::mt19937_64 random(base::TestSeed(seed + 2));
  std::discrete_distribution<size_t> draw(objects.probabilities.begin(),
                                          objects.probabilities.end());
  std::vector<std::vector<Lookup>> lookups(static_cast<size_t>(cores));
  for (int64_t i = 0; i < kLookups; ++i) {
    lookups[static_cast<size_t>(i % cores)].push_back(objects.places[draw(random)]);
  }
  MachineOptions options;
  options.l1 = {.kilobytes = 1, .ways = 4, .mshrs = 16};
  options.l2.shape.kilobytes = 64;
  options.filter = filter;
  options.core.warmup_ops = kLookups / 4;
  Measured measured;
  LookupSource source(&store, std::move(lookups));
  measured.run = PlaySource(source, {.pacu = "hittable"}, options);
  measured.expected = ExpectedOf(store, objects, 1024);
  measured.bucket_misses = static_cast<double>(measured.run.counts.triggers) /
                           static_cast<double>(measured.run.result.ops);
  return measured;
}

class HitAccuracyTest : public testing::TestWithParam<std::pair<double, double>> {};

// What the table asks for is dropped, so that L2 has what lookups brought there and no more.
TEST_P(HitAccuracyTest, IsTheClosedForms) {
  const auto [load, theta] = GetParam();
  const Measured measured = Measure(TestSeed(), load, theta, PrefetchFilter::kAll);
  const UnitCounts& counts = measured.run.counts;
  std::printf("load %.2f theta %.2f: lookup %.3f (%.3f) trigger %.3f (%.3f) miss %.3f (%.3f)\n",
              load, theta, counts.hit_accuracy(), measured.expected.per_lookup,
              counts.address_accuracy(), measured.expected.per_trigger, measured.bucket_misses,
              measured.expected.bucket_misses);
  EXPECT_NEAR(counts.hit_accuracy(), measured.expected.per_lookup, 0.01);
  EXPECT_NEAR(counts.address_accuracy(), measured.expected.per_trigger, 0.015);
  EXPECT_NEAR(measured.bucket_misses, measured.expected.bucket_misses, 0.03);
  if (theta == 0) {
    EXPECT_NEAR(counts.hit_accuracy(), (1 - std::exp(-load)) / load, 0.02);
  } else {
    EXPECT_LT(counts.address_accuracy(), counts.hit_accuracy() - 0.02);
  }
}

#ifdef WEFT_SANITIZED  // each takes half a minute
INSTANTIATE_TEST_SUITE_P(Loads, HitAccuracyTest,
                         testing::Values(std::pair(1.81, 0.0), std::pair(1.81, 0.99)));
#else
INSTANTIATE_TEST_SUITE_P(Loads, HitAccuracyTest,
                         testing::Values(std::pair(5.66, 0.0), std::pair(3.30, 0.0),
                                         std::pair(1.81, 0.0), std::pair(3.30, 0.9),
                                         std::pair(1.81, 0.99)));
#endif

TEST(HitAccuracy, PrefetchedLinesAndOtherCoresCostLittle) {
  const uint64_t seed = TestSeed();
  const Measured alone = Measure(seed, 3.30, 0.9, PrefetchFilter::kNone);
  EXPECT_NEAR(alone.run.counts.hit_accuracy(), alone.expected.per_lookup, 0.02);
  EXPECT_NEAR(alone.run.counts.address_accuracy(), alone.expected.per_trigger, 0.03);
  const Measured many = Measure(seed, 3.30, 0.9, PrefetchFilter::kNone, 8);
  EXPECT_NEAR(many.run.counts.hit_accuracy(), many.expected.per_lookup, 0.03);
  EXPECT_NEAR(many.run.counts.address_accuracy(), many.expected.per_trigger, 0.04);
}

}  // namespace
}  // namespace weft::sim
