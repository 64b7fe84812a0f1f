// `weft-bench alternation` as a whole, small and short, and data sets of several sizes.
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>
#include <string>

#include "base/folder_test_kit.h"
#include "bench/harness/report_rows_test_kit.h"
#include "bench/pipeline/data_set.h"
#include "bench/pipeline/options.h"
#include "cache/cache_test_kit.h"

namespace weft::bench {
namespace {

AlternationOptions SmallAlternation() {
  AlternationOptions options;
  options.pipeline.workloads = {"K8-G50-U", "K16-G95-S"};
  options.pipeline.plans = {
      "[RV PP MM]cpu -> [IN.search IN.insert IN.delete KC RD]gpu0 -> [WR SD]cpu"};
  options.pipeline.devices = {"cpu"};
  options.pipeline.memory_mb = 32;
  options.pipeline.threads = 2;
  options.pipeline.ring = 10'000;
  options.pipeline.repetitions = 1;
  options.pipeline.run_s = 0.02;
  options.pipeline.warmup_s = 0.005;
  options.cycles_ms = {2, 8};
  options.trace_cycle_ms = 4;
  options.trace_cycles = 100;
  options.slot_ms = 0.5;
  return options;
}

std::vector<nlohmann::json> RowsOf(const AlternationOptions& options, Status* status) {
  return RowsReported([&options](Report& report) { return RunAlternation(options, report); },
                      status);
}

TEST(AlternationBench, EveryReplyIsVerifiedAndEverySlotCounted) {
  const base::TestFolder folder;
  AlternationOptions options = SmallAlternation();
  options.plots = folder / "";
  Status status;
  const auto rows = RowsOf(options, &status);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(rows.size(), 6u) << "a trace and two cycles, two contenders each";
  double sets = 0, queries = 0;
  for (const auto& row : rows) {
    const auto& details = row["details"];
    EXPECT_EQ(details["verified_whole"], details["queries"]);
    sets += details["sets"].get<double>();
    queries += details["queries"].get<double>();
  }
  // Of both workloads: half of one is SETs, a twentieth of the other. Of all runs together, for on
  // a busy machine the shortest may meet one of them alone.
  EXPECT_GT(sets, 0.06 * queries);
  EXPECT_LT(sets, 0.49 * queries);
  EXPECT_EQ(rows[0]["case"], "trace-4ms/one stage");
  EXPECT_EQ(rows[3]["case"], "cycle-2ms/plan 1");
  for (int plan = 0; plan < 2; ++plan) {
    const auto& details = rows[static_cast<size_t>(plan)]["details"];
    EXPECT_EQ(details["steady_queries_per_s"].size(), 2u);
    for (const double ms : details["recovered_ms"]) EXPECT_LE(ms, 2);
    const std::vector<double> folded = details["folded_queries_per_s"];
    ASSERT_EQ(folded.size(), 8u);
    // Means of slots over all cycles but the first come to no more than was answered in all. On a
    // busy machine it may be much less.
    const double sum = std::accumulate(folded.begin(), folded.end(), 0.0);
    const double counted = sum * options.slot_ms * 1e-3 * (options.trace_cycles - 1);
    EXPECT_GT(sum, 0);
    EXPECT_LE(counted, details["queries"].get<double>() * 1.001);
    EXPECT_EQ(details["folded_in_stages_per_s"],
              plan == 0 ? nlohmann::json(std::vector<double>(8, 0)) : nlohmann::json(folded));
  }
  for (const char* name : {"alternation-trace.svg", "alternation-cycles.svg"})
    EXPECT_GT(std::filesystem::file_size(folder / name), 1000u);
}

TEST(AlternationBench, TimesThatDoNotGoTogetherAreRefusedWithTheReason) {
  const auto complaint = [](const std::function<void(AlternationOptions*)>& change) {
    AlternationOptions options = SmallAlternation();
    change(&options);
    Status status;
    EXPECT_TRUE(RowsOf(options, &status).empty());
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_NE(complaint([](auto* o) { o->slot_ms = 0.3; }).find("6.67 slots"), std::string::npos);
  EXPECT_NE(complaint([](auto* o) { o->pipeline.workloads.pop_back(); }).find("at least two"),
            std::string::npos);
  EXPECT_NE(complaint([](auto* o) {
              o->pipeline.intervals_us = {300, 600};
            }).find("--interval-us"),
            std::string::npos);
  EXPECT_NE(complaint([](auto* o) { o->pipeline.plans = {"auto"}; }).find("--calibration"),
            std::string::npos);
}

TEST(DataSet, OfSeveralSizesHasAsManyBytesOfEach) {
  const std::vector<Workload> workloads = {*ParseWorkload("K8-G50-U"), *ParseWorkload("K16-G95-S"),
                                           *ParseWorkload("K8-G100-S")};
  DataSetOptions options;
  options.memory_bytes = 32u << 20;
  auto data = DataSet::Fill(workloads, options);
  ASSERT_TRUE(data) << data.error().ToString();
  const uint64_t small = (*data)->objects(workloads[0]), large = (*data)->objects(workloads[1]);
  EXPECT_EQ((*data)->objects(workloads[2]), small);
  EXPECT_EQ((*data)->objects(), small + large);
  const CacheStats stats = (*data)->store().Stats();
  EXPECT_EQ(stats.items, small + large);
  EXPECT_EQ(stats.evictions, 0u);
  EXPECT_NEAR(static_cast<double>(small * (8 + 8 + 8)), static_cast<double>(large * (8 + 16 + 64)),
              static_cast<double>(small));
  for (const Workload& workload : workloads) {
    std::string key(workload.key_bytes, ' ');
    WriteBinaryKey((*data)->objects(workload) - 1, key.data(), workload.key_bytes);
    EXPECT_EQ(cache::Client(&(*data)->store()).Value(key).size(), workload.value_bytes);
  }
}

TEST(DataSet, KeysOfOneSizeHaveValuesOfOne) {
  std::vector<Workload> workloads = {*ParseWorkload("K8-G50-U"), *ParseWorkload("K8-G95-U")};
  workloads[1].value_bytes = 64;
  auto data = DataSet::Fill(workloads, {});
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace weft::bench
