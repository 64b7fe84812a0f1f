// The experiments, small: the right runs, in the right order, with the right notes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/folder_test_kit.h"
#include "bench/experiment/bandwidth.h"
#include "bench/experiment/block_cache.h"
#include "bench/experiment/efficiency.h"
#include "bench/experiment/oversubscription.h"
#include "bench/harness/machine.h"
#include "bench/harness/report_rows_test_kit.h"

namespace weft::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ExperimentTest : public ::testing::Test {
 protected:
  // `operations`: however long a busy machine takes for them. 0: a tenth of a second.
  void MakeSmall(ExperimentOptions* options, const std::string& target,
                 uint64_t operations = 0) const {
    MeasureOptions& measure = options->measure;
    measure.targets = {target};
    measure.records = 200;
    measure.load.operations = operations;
    measure.load.warmup_s = operations != 0 ? 0 : 0.01;
    measure.load.seconds = operations != 0 ? 600 : 0.1;
    measure.quiet_s = 0.3;
    measure.log.json = folder_ / "runs.jsonl";
  }

  std::vector<nlohmann::json> Lines() const { return JsonLines(folder_ / "runs.jsonl"); }
  static std::vector<std::string> WorkloadsOf(const std::vector<nlohmann::json>& lines) {
    std::vector<std::string> names;
    for (const auto& line : lines) names.push_back(line.at("workload").at("name"));
    return names;
  }

  // On a busy machine a target may have no processor for as long as it is counted.
  static bool NothingEnded(const nlohmann::json& line) {
    return line.at("format") == "weft-bench left out" &&
           line.at("why") == "no operation ended while the run was counted";
  }

  const base::TestFolder folder_;
  const int cpus_ = static_cast<int>(UsableCpus().size());
};

TEST_F(ExperimentTest, DefaultsAreTheDurableStores) {
  for (const ExperimentOptions& options :
       {EfficiencyOptions().experiment, BandwidthOptions().experiment,
        OversubscriptionOptions().experiment, BlockCacheOptions().experiment})
    EXPECT_EQ(options.measure.targets, StoreNames());
}

TEST_F(ExperimentTest, EfficiencyByOneThreadAndByAll) {
  EfficiencyOptions options;
  MakeSmall(&options.experiment, "echo:10us");
  options.experiment.measure.meters.energy = "model:10,20";
  const Status status = RunEfficiency(options);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const auto lines = Lines();
  const std::vector<std::string> order = {"ycsb-load", "ycsb-a", "ycsb-b",    "ycsb-c",
                                          "ycsb-f",    "ycsb-d", "ycsb-load", "ycsb-e"};
  const size_t parts = cpus_ == 1 ? 1 : 2;
  ASSERT_EQ(parts * order.size(), lines.size());
  const auto names = WorkloadsOf(lines);
  for (size_t i = 0; i < lines.size(); i++) {
    const nlohmann::json& line = lines[i];
    const bool is_one = i < order.size();
    EXPECT_EQ(order[i % order.size()], names[i]);
    if (NothingEnded(line)) continue;
    EXPECT_EQ("efficiency", line.at("experiment"));
    EXPECT_EQ(is_one ? 1 : cpus_, line.at("load").at("threads"));
    const nlohmann::json& note = line.at("efficiency");
    EXPECT_EQ(is_one ? "one" : "all", note.at("threads"));
    EXPECT_GE(note.at("threads_on_a_core"), 1);
    EXPECT_LE(note.at("busy"), 1);
    EXPECT_TRUE(note.at("operations_per_j").at("value").is_number());
    EXPECT_EQ(true, note.at("operations_per_j").at("modelled"));
    // Without counters a reason, never 0.
    for (const char* name : {"ipc_per_core", "branch_miss_ratio", "cache_miss_ratio"})
      EXPECT_TRUE(note.at(name).contains("unavailable") || note.at(name).at("value") > 0) << name;
  }
}

TEST_F(ExperimentTest, EfficiencyLeavesOutWhatATargetHasNot) {
  EfficiencyOptions options;
  MakeSmall(&options.experiment, "weft-cache");
  options.threads = {1, 1};
  options.experiment.measure.workloads = {"ycsb-e", "ycsb-c"};
  const Status status = RunEfficiency(options);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_THAT(WorkloadsOf(Lines()), ElementsAre("ycsb-e", "ycsb-load", "ycsb-c"));
}

TEST_F(ExperimentTest, OversubscriptionByThreadsPerHardwareThread) {
  OversubscriptionOptions options;
  MakeSmall(&options.experiment, "weft", 1000);
  options.threads_per_hardware_thread = {1, 3};
  const Status status = RunOversubscription(options);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const auto lines = Lines();
  EXPECT_THAT(WorkloadsOf(lines), ElementsAre("ycsb-load", "ycsb-c", "ycsb-load", "ycsb-c"));
  for (size_t i = 0; i < lines.size(); i++) {
    const int each = i < 2 ? 1 : 3;
    EXPECT_EQ(each, lines[i].at("oversubscription").at("threads_per_hardware_thread"));
    EXPECT_EQ(each * cpus_, lines[i].at("load").at("threads"));
    EXPECT_EQ(200, lines[i].at("workload").at("records"));
  }
}

