// `weft-bench pipeline` as a whole, small and short; and that wrong replies end it.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/folder_test_kit.h"
#include "bench/harness/report_rows_test_kit.h"
#include "bench/pipeline/turns.h"
#include "cache/cache_test_kit.h"
#include "planner/machine_test_kit.h"
#include "processor/devices.h"

namespace weft::bench {
namespace {

#ifdef WEFT_SANITIZED
constexpr uint64_t kMemoryMb = 16;
#else
constexpr uint64_t kMemoryMb = 32;
#endif

PipelineOptions SmallPipeline() {
  PipelineOptions options;
  options.memory_mb = kMemoryMb;
  options.threads = 2;
  options.ring = 10'000;
  options.repetitions = 1;
  options.run_s = 0.02;
  options.warmup_s = 0.005;
  options.walk = false;
  return options;
}

std::vector<nlohmann::json> RowsOf(const PipelineOptions& options, Status* status) {
  return RowsReported([&options](Report& report) { return RunPipeline(options, report); }, status);
}

TEST(PipelineBench, EveryWorkloadRunsAndEveryReplyIsVerified) {
  Status status;
  const auto lines = RowsOf(SmallPipeline(), &status);
  ASSERT_TRUE(status.ok()) << status.ToString();
  std::set<std::string> names;
  for (const auto& line : lines) {
    const auto& details = line["details"];
    const std::string name = details["workload"];
    names.insert(name);
    EXPECT_GT(details["queries"], 0) << name;
    EXPECT_EQ(details["verified_whole"], details["queries"]) << name;
    EXPECT_EQ(details["sets_refused"], 0) << name;
    EXPECT_GT(details["hit_ratio"], 0.5) << name;
    if (name.find("G100") != std::string::npos) {
      EXPECT_EQ(details["hit_ratio"], 1.0) << name;
      EXPECT_EQ(details["sets"], 0) << name;
    }
  }
  EXPECT_EQ(names.size(), 24u);
}

TEST(PipelineBench, TheBareWalkStandsBesideEachWorkload) {
  PipelineOptions options = SmallPipeline();
  options.workloads = {"K8-G100-U", "K16-G95-S"};
  options.walk = true;
  Status status;
  const auto lines = RowsOf(options, &status);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(lines.size(), 2u);
  for (const auto& line : lines) {
    const auto& walk = line["details"]["walk"];
    EXPECT_EQ(walk["objects"], line["details"]["objects"]);
    EXPECT_EQ(walk["object_bytes"], line["details"]["workload"] == "K8-G100-U" ? 24 : 88);
    EXPECT_GT(walk["per_s"], 0);
    EXPECT_GE(walk["batch"], 16);
    EXPECT_GT(walk["bytes"], walk["objects"].get<uint64_t>() * 24);
  }
}

TEST(PipelineBench, MetersEachTurnWhereAsked) {
  PipelineOptions options = SmallPipeline();
  options.workloads = {"K8-G95-S"};
  options.repetitions = 2;
  options.meters = MeterOptions{.energy = "model:10,10"};
  Status status;
  const auto lines = RowsOf(options, &status);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const auto& energy = lines.at(0)["details"]["energy"];
  // 10 W for two turns of 20 ms and what starting and ending them takes.
  EXPECT_GE(energy["energy_j"]["value"], 0.39);
  EXPECT_LE(energy["energy_j"]["value"], 30);  // three seconds' worth: a busy machine
  EXPECT_EQ(energy["energy_j"]["modelled"], true);
  EXPECT_NEAR(
      energy["queries_per_j"]["value"],
      lines[0]["details"]["queries"].get<double>() / energy["energy_j"]["value"].get<double>(), 1);
  EXPECT_TRUE(energy["gpu_energy_j"].contains("value") ||
              energy["gpu_energy_j"].contains("unavailable"));
  options.meters.reset();
  EXPECT_FALSE(RowsOf(options, &status).at(0)["details"].contains("energy"));
}

// Whoever does not get the core in time still measures something.
TEST(PipelineBench, ARunHasABatchOfEachWorkerAtLeast) {
  PipelineOptions options = SmallPipeline();
  options.workloads = {"K16-G95-U"};
  options.run_s = options.warmup_s = 1e-9;
  Status status;
  const auto lines = RowsOf(options, &status);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_GE(lines[0]["details"]["batches"], options.threads);
  EXPECT_EQ(lines[0]["details"]["verified_whole"], lines[0]["details"]["queries"]);
}

TEST(PipelineBench, IntervalsFollowOneAnotherOverOneDataSet) {
  PipelineOptions options = SmallPipeline();
  options.workloads = {"K16-G95-U"};
  options.plans = {"[RV PP MM IN.search]cpu -> [IN.insert IN.delete KC RD WR SD]cpu"};
  options.intervals_us = {300, 1000};
  Status status;
  const auto lines = RowsOf(options, &status);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(lines.size(), 4u);
  const char* const names[] = {"K16-G95-U/300us/plan-0", "K16-G95-U/300us/plan-1",
                               "K16-G95-U/1000us/plan-0", "K16-G95-U/1000us/plan-1"};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(lines[i]["case"], names[i]);
    EXPECT_EQ(lines[i]["details"]["interval_us"], i < 2 ? 300 : 1000);
    EXPECT_EQ(lines[i]["details"]["load_s"], lines[0]["details"]["load_s"]) << "filled once";
  }
}

constexpr char kDevicePlan[] =
    "[RV PP MM]cpu -> [IN.search IN.insert IN.delete KC RD]gpu0 -> [WR SD]cpu";

TEST(PipelineBench, PlansRunAgainstTheOneStageOne) {
  PipelineOptions options = SmallPipeline();
  options.workloads = {"K16-G50-S"};
  options.plans = {kDevicePlan, "[RV PP MM IN.search]cpu -> [IN.insert IN.delete KC RD WR SD]cpu"};
  options.devices = {"cpu"};
  options.verify = Verify::kSampled;
  Status status;
  const auto lines = RowsOf(options, &status);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(lines.size(), 3u);
  for (size_t plan = 0; plan < 3; ++plan) {
    const auto& details = lines[plan]["details"];
    const double queries = details["queries"], verified = details["verified_whole"];
    EXPECT_GT(verified, 0);
    // Each of the two workers checks its first, too.
    const bool says_something = details["batches"] >= 4 * Worker::kSampled;
    EXPECT_LE(verified * (says_something ? 3 : 1), queries) << details["batches"];
    EXPECT_EQ(details["stage_us"].size(), std::vector<size_t>({1, 3, 2})[plan]);
    for (const double us : details["stage_us"]) EXPECT_GT(us, 0);
    EXPECT_EQ(details["sets_refused"], 0);
    EXPECT_EQ(details["reruns"], 0);
    EXPECT_EQ(details["device_busy"] > 0, plan == 1);
    // Before any of them: a store that has been full for long.
    EXPECT_GT(details["aged_stores"], 0);
  }
  EXPECT_LE(lines[1]["details"]["device_busy"], 1.0);
  EXPECT_GT(lines[1]["judged"], 0);
  EXPECT_GT(lines[1]["details"]["device_queries"], 0);
}

// A calibration by which the cpu device does everything in no time.
std::string CalibrationOfAFreeDevice(const base::TestFolder& folder) {
  auto device = processor::OpenNamed("cpu");
  EXPECT_TRUE(device);
  planner::Calibration calibration = planner::TestMachine();
  calibration.hardware = planner::HardwareOf({(*device)->description()});
  calibration.devices.resize(1);
  for (planner::UnitCost& unit : calibration.devices[0].units) unit = {};
  calibration.devices[0].job = calibration.devices[0].job_latency = 0;
  EXPECT_TRUE(planner::SaveCalibration(folder / "calibration.json", calibration).ok());
  return folder / "calibration.json";
}

TEST(PipelineBench, ThePlannerChoosesAndEveryReplyIsVerified) {
  const base::TestFolder folder;
  PipelineOptions options = SmallPipeline();
  options.workloads = {"K16-G95-S"};
  options.plans = {"auto", kDevicePlan};
  options.devices = {"cpu"};
  options.learns = false;
  Status status;
  RowsOf(options, &status);
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << "without a calibration";
  options.calibration = CalibrationOfAFreeDevice(folder);
  // Whoever does not get the cores runs for too short a time to choose, and for longer next.
  std::vector<nlohmann::json> lines;
  const auto has_chosen = [&lines] {
    const std::string plan = lines[1]["details"]["chosen_plan"];
    return plan.find("gpu0") != std::string::npos;
  };
  for (options.run_s = 0.1; options.run_s < 10; options.run_s *= 2) {
    lines = RowsOf(options, &status);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_EQ(lines.size(), 3u);
    if (has_chosen()) break;
  }
  for (const auto& line : lines)
    EXPECT_EQ(line["details"]["verified_whole"], line["details"]["queries"]);
  const auto& chosen = lines[1]["details"];
  EXPECT_TRUE(has_chosen()) << chosen["chosen_plan"];
  EXPECT_GE(chosen["plan_changes"], 1);
  EXPECT_EQ(chosen["last_plan_changes"].size(),
            std::min<size_t>(chosen["plan_changes"].get<size_t>(), planner::Planner::kChangesKept));
  EXPECT_TRUE(
      std::any_of(chosen["last_plan_changes"].begin(), chosen["last_plan_changes"].end(),
                  [&](const auto& change) { return change["plan"] == chosen["chosen_plan"]; }));
  EXPECT_GT(chosen["chosen_share"], 1.0 / 13);
  EXPECT_LE(chosen["chosen_share"], 1);
  EXPECT_FALSE(std::string(chosen["last_plan_changes"].back()["why"]).empty());
  EXPECT_GT(chosen["device_queries"], 0);
  for (const auto& line : lines) EXPECT_GT(line["details"]["predicted"]["queries_per_s"], 0);
  // What was promised of the chosen plan is by the device that does everything in no time.
  EXPECT_GT(chosen["predicted"]["queries_per_s"],
            lines[0]["details"]["predicted"]["queries_per_s"]);
}

TEST(PipelineBench, APlanWithoutItsDeviceIsRefused) {
  PipelineOptions options = SmallPipeline();
  options.workloads = {"K16-G50-S"};
  options.plans = {kDevicePlan};
  Status status;
  RowsOf(options, &status);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("gpu0"), std::string::npos) << status.ToString();
  options.devices = {"abacus"};
  RowsOf(options, &status);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("abacus"), std::string::npos) << status.ToString();
}

