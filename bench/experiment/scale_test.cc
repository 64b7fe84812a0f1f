// How data is scaled, what is derived from counters, and which CPUs make a core.
#include "bench/experiment/scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/folder_test_kit.h"
#include "bench/experiment/cores.h"
#include "bench/experiment/ratios.h"

namespace weft::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kGiB = 1u << 30;

TEST(Scale, AsPaper002HasIt) {
  const RecordOptions record;  // 24 and 1,000 B
  const DataSize size = ScaledRecords(record, kDataFraction, {.memory_bytes = kGiB});
  EXPECT_NEAR(350'000, static_cast<double>(size.records), 1'000);
  EXPECT_FALSE(size.is_limited);
  EXPECT_EQ("349525 records of 1024 B, 0.333 of 1.0 GiB",
            ToText(size, record, {.memory_bytes = kGiB}));
}

TEST(Scale, NoMoreThanFits) {
  const RecordOptions record;
  // Twice the data must be free.
  const DataRoom disk{.memory_bytes = kGiB, .free_bytes = 1024 * 2000};
  EXPECT_EQ(1000u, ScaledRecords(record, kDataFraction, disk).records);
  EXPECT_TRUE(ScaledRecords(record, kDataFraction, disk).is_limited);
  const DataRoom cache{.memory_bytes = kGiB, .cache_bytes = (1024 + 64) * 1000};
  EXPECT_EQ(1000u, ScaledRecords(record, kDataFraction, cache).records);
  EXPECT_EQ(1u,
            ScaledRecords(record, kDataFraction, {.memory_bytes = kGiB, .free_bytes = 0}).records);
}

TEST(Scale, RoomOfThisMachine) {
  MeasureOptions options;
  options.targets = {"weft"};
  const DataRoom durable = RoomFor(options);
  EXPECT_GT(durable.memory_bytes, 64u << 20);
  EXPECT_LT(durable.free_bytes, UINT64_MAX);
  EXPECT_EQ(UINT64_MAX, durable.cache_bytes);
  options.targets = {"weft-cache"};
  options.target.memory_mb = 100;
  EXPECT_EQ(100u << 20, RoomFor(options).cache_bytes);
  EXPECT_EQ(UINT64_MAX, RoomFor(options).free_bytes);
}

Readings Counters() {
  Readings readings;
  const auto add = [&](const char* name, double value) {
    readings.emplace(name, Reading::Of(value, "1", "perf"));
  };
  add("instructions", 900);
  add("cycles", 1000);
  add("branches", 200);
  add("branch_misses", 1);
  add("cache_references", 50);
  add("cache_misses", 10);
  readings.emplace("energy_j", Reading::Of(Joules(4), "model").Modelled());
  return readings;
}

TEST(Ratios, ByHand) {
  const Readings ratios = RatiosOf(Counters(), 100, 2);
  EXPECT_DOUBLE_EQ(25, ratios.at("operations_per_j").value());
  EXPECT_TRUE(ratios.at("operations_per_j").modelled());
  EXPECT_DOUBLE_EQ(1.8, ratios.at("ipc_per_core").value());  // two threads do it together
  EXPECT_DOUBLE_EQ(0.005, ratios.at("branch_miss_ratio").value());
  EXPECT_DOUBLE_EQ(0.2, ratios.at("cache_miss_ratio").value());
  EXPECT_EQ(
      "25 operations/J (modelled), 1.8 instructions a cycle and core, 0.5 % of branches missed, "
      "20 % of last-level references missed",
      ToText(ratios));
  EXPECT_TRUE(WhyUnavailable(ratios).empty());
}

TEST(Ratios, WhatIsNotThereHasAReason) {
  Readings readings = Counters();
  readings.insert_or_assign("cycles", Reading::Unavailable("no such counter"));
  readings.insert_or_assign("branches", Reading::Of(0, "1", "perf"));
  readings.erase("cache_misses");
  readings.erase("energy_j");
  const Readings ratios = RatiosOf(readings, 100, 1);
  EXPECT_EQ("", ToText(ratios));
  EXPECT_THAT(WhyUnavailable(ratios), ElementsAre("branch_miss_ratio: branches is 0",
                                                  "cache_miss_ratio: cache_misses: no such meter",
                                                  "ipc_per_core: cycles: no such counter",
                                                  "operations_per_j: energy_j: no such meter"));
}

TEST(Cores, OneCpuOfEachFirst) {
  const base::TestFolder folder;
  const auto pair = [&](int cpu, const std::string& siblings) {
    const std::string path = folder / ("cpu" + std::to_string(cpu) + "/topology");
    std::filesystem::create_directories(path);
    std::ofstream(path + "/thread_siblings_list") << siblings << "\n";
  };
  for (const int cpu : {0, 1}) pair(cpu, "0-1");
  for (const int cpu : {2, 3}) pair(cpu, "2-3");
  const Cores cores = CoresOf({0, 1, 2, 3, 9}, folder.path());  // of 9 nothing is known
  EXPECT_EQ(3, cores.count);
  EXPECT_THAT(cores.cpus, ElementsAre(0, 2, 9, 1, 3));
  EXPECT_EQ(1, ThreadsOnACore(1, cores));
  EXPECT_EQ(1, ThreadsOnACore(3, cores));
  EXPECT_DOUBLE_EQ(5.0 / 3, ThreadsOnACore(5, cores));
  EXPECT_DOUBLE_EQ(5.0 / 3, ThreadsOnACore(40, cores));
}

}  // namespace
}  // namespace weft::bench
