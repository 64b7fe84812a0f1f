// `weft-bench run` as a whole, on targets of this process.
#include "bench/drive/measure.h"

#include <gtest/gtest.h>

#include "base/folder_test_kit.h"
#include "bench/drive/driver.h"
#include "bench/harness/report_rows_test_kit.h"
#include "bench/workload/builtin_mixes.h"

namespace weft::bench {
namespace {

class MeasureTest : public ::testing::Test {
 protected:
  MeasureTest() {
    options_.records = 200;
    options_.load.seconds = 0.1;
    options_.load.warmup_s = 0;
    options_.log.json = folder_ / "runs.jsonl";
  }
  std::vector<nlohmann::json> Lines() const { return JsonLines(options_.log.json); }

  const base::TestFolder folder_;
  MeasureOptions options_;
};

// What is stored is of the sizes of the workload that asks, whatever came before it.
TEST_F(MeasureTest, AWorkloadThatIsLeftOutLeavesNothingBehind) {
  options_.target.memory_mb = 64;
  auto log = RunLog::Open({});
  ASSERT_TRUE(log);
  Driver driver("weft-cache", options_, &*log);
  OperationMix scans = *BuiltinMix("ycsb-e"), small = *BuiltinMix("K16-G95-S");
  scans.records = small.records = 200;
  EXPECT_EQ(Code::kUnsupported, driver.Prepare(scans).code());
  ASSERT_TRUE(driver.Prepare(small).ok());
  EXPECT_EQ(small.record.value_bytes.ToText(), driver.format()->options().value_bytes.ToText());
  EXPECT_NE(scans.record.value_bytes.ToText(), driver.format()->options().value_bytes.ToText());
}

TEST_F(MeasureTest, LoadsAreClosedLoopsWhateverTheRate) {
  options_.targets = {"weft-cache"};
  options_.target.memory_mb = 64;
  options_.workloads = {"ycsb-load", "ycsb-c"};
  options_.rate = "1000";
  ASSERT_TRUE(RunMeasure(options_).ok());
  const auto lines = Lines();
  ASSERT_EQ(2u, lines.size());
  EXPECT_EQ("closed", lines[0]["load"]["loop"]);
  EXPECT_EQ(200, lines[0]["result"]["operations"]);
  EXPECT_EQ("open", lines[1]["load"]["loop"]);
  EXPECT_NEAR(100, lines[1]["result"]["operations"].get<double>(), 2);
}

TEST_F(MeasureTest, ARunInWhichNothingEndsHasNoResult) {
  options_.targets = {"echo:300ms"};
  options_.workloads = {"ycsb-c"};
  options_.records = 1;
  ASSERT_TRUE(RunMeasure(options_).ok());
  const auto lines = Lines();
  ASSERT_EQ(2u, lines.size());  // the first of the record's storing
  EXPECT_EQ("weft-bench left out", lines[1]["format"]);
  EXPECT_EQ("no operation ended while the run was counted", lines[1]["why"]);
  EXPECT_FALSE(lines[1].contains("result"));
}

TEST_F(MeasureTest, AMeterThatWasNamedAndIsNotThereIsTold) {
  options_.targets = {"weft-cache"};
  options_.target.memory_mb = 64;
  options_.workloads = {"ycsb-c"};
  options_.meters.energy = "csv:" + folder_ / "no.csv";
  testing::internal::CaptureStdout();
  ASSERT_TRUE(RunMeasure(options_).ok());
  const std::string said = testing::internal::GetCapturedStdout();
  const size_t at = said.find("no energy: ");
  ASSERT_NE(at, std::string::npos) << said;
  EXPECT_NE(said.find("no.csv", at), std::string::npos) << said;
  EXPECT_EQ(said.find("no energy: ", at + 1), std::string::npos) << "told twice: " << said;
}

TEST_F(MeasureTest, WhatIsLeftOutIsInTheResultFile) {
  options_.targets = {"no-such-store", "weft-cache"};
  options_.target.memory_mb = 64;
  options_.workloads = {"ycsb-e", "ycsb-c"};
  EXPECT_FALSE(RunMeasure(options_).ok());
  const auto lines = Lines();
  ASSERT_EQ(4u, lines.size());
  EXPECT_EQ("no-such-store", lines[0]["target"]["name"]);
  EXPECT_FALSE(lines[0].contains("workload"));
  EXPECT_NE("", lines[0]["why"]);
  EXPECT_EQ("weft-cache", lines[1]["target"]["name"]);
  EXPECT_EQ("ycsb-e", lines[1]["workload"]["name"]);
  EXPECT_NE("", lines[1]["why"]);
  EXPECT_EQ("weft-bench run", lines[3]["format"]);
}

}  // namespace
}  // namespace weft::bench