TEST(PipelineBench, BadPlansAndWorkloadsAreRefusedWithTheReason) {
  PipelineOptions options = SmallPipeline();
  options.plans = {"[RV PP]cpu"};
  Status status;
  EXPECT_TRUE(RowsOf(options, &status).empty());
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("[RV PP]cpu"), std::string::npos) << status.ToString();
  options.plans.clear();
  options.workloads = {"K9-G95-U"};
  EXPECT_TRUE(RowsOf(options, &status).empty());
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
}

// A store whose objects were changed behind the benchmark's back.
class Spoiled : public testing::Test {
 protected:
  void SetUp() override {
    DataSetOptions data_options;
    data_options.memory_bytes = kMemoryMb << 20;
    data_options.fill = 0.1;
    auto data = DataSet::Fill({&workload_, 1}, data_options);
    ASSERT_TRUE(data);
    data_ = std::move(*data);
    devices_ = std::move(*Devices::Open({}));
    EXPECT_EQ(data_->evictions(), 0u);
  }

  Status RunAll() {
    PipelineOptions options = SmallPipeline();
    const KeyPicker picker(data_->objects(), false);
    auto all = RunTurns(options, {{workload_}, {&picker}}, {{pipeline::Plan::OneStageCpu()}},
                        nullptr, devices_.get(), data_.get());
    return all ? Status::Ok() : all.error();
  }
  std::string Key(uint64_t number) {
    std::string key(workload_.key_bytes, ' ');
    WriteBinaryKey(number, key.data(), workload_.key_bytes);
    return key;
  }
  std::string Value(uint64_t number, Version version) {
    std::string value(workload_.value_bytes, ' ');
    WriteVersionedValue(Key(number).data(), version, value.data(), workload_.value_bytes);
    return value;
  }
  // Every tenth key, so that each batch meets one.
  void SetSome(Version version, bool flip) {
    cache::Client client(&data_->store());
    for (uint64_t i = 0; i < data_->objects(); i += 10) {
      std::string value = Value(i, version);
      if (flip) value[value.size() / 2] ^= 1;
      ASSERT_EQ(client.Set(Key(i), value), Outcome::kStored);
    }
  }

