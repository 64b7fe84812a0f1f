// `weft-sim gen` and `weft-sim trace` as a command line gives them.

#include "sim/command/trace_command.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/folder_test_kit.h"
#include "sim/base/text_test_kit.h"
#include "sim/command/command_test_kit.h"
#include "sim/command/gen_command.h"

namespace weft::sim {
namespace {

using testing::HasSubstr;

Status Gen(const std::string& arguments) {
  const Result<GenOptions> options = ParseOptions(AddGen, arguments);
  return options ? RunGen(options.value()) : options.error();
}

Status Trace(const std::string& arguments) {
  const Result<TraceOptions> options = ParseOptions(AddTrace, arguments);
  return options ? RunTrace(options.value()) : options.error();
}

nlohmann::json Info(const std::string& arguments) {
  testing::internal::CaptureStdout();
  const Status status = Trace("info " + arguments);
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(status.ok()) << status.ToString();
  return nlohmann::json::parse(printed, nullptr, false);
}

TEST(TraceCommand, SaysWhatWasGenerated) {
  const base::TestFolder folder;
  const Status status =
      Gen("--mix 12 --util exact:3 --buckets 1024 --cores 4 --ops 2000 --out " + folder.path());
  ASSERT_TRUE(status.ok()) << status.ToString();
  const nlohmann::json facts = Info(folder.path());
  EXPECT_EQ(facts["cores"], 4);
  EXPECT_EQ(facts["gets"].get<int>() + facts["puts"].get<int>(), 2000);
  EXPECT_NEAR(facts["puts"].get<double>(), 0.488 * 2000, 120);
  EXPECT_EQ(facts["instructions"], 2000 * 5000);
  EXPECT_EQ(facts["records"]["op_end"], 2000);
  EXPECT_EQ(facts["records"]["slot"], facts["puts"]);
  EXPECT_EQ(facts["records"]["hit"], 2000);
  EXPECT_EQ(facts["accesses"]["stack"], 2000 * 8);
  EXPECT_EQ(facts["hits_in_overflow_buckets"], 0);
  EXPECT_EQ(facts["index"]["objects"], 3 * 1024);
  EXPECT_EQ(facts["index"]["chained_buckets"], 0);
  EXPECT_EQ(facts["index"]["buckets_by_objects"], (std::vector<int>{0, 0, 0, 1024, 0, 0, 0, 0, 0}));
  EXPECT_EQ(facts["store"]["object_overhead_bytes"], 52);
}

TEST(TraceCommand, CountsOverflow) {
  const base::TestFolder folder;
  ASSERT_TRUE(Gen("--mix fixed:256 --util poisson:9 --buckets 512 --cores 2 --ops 1000 --out " +
                  folder.path())
                  .ok());
  const nlohmann::json facts = Info(folder.path());
  EXPECT_GT(facts["index"]["chained_buckets"], 200);
  EXPECT_GT(facts["hits_in_overflow_buckets"], 100);
  EXPECT_EQ(facts["puts"], 0);
}

TEST(TraceCommand, SameSeedSameTrace) {
  const base::TestFolder folder;
  const auto text = [&](const std::string& seed, const std::string& name) {
    EXPECT_TRUE(Gen("--util exact:2 --buckets 512 --cores 1 --ops 50 --seed " + seed + " --out " +
                    (folder / name))
                    .ok());
    return TextOf((folder / name) + "/core-0.trace");
  };
  const std::string first = text("7", "a");
  EXPECT_GT(first.size(), 50u * 20 * 24);
  EXPECT_EQ(first, text("7", "b"));
  EXPECT_NE(first, text("8", "c"));
}

TEST(TraceCommand, ConvertsToTextAndBack) {
  const base::TestFolder folder;
  ASSERT_TRUE(
      Gen("--util exact:2 --buckets 512 --cores 2 --ops 100 --out " + (folder / "own")).ok());
  for (const char* format : {"dramsim3", "ramulator2-o3", "ramulator2-ls", "csv"}) {
    Status status = Trace(std::string("convert --to ") + format + " --core 1 " + (folder / "own") +
                          " " + (folder / "text"));
    ASSERT_TRUE(status.ok()) << status.ToString();
    status = Trace(std::string("convert --from ") + format + " --op-accesses 10 " +
                   (folder / "text") + " " + (folder / "again"));
    ASSERT_TRUE(status.ok()) << status.ToString();
    const nlohmann::json text =
        Info(std::string("--from ") + format + " --op-accesses 10 " + (folder / "text"));
    const nlohmann::json again = Info(folder / "again");
    EXPECT_EQ(text, again) << format;
    EXPECT_EQ(again["cores"], 1);
    EXPECT_GT(again["gets"], 80);  // of ten accesses each
  }
}

TEST(TraceCommand, SaysWhatIsWrong) {
  const base::TestFolder folder;
  const std::string own = folder / "own";
  ASSERT_TRUE(Gen("--util exact:2 --buckets 512 --cores 1 --ops 9 --out " + own).ok());
  const std::string csv = folder / "csv";
  ASSERT_TRUE(Trace("convert --to csv " + own + " " + csv).ok());
  const std::pair<std::string, const char*> traces[] = {
      {"info " + (folder / "none"), "none/core-0.trace: No such file"},
      {"info --from pin " + own, "format 'pin' is not one of"},
      {"info --from csv " + own + "/core-0.trace", "core-0.trace:1: a line must be"},
      {"convert --to pin " + own + " x", "format 'pin' is not one of"},
      {"convert --to csv --core 1 " + own + " x", "core 1 does not exist: the trace has 1"},
      {"convert --to csv " + own + " /proc/none/x", "open /proc/none/x"},
      {"convert --from csv --op-accesses 0 x y", "must have at least one access"},
      {"convert " + own, "required"},
      {"convert " + own + " " + own + "/", "this is the input trace"},
      {"convert --to csv " + own + " " + own + "/core-0.trace", "this is the input trace"},
      {"convert --from csv --to csv " + csv + " " + csv, "this is the input trace"},
      {"info --memory-gib 0 x", "memory-gib"},
      {"", "subcommand"},
  };
  for (const auto& [arguments, what] : traces) {
    const Status status = Trace(arguments);
    EXPECT_FALSE(status.ok()) << arguments;
    EXPECT_THAT(status.ToString(), HasSubstr(what)) << arguments;
  }
  EXPECT_EQ(Info(own)["cores"], 1);  // none of them has harmed it
  const std::pair<const char*, const char*> workloads[] = {
      {"--mix 13", "mix '13'"},
      {"--mix fixed:5000", "values of 5000 bytes"},
      {"--util exact:9", "utilization 'exact:9'"},
      {"--util poisson:0", "utilization 'poisson:0'"},
      {"--util full", "utilization 'full' is not one"},
      {"--pop zipf", "popularity 'zipf' is not one"},
      {"--pop zipf:x", "popularity 'zipf:x': theta"},
      {"--pop latest:0", "popularity 'latest:0': theta"},
      {"--obj-pf lt100", "object prefetch 'lt100'"},
      {"--swpf never", "software prefetches 'never'"},
      {"--source redis", "source 'redis' is not one"},
      {"--source fixedk --util natural", "must be exact:K"},
      {"--source fixedk --mix 1", "must be fixed:BYTES"},
      {"--ops 0", "no operations"},
      {"--ops -1", "ops"},
      {"--other-per-op -1", "other-per-op"},
      {"--log-mib 20000", "does not fit 16384 MiB"},
      {"--memory-gib 1", "don't fit"},
      {"--buckets 0", "0 buckets"},
  };
  for (const auto& [arguments, what] : workloads) {
    const Status status = Gen(std::string(arguments) + " --out " + (folder / "out"));
    EXPECT_FALSE(status.ok()) << arguments;
    EXPECT_THAT(status.ToString(), HasSubstr(what)) << arguments;
  }
}

}  // namespace
}  // namespace weft::sim