TEST_F(ExperimentTest, BlockCacheByFractionsOfTheData) {
  BlockCacheOptions options;
  MakeSmall(&options.experiment, "weft", 1000);
  options.fractions = {0, 0.5};
  options.threads_per_hardware_thread = 2;
  const Status status = RunBlockCache(options);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const auto lines = Lines();
  EXPECT_THAT(WorkloadsOf(lines), ElementsAre("ycsb-load", "ycsb-c", "ycsb-load", "ycsb-c"));
  for (size_t i = 0; i < lines.size(); i++) {
    const bool has_cache = i >= 2;
    const uint64_t bytes = has_cache ? 200 * 1024 / 2 : 0;
    EXPECT_EQ(bytes, lines[i].at("block_cache").at("bytes"));
    EXPECT_EQ(bytes, lines[i].at("target").at("settings").at("block_cache_bytes"));
    EXPECT_EQ(has_cache ? "block cache of 50 % of the data" : "no block cache",
              lines[i].at("setting"));
  }
  EXPECT_EQ(2 * cpus_, lines[1].at("load").at("threads"));
}

TEST_F(ExperimentTest, BlockCacheOfWhatHasNone) {
  BlockCacheOptions options;
  MakeSmall(&options.experiment, "weft-cache");
  EXPECT_THAT(RunBlockCache(options).ToString(), HasSubstr("weft-cache has no block cache"));
  MakeSmall(&options.experiment, "weft");
  options.experiment.measure.workloads = {"ycsb-load"};
  EXPECT_THAT(RunBlockCache(options).ToString(), HasSubstr("a fill does not read"));
}

TEST_F(ExperimentTest, BandwidthFromTheFullHogToNone) {
  if (cpus_ < 2) GTEST_SKIP() << "a machine of one CPU";
  BandwidthOptions options;
  MakeSmall(&options.experiment, "echo:10us");
  options.threads = 1;
  options.shares = {1, 0.25, 0};
  options.array_bytes = 4 << 20;
  const Status status = RunBandwidth(options);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const auto lines = Lines();
  EXPECT_THAT(WorkloadsOf(lines),
              ElementsAre("ycsb-load", "ycsb-c", "ycsb-load", "ycsb-c", "ycsb-load", "ycsb-c"));
  constexpr double kHogPieceBytes = 16384 * 24;
  std::map<double, double> got;
  for (size_t i = 0; i < lines.size(); i++) {
    const double share = options.shares[i / 2];
    if (NothingEnded(lines[i])) continue;
    const nlohmann::json& note = lines[i].at("bandwidth");
    EXPECT_EQ(share, note.at("hog_share"));
    EXPECT_EQ(1, note.at("hog_threads"));
    EXPECT_EQ(1, lines[i].at("load").at("threads"));
    const double machine = note.at("machine_bytes_per_s");
    const double hog = note.at("hog_bytes_per_s");
    EXPECT_GT(machine, 0);
    EXPECT_EQ(std::max(0.0, machine - hog), note.at("left_bytes_per_s").get<double>());
    // A piece of its work that it had begun may end in the run.
    if (share == 0) {
      EXPECT_LE(hog * lines[i].at("result").at("seconds").get<double>(), kHogPieceBytes);
    }
    got[share] += hog;
    EXPECT_TRUE(note.at("ipc").contains("unavailable") || note.at("ipc").at("value") > 0);
  }
  // The runs are so short that other work may keep the hog from all of one.
  const bool is_whole = std::none_of(lines.begin(), lines.end(), NothingEnded);
  EXPECT_TRUE(!is_whole || got[1] + got[0.25] > 0);
  EXPECT_EQ("hog at 100 %", lines[0].at("setting"));  // a fill ends whenever it has stored all
  EXPECT_EQ("no hog", lines[4].at("setting"));
}

TEST_F(ExperimentTest, BandwidthThatCannotBe) {
  BandwidthOptions options;
  MakeSmall(&options.experiment, "echo:10us");
  options.threads = cpus_;
  const Code too_many = cpus_ < 2 ? Code::kUnsupported : Code::kInvalidArgument;
  EXPECT_EQ(too_many, RunBandwidth(options).code());
  options.threads = 0;
  options.shares = {1.5};
  EXPECT_THAT(RunBandwidth(options).ToString(), HasSubstr("a share of 1.5"));
}

TEST_F(ExperimentTest, WhatIsWrongIsToldByEach) {
  const auto codes = [](const ExperimentOptions& experiment) {
    EfficiencyOptions efficiency;
    OversubscriptionOptions oversubscription;
    BlockCacheOptions block_cache;
    efficiency.experiment = oversubscription.experiment = block_cache.experiment = experiment;
    return std::vector<Code>{RunEfficiency(efficiency).code(),
                             RunOversubscription(oversubscription).code(),
                             RunBlockCache(block_cache).code()};
  };
  ExperimentOptions experiment;
  MakeSmall(&experiment, "weft");
  experiment.measure.workloads = {"ycsb-z"};
  EXPECT_THAT(codes(experiment), testing::Each(Code::kNotFound));
  experiment.measure.workloads = {"ycsb-c"};
  experiment.measure.targets = {};
  EXPECT_THAT(codes(experiment), testing::Each(Code::kInvalidArgument));
}

}  // namespace
}  // namespace weft::bench
