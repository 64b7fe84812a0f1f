#include "bench/cost/result_file.h"

#include <sstream>

#include <gtest/gtest.h>

#include "bench/cost/sample_results_test_kit.h"

namespace weft::bench {
namespace {

Result<std::vector<ResultRun>> Read(const std::string& text) {
  std::istringstream in(text);
  return ReadResults(in, "a.json");
}

std::string ErrorOf(const std::string& text) {
  auto runs = Read(text);
  if (runs) return "";
  EXPECT_EQ(Code::kInvalidArgument, runs.error().code());
  return std::string(runs.error().message());
}

std::string ErrorWithout(const char* pointer) {
  nlohmann::json line = SampleLine("m", 1);
  line[nlohmann::json::json_pointer(pointer)] = nullptr;
  return ErrorOf(line.dump());
}

TEST(ResultFile, ReadsWhatAComparisonNeeds) {
  const auto runs = Read(LinesOf({SampleLine("m", 5000, 0), SampleLine("m", 6000, 1)}) + "\n\n");
  ASSERT_TRUE(runs);
  ASSERT_EQ(2u, runs.value().size());
  const ResultRun& run = runs.value()[1];
  EXPECT_EQ(2, run.line);
  EXPECT_EQ("store", run.target);
  EXPECT_EQ("store 1.0", run.target_title);
  EXPECT_EQ("ycsb-c, 24 B keys, 1000 B values", run.workload);
  EXPECT_EQ("closed loop, 2 threads, 8 sessions, depth 32", run.load);
  EXPECT_EQ("m", run.machine);
  EXPECT_EQ(4, run.cpus);
  EXPECT_EQ(10, run.duration.value());
  EXPECT_EQ(6000, run.throughput.value());
  EXPECT_EQ(80, run.latency_us.at("p99"));
  EXPECT_EQ(20, run.Meter("cpu_s").value);
  EXPECT_FALSE(run.Meter("energy_j").value);
  EXPECT_EQ("no RAPL on this machine", run.Meter("energy_j").unavailable);
  EXPECT_EQ("the file has no meter cycles", run.Meter("cycles").unavailable);
}

TEST(ResultFile, LinesOfWhatWasNotMeasuredArePassedOver) {
  const std::string left = R"({"format": "weft-bench left out", "version": 1, "why": "no"})";
  const auto runs = Read(left + "\n" + LinesOf({SampleLine("m", 5000, 0)}) + left + "\n");
  ASSERT_TRUE(runs);
  ASSERT_EQ(1u, runs.value().size());
  EXPECT_EQ(2, runs.value()[0].line);
  EXPECT_EQ("a.json: has no results", ErrorOf(left));
}

TEST(ResultFile, AnOpenLoopHasItsRate) {
  nlohmann::json line = SampleLine("m", 1);
  line["load"]["loop"] = "open";
  line["load"]["rate_per_s"] = 50'000;
  line["load"]["threads"] = 1;
  EXPECT_EQ("open loop, 50 k/s, 1 thread, 8 sessions, depth 32", (*Read(line.dump()))[0].load);
  line["setting"] = "no hog";
  EXPECT_EQ("open loop, 50 k/s, 1 thread, 8 sessions, depth 32, no hog",
            (*Read(line.dump()))[0].load);
}

TEST(ResultFile, AModelledFigureIsKnownAsOne) {
  nlohmann::json line = WithEnergy(SampleLine("m", 1), 500, "model");
  line["meters"]["energy_j"]["modelled"] = true;
  EXPECT_TRUE((*Read(line.dump()))[0].Meter("energy_j").modelled);
  EXPECT_FALSE((*Read(line.dump()))[0].Meter("cpu_s").modelled);
}

TEST(ResultFile, ErrorsNameFileAndLine) {
  const std::string good = SampleLine("m", 1).dump() + "\n";
  EXPECT_EQ("a.json:2: not valid JSON", ErrorOf(good + "{\"format\": \n"));
  EXPECT_EQ("a.json:3: not valid JSON", ErrorOf(good + "\nnonsense"));
  EXPECT_EQ("a.json:1: not a result: \"format\" must be \"weft-bench run\"", ErrorOf("{}"));
  EXPECT_EQ("a.json:1: not a result: \"format\" must be \"weft-bench run\"", ErrorOf("[1, 2]"));
  EXPECT_EQ("a.json: has no results", ErrorOf("\n"));
  nlohmann::json line = SampleLine("m", 1);
  line["version"] = 2;
  EXPECT_EQ("a.json:1: it has version 2, but this program reads 1", ErrorOf(line.dump()));
  line = SampleLine("m", 1);
  line["result"].erase("operations_per_s");
  EXPECT_EQ("a.json:1: result.operations_per_s is missing", ErrorOf(line.dump()));
  EXPECT_EQ("a.json:1: result.operations_per_s is not a number",
            ErrorWithout("/result/operations_per_s"));
  EXPECT_EQ("a.json:1: target.name is not a text", ErrorWithout("/target/name"));
  EXPECT_EQ("a.json:1: result.latency_us.all is not an object",
            ErrorWithout("/result/latency_us/all"));
  EXPECT_EQ("a.json:1: machine.cpus is not a number", ErrorWithout("/machine/cpus"));
  EXPECT_EQ("a.json:1: meters.cpu_s has neither a value nor a reason",
            ErrorWithout("/meters/cpu_s"));
  EXPECT_EQ("a.json:1: result.operations_per_s must be above 0, not 0",
            ErrorOf(SampleLine("m", 0).dump()));
}

TEST(ResultFile, OneMachineAFile) {
  EXPECT_EQ("a.json:2: it is of machine b, but line 1 is of a; a file must have one machine",
            ErrorOf(LinesOf({SampleLine("a", 1), SampleLine("b", 1)})));
}

TEST(ResultFile, AFileThatIsNotThere) {
  const auto runs = ReadResultFile("/no/such/file.json");
  ASSERT_FALSE(runs);
  EXPECT_NE(std::string::npos, runs.error().message().find("/no/such/file.json"));
}

}  // namespace
}  // namespace weft::bench
