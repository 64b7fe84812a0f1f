#include "bench/cost/command_line.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include "bench/cost/sample_results_test_kit.h"

namespace weft::bench {
namespace {

CompareOptions Parsed(const std::string& line) {
  CLI::App app;
  CompareOptions options;
  AddCompare(&app, &options);
  try {
    app.parse(line);
  } catch (const CLI::Error& error) {
    ADD_FAILURE() << line << ": " << error.what();
  }
  return options;
}

TEST(CompareCommandLine, DefaultsAreThePapers) {
  const CompareOptions options = Parsed("a.json b.json");
  EXPECT_EQ((std::vector<std::string>{"a.json", "b.json"}), options.files);
  EXPECT_EQ(100e6, options.target_throughput_per_s);
  EXPECT_EQ((std::vector<double>{3, 5}), options.lifetimes_years);
  EXPECT_EQ((std::vector<double>{0.07, 0.25}), options.electricity_dollars_per_kwh);
}

// Files may follow any option: lists do not swallow them.
TEST(CompareCommandLine, FilesMayFollowLists) {
  const CompareOptions options = Parsed(
      "--price 1000,3000 a.json --lifetime 4 --server a=100,1,2 --server b=200 arm=b.json "
      "--electricity 0.1 --target-throughput 5e6 --utilization 0.5 --best-load");
  EXPECT_EQ((std::vector<std::string>{"a.json", "arm=b.json"}), options.files);
  EXPECT_EQ((std::vector<double>{1000, 3000}), options.prices);
  EXPECT_EQ((std::vector<double>{4}), options.lifetimes_years);
  EXPECT_EQ((std::vector<std::string>{"a=100,1,2", "b=200"}), options.servers);
  EXPECT_EQ((std::vector<double>{0.1}), options.electricity_dollars_per_kwh);
  EXPECT_EQ(5e6, options.target_throughput_per_s);
  EXPECT_EQ(0.5, options.utilization);
  EXPECT_TRUE(options.best_load);
}

TEST(CompareCommandLine, ServerSpecs) {
  const auto full = ParseServerSpec("s4=3000,104,236.5");
  ASSERT_TRUE(full);
  EXPECT_EQ("s4", full.value().name);
  EXPECT_EQ(Dollars(3'000), *full.value().price);
  EXPECT_EQ(Watts(104), *full.value().idle);
  EXPECT_EQ(Watts(236.5), *full.value().busy);
  EXPECT_FALSE(ParseServerSpec("s4=3000").value().busy);
  EXPECT_FALSE(ParseServerSpec("s4=,104,236").value().price);
  for (const char* bad : {"s4", "=1", "s4=", "s4=1,2", "s4=1,2,3,4", "s4=x", "s4=-1,2,3",
                          "s4=1,nan,3", "s4=1,,3", "s4=1,300,200", "s4=1 ,2,3"}) {
    const auto spec = ParseServerSpec(bad);
    ASSERT_FALSE(spec) << bad;
    EXPECT_EQ(Code::kInvalidArgument, spec.error().code());
    EXPECT_NE(std::string::npos, spec.error().message().find(bad));
  }
}

TEST(CompareCommandLine, BadNumbersAreNamed) {
  const auto error = [](const std::string& line) {
    return std::string(RunCompare(Parsed("a.json " + line)).message());
  };
  EXPECT_NE(std::string::npos, error("--target-throughput 0").find("--target-throughput"));
  EXPECT_NE(std::string::npos, error("--price -1").find("--price"));
  EXPECT_NE(std::string::npos, error("--lifetime 0").find("--lifetime"));
  EXPECT_NE(std::string::npos, error("--electricity -0.1").find("--electricity"));
  EXPECT_NE(std::string::npos, error("--utilization 80").find("--utilization"));
  EXPECT_EQ(Code::kIoError, RunCompare(Parsed("/no/such/a.json")).code());
}

class CompareFilesTest : public testing::Test {
 protected:
  CompareFilesTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weft_cost_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~CompareFilesTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  std::string folder_;
};

TEST_F(CompareFilesTest, PrintsATableAndWritesJson) {
  const std::string a = Write("a.json", LinesOf({WithEnergy(SampleLine("m", 1e6), 1'000)}));
  const std::string b = Write("b.json", LinesOf({WithEnergy(SampleLine("n", 2e6), 1'500)}));
  const std::string json = folder_ + "/out.json";
  testing::internal::CaptureStdout();
  const Status status = RunCompare(Parsed("--price 1000 --json " + json + " " + a + " arm=" + b));
  const std::string text = testing::internal::GetCapturedStdout();
  ASSERT_TRUE(status.ok()) << status.ToString();
  for (const char* expected : {"throughput, op/s", "latency p99, us", "operations per joule",
                               "servers for the target", "a / arm", "break-even: a at $1000"})
    EXPECT_NE(std::string::npos, text.find(expected)) << expected << " in\n" << text;
  std::ifstream file(json);
  const auto written = nlohmann::json::parse(file, nullptr, false);
  ASSERT_TRUE(written.is_object());
  EXPECT_EQ("arm", written["cases"][0]["servers"][1]["server"]);
}

TEST_F(CompareFilesTest, ErrorsOfAFileNameItsLine) {
  const std::string bad = Write("bad.json", SampleLine("m", 1).dump() + "\n{\"format\":\n");
  EXPECT_EQ(bad + ":2: not valid JSON", RunCompare(Parsed(bad)).message());
}

TEST_F(CompareFilesTest, TwoFilesOfOneName) {
  const std::string a = Write("a.json", SampleLine("m", 1).dump() + "\n");
  EXPECT_NE(std::string::npos,
            RunCompare(Parsed(a + " " + a)).message().find("two files have the name a"));
  const std::string full = "--json /no/such/folder/out.json " + a;
  testing::internal::CaptureStdout();
  EXPECT_EQ(Code::kIoError, RunCompare(Parsed(full)).code());
  testing::internal::GetCapturedStdout();
}

}  // namespace
}  // namespace weft::bench
