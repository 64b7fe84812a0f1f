#include "sim/run/report.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/folder_test_kit.h"
#include "sim/base/text_test_kit.h"
#include "sim/machine/machine_test_kit.h"

namespace weft::sim {
namespace {

using testing::HasSubstr;
using Json = nlohmann::ordered_json;

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

RunResult SmallRun() {
  MachineOptions options;
  options.core.warmup_ops = 40;
  options.epoch_clocks = 1000;
  return Simulate(ListSource(RandomRecords(TestSeed(), 4, 100, 100, 1 << 16)), options);
}

TEST(Report, SummaryHasTheRunsFigures) {
  const RunResult run = SmallRun();
  const Json summary = Summary({{"seed", 1}}, run);
  EXPECT_EQ(summary["config"]["seed"], 1);
  EXPECT_EQ(summary["measured"]["ops"], 360);
  EXPECT_EQ(summary["cores"]["m4_op_cycles"]["count"], 360);
  EXPECT_EQ(summary["cores"]["m1_reads_cycles"]["count"], run.cores.reads.count);
  EXPECT_EQ(summary["cores"]["m2_misses_cycles"]["mean"], run.cores.misses.value());
  EXPECT_GE(summary["cores"]["m4_op_cycles"]["p99"], summary["cores"]["m4_op_cycles"]["p50"]);
  EXPECT_EQ(summary["channels"].size(), 2u);
  EXPECT_EQ(summary["memory"]["reads"].get<int64_t>(),
            summary["channels"][0]["reads"].get<int64_t>() +
                summary["channels"][1]["reads"].get<int64_t>());
  int64_t latencies = 0;
  for (const Json& bar : summary["demand_latency_histogram_clocks"]) {
    latencies += bar[1].get<int64_t>();
  }
  EXPECT_EQ(latencies, summary["memory"]["demand_latency_clocks"]["count"]);
  EXPECT_EQ(summary["prefetch"]["asked"], 0);
  EXPECT_TRUE(summary["prefetch"]["accuracy"].is_null());  // of nothing
  EXPECT_TRUE(summary["prefetch"]["timeliness"].is_null());
  EXPECT_TRUE(summary["memory"]["prefetch_latency_clocks"]["mean"].is_null());
  // Eight ranks draw 0.84 W at least.
  EXPECT_GT(summary["energy"]["power_w"], 8 * 0.84);
  EXPECT_NEAR(summary["energy"]["nj_per_op"].get<double>() * 360,
              summary["energy"]["total_nj"].get<double>(), 1);
  EXPECT_GT(summary["host"]["requests"], 0);
}

TEST(Report, RowsHaveTheHeadersColumns) {
  const Json config = {{"seed", 1}, {"mix", "fixed:128"}, {"note", "a, \"b\""}};
  const std::string header = CsvHeader(config);
  const std::string row = CsvRow(config, SmallRun());
  EXPECT_THAT(header, testing::StartsWith("seed,mix,note,ops,seconds,m1_cycles,"));
  EXPECT_THAT(row, testing::StartsWith("1,fixed:128,\"a, \"\"b\"\"\",360,"));
  EXPECT_EQ(std::count(header.begin(), header.end(), ',') + 1,
            std::count(row.begin(), row.end(), ','));  // one is quoted
}

TEST(Report, FilesAreWrittenAndRowsAppended) {
  const base::TestFolder folder;
  const std::string path = folder.path() + "/a/b";
  const RunResult run = SmallRun();
  ASSERT_TRUE(WriteReport(path, {{"seed", 1}}, run).ok());
  ASSERT_TRUE(WriteReport(path, {{"seed", 2}}, run).ok());
  const auto rows = LinesOf(TextOf(path + "/runs.csv"));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1].substr(0, 2), "1,");
  EXPECT_EQ(rows[2].substr(0, 2), "2,");
  EXPECT_EQ(Json::parse(TextOf(path + "/summary.json"))["config"]["seed"], 2);
  const auto epochs = LinesOf(TextOf(path + "/epoch.csv"));
  ASSERT_EQ(epochs.size(), run.epochs.size() + 1);
  // What no read was measured for is left out, and not 0.
  for (size_t i = 0; i < run.epochs.size(); ++i)
    EXPECT_EQ(epochs[i + 1].find(",,") != std::string::npos,
              !run.epochs[i].demand_latency_clocks.has_value());
  const Status other = WriteReport(path, {{"pop", "uniform"}}, run);
  EXPECT_EQ(other.code(), Code::kInvalidArgument);
  EXPECT_THAT(std::string(other.message()), HasSubstr("runs.csv: its columns"));
  EXPECT_EQ(WriteReport("/proc/none", {{"seed", 1}}, run).code(), Code::kIoError);
}

}  // namespace
}  // namespace weft::sim