  const Workload workload_ = *ParseWorkload("K16-G95-U");
  std::unique_ptr<Devices> devices_;
  std::unique_ptr<DataSet> data_;
};

TEST_F(Spoiled, ValuesOfPassesThatWereBegunAreAccepted) {
  const uint32_t pass = data_->BeginPass(9);
  SetSome({9, pass}, false);
  EXPECT_TRUE(RunAll().ok());
}

TEST_F(Spoiled, AVersionThatWasNeverStoredEndsTheRun) {
  SetSome({9, 1}, false);
  EXPECT_EQ(RunAll().code(), Code::kCorruption);
}

TEST_F(Spoiled, AFlippedBitEndsTheRun) {
  SetSome({0, 0}, true);
  EXPECT_EQ(RunAll().code(), Code::kCorruption);
}

TEST_F(Spoiled, AMissWithoutEvictionsEndsTheRun) {
  cache::Client client(&data_->store());
  for (uint64_t i = 0; i < data_->objects(); i += 10) client.Delete(Key(i));
  const Status status = RunAll();
  EXPECT_EQ(status.code(), Code::kCorruption);
  EXPECT_NE(status.message().find("missed"), std::string::npos) << status.ToString();
}

// As many objects as fit are stored: none is evicted again, and little memory is left over.
TEST(DataSet, FillsTheMemoryWithoutEvictions) {
  for (const int threads : {1, 3})
    for (const char* name : {"K8-G100-U", "K16-G100-U", "K32-G100-U", "K128-G100-U"}) {
      const Workload workload = *ParseWorkload(name);
      DataSetOptions options;
      options.memory_bytes = kMemoryMb << 20;
      options.threads = threads;
      auto data = DataSet::Fill({&workload, 1}, options);
      ASSERT_TRUE(data) << data.error().ToString();
      const CacheStats stats = (*data)->store().Stats();
      EXPECT_EQ(stats.evictions, 0u) << name << " " << threads;
      EXPECT_EQ(stats.items, (*data)->objects()) << name;
      const auto used = static_cast<double>(stats.object_bytes + stats.index_buckets * 64);
      EXPECT_GT(used / static_cast<double>(options.memory_bytes), 0.8) << name;
    }
}

}  // namespace
}  // namespace weft::bench
