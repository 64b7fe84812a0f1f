// How long objects had not been read when they were evicted.
//
// Threads   one.
#include "cache/eviction_ages.h"

#include <gtest/gtest.h>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

TEST(EvictionAges, PercentilesAreWithinAQuarterAndAgesOfAllSizesCount) {
  EvictionAges none;
  EXPECT_EQ(none.Percentile(50), 0u);
  for (const uint32_t age_s : {0u, 1u, 3u, 4u, 5u, 7u, 8u, 100u, 3600u, 86400u, 131071u}) {
    EvictionAges ages;
    for (int i = 0; i < 10; i++) ages.Record(age_s);
    EXPECT_GE(ages.Percentile(50), age_s);
    EXPECT_LE(ages.Percentile(50), age_s + age_s / 4);
    EXPECT_EQ(ages.last_s(), age_s);
  }
  EvictionAges ages;
  for (uint32_t i = 1; i <= 1000; i++) ages.Record(i);
  EXPECT_NEAR(ages.Percentile(10), 100, 25);
  EXPECT_NEAR(ages.Percentile(50), 500, 125);
  EXPECT_NEAR(ages.Percentile(90), 900, 225);
}

TEST(EvictionAges, OldOnesFade) {
  EvictionAges ages;
  for (int i = 0; i < 200000; i++) ages.Record(5);
  for (int i = 0; i < 200000; i++) ages.Record(5000);
  EXPECT_GE(ages.Percentile(50), 5000u);
}

TEST(EvictionStatistics, TellAgesGhostsAndGenerations) {
  CacheOptions options;
  options.memory_bytes = 8 << 20;
  const auto store = OpenStore(options);
  Client client(store.get());
  for (uint64_t i = 0; i < 20000; i++) client.Set(Key(i), std::string(900, 'v'));
  for (int round = 0; round < 200; round++) {
    for (uint64_t i = 19000; i < 19100; i++) client.Get(Key(i));
  }
  SessionCounters counters;
  store->SumCounters(&counters);
  EXPECT_NEAR(static_cast<double>(counters.young_hits.value()), 20000.0 / 64, 20);
  EXPECT_EQ(counters.main_hits.value(), 0u);
  for (uint64_t i = 5000; i < 12000; i++) client.Set(Key(i), std::string(900, 'v'));
  EXPECT_GT(store->Stats().ghosts_stored, 1000u);
  EXPECT_LE(store->Stats().eviction_age_p10_s, store->Stats().eviction_age_p90_s);
}

}  // namespace
}  // namespace weft::cache
