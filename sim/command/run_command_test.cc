// `weft-sim run` but for its source: options, the machine that they make, and what is written.

#include "sim/command/run_command.h"

#include <algorithm>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/folder_test_kit.h"
#include "sim/base/text_test_kit.h"
#include "sim/command/command_test_kit.h"
#include "sim/dram/command_checker.h"
#include "sim/dram/command_trace.h"
#include "sim/machine/machine_test_kit.h"
#include "sim/trace/file_trace.h"

namespace weft::sim {
namespace {

using testing::HasSubstr;

Result<RunOptions> Parse(const std::string& arguments) { return ParseOptions(AddRun, arguments); }

RunParts SmallParts() {
  return {.make_source = []() -> Result<std::unique_ptr<TraceSource>> {
            return std::unique_ptr<TraceSource>(
                new ListSource(RandomRecords(TestSeed(), 4, 200, 60, 1 << 16)));
          },
          .make_units = {},
          .config = {{"source", "test"}}};
}

TEST(RunCommand, OptionsMakeTheMachine) {
  const auto options = Parse(
      "--plain-cpi 0.5 --window 64 --mshrs 8 --l2-kb 1024 --l2-lat 20 --noc busy --dest mcbuf "
      "--filter oracle --demand-first --drop-age 200 --pfq 16 --no-skip --map row-il "
      "--writes buffer --ranks 2");
  ASSERT_TRUE(options) << options.error().ToString();
  const auto memory = MemoryOf(options.value().memory);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory.value().preset.organization.channels, 2);
  const auto machine = MachineOf(options.value(), memory.value());
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine.value().core.plain_slots, 2);
  EXPECT_EQ(machine.value().core.window, 64);
  EXPECT_EQ(machine.value().l1.mshrs, 8);
  EXPECT_EQ(machine.value().l2.shape.kilobytes, 1024);
  EXPECT_EQ(machine.value().l2.bank_cycles, 20);
  EXPECT_TRUE(machine.value().mesh.is_busy);
  EXPECT_EQ(machine.value().port.buffer_lines, 64);
  EXPECT_EQ(machine.value().port.drop_age, 200);
  EXPECT_EQ(machine.value().port.staging_max, 16);
  EXPECT_TRUE(machine.value().port.demand_first);
  EXPECT_EQ(machine.value().filter, PrefetchFilter::kOracle);
  EXPECT_FALSE(machine.value().skips);
  EXPECT_EQ(machine.value().interleave, Interleave::kRow);
  EXPECT_EQ(machine.value().controller.writes, WritePolicy::kBuffer);
}

TEST(RunCommand, WrongOptionsAreNamed) {
  for (const char* arguments :
       {"--noc slow", "--dest l3", "--filter all", "--ops -1", "--drop-age -1", "--no-such",
        "--l2-kb 1099511627776", "--mshrs 2000000000", "--l2-lat 2147483647",
        "--epoch 9223372036854775807", "--drop-age 9223372036854775807",
        "--fast-forward 9223372036854775807", "--ops 9223372036854775807"}) {
    EXPECT_FALSE(Parse(arguments)) << arguments;
  }
  const std::pair<const char*, const char*> cases[] = {
      {"--plain-cpi 0.3", "CPI 0.3: it must be"},
      {"--plain-cpi nan", "CPI nan: it must be"},
      {"--warmup 1", "warm-up: 1 is not"},
      {"--warmup -0.1", "warm-up: -0.1 is not"},
      {"--ops 3", "fewer operations than cores"},
      {"--preset ddr9", "ddr9"},
      {"--l2-kb 1000", "L2: 1000 KB"},
      {"--l1-ways 0", "L1: "},
      {"--window 1", "window"},
      {"--pfq 0", "staging"},
      {"--channels 3", "channels: 3"},
      {"--ops 900 --warmup 0.9999", "no operation is left to measure"},
      {"--ops 2000 --warmup 0.9", "the trace has 800 operations; 1800 come before"},
      {"--cmd-trace /proc/none/x", "open /proc/none/x.0"},
  };
  for (const auto& [arguments, what] : cases) {
    const auto options = Parse(arguments);
    ASSERT_TRUE(options) << arguments;
    const Status status = RunOn(options.value(), SmallParts());
    EXPECT_FALSE(status.ok()) << arguments;
    EXPECT_THAT(std::string(status.message()), HasSubstr(what)) << arguments;
  }
}

TEST(RunCommand, WritesItsReportAndCommands) {
  const base::TestFolder folder;
  const auto options = Parse("--ops 0 --epoch 500 --cmd-trace " + folder.path() +
                             "/commands --out " + folder.path());
  ASSERT_TRUE(options);
  testing::internal::CaptureStdout();
  const Status status = RunOn(options.value(), SmallParts());
  const std::string printed = testing::internal::GetCapturedStdout();
  ASSERT_TRUE(status.ok()) << status.ToString();
  const std::string text = TextOf(folder / "summary.json");
  EXPECT_THAT(printed, HasSubstr(text));
  const auto summary = nlohmann::json::parse(text);
  EXPECT_EQ(summary["config"]["source"], "test");
  EXPECT_EQ(summary["config"]["seed"], 1);
  // All 800 are played, and a tenth of them is warm-up.
  EXPECT_EQ(summary["measured"]["ops"], 720);
  for (const char* channel : {"0", "1"}) {
    std::ifstream in(folder.path() + "/commands." + channel);
    const auto commands = ReadCommandTrace(in, channel);
    ASSERT_TRUE(commands);
    EXPECT_GT(commands.value().size(), 1000u);
    const Preset preset = PresetNamed(kDefaultPreset);
    CommandChecker checker(preset.organization, preset.timing, true);
    for (const IssuedCommand& issued : commands.value()) checker.Check(issued);
    EXPECT_TRUE(checker.violations().empty());
  }
}

TEST(RunCommand, ReportsWhatItsUnitsCounted) {
  const base::TestFolder folder;
  const auto options = Parse("--ops 0 --out " + folder.path());
  ASSERT_TRUE(options);
  for (const char* pacu : {"hittable", "off"}) {  // rows of the same columns
    PrefetchOptions prefetch = {.pacu = pacu};
    RunParts parts = SmallParts();
    AddUnits(options.value(), prefetch, &parts);
    testing::internal::CaptureStdout();
    const Status status = RunOn(options.value(), parts);
    testing::internal::GetCapturedStdout();
    ASSERT_TRUE(status.ok()) << status.ToString();
    const auto summary = nlohmann::json::parse(TextOf(folder / "summary.json"));
    const bool is_on = std::string(pacu) != "off";
    EXPECT_EQ(summary["config"]["pacu"], pacu);
    EXPECT_EQ(summary["units"]["hit_table_bytes"], is_on ? 64 * 3 / 8 : 0);
    EXPECT_EQ(summary["units"]["hits"] > 600, is_on);
  }
  std::ifstream csv(folder.path() + "/runs.csv");
  std::string header;
  std::getline(csv, header);
  EXPECT_THAT(header, HasSubstr(",unit_address_accuracy,"));
  const auto commas = std::count(header.begin(), header.end(), ',');
  int rows = 0;
  for (std::string row; std::getline(csv, row); ++rows) {
    EXPECT_EQ(std::count(row.begin(), row.end(), ','), commas);
  }
  EXPECT_EQ(rows, 2);
}

// Behind the seed, where a test's source printed it.
nlohmann::json SummaryIn(const std::string& printed) {
  return nlohmann::json::parse(printed.substr(printed.find('{')));
}

TEST(RunCommand, ATraceInAFolderPlaysAsItsSource) {
  const base::TestFolder folder;
  auto options = Parse("--ops 0 --source trace:" + (folder / "trace"));
  ASSERT_TRUE(options);
  const auto source = SmallParts().make_source();
  ASSERT_TRUE(source);
  const Status written = WriteTrace(*source.value(), folder / "trace", UINT64_MAX);
  ASSERT_TRUE(written.ok()) << written.ToString();

  const PrefetchOptions prefetch = {.pacu = "hittable"};
  RunParts parts = SmallParts();
  AddUnits(options.value(), prefetch, &parts);
  testing::internal::CaptureStdout();
  Status status = RunOn(options.value(), parts);
  auto expected = SummaryIn(testing::internal::GetCapturedStdout());
  ASSERT_TRUE(status.ok()) << status.ToString();
  testing::internal::CaptureStdout();
  status = RunSource(options.value(), prefetch);
  auto summary = SummaryIn(testing::internal::GetCapturedStdout());
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(summary["config"]["source"], options.value().workload.source);
  EXPECT_GT(summary["units"]["hits"], 600);
  for (auto* figures : {&expected, &summary}) {
    (*figures).erase("config");
    EXPECT_EQ(figures->erase("host"), 1u);  // what the simulator took
  }
  EXPECT_EQ(summary, expected);
}

TEST(RunCommand, PlaysWhatItGenerates) {
  const base::TestFolder folder;
  for (const char* source : {"ramcloud --mix 12 --util poisson:3", "fixedk --util exact:2"}) {
    const auto options =
        Parse("--ops 2000 --buckets 1024 --cores 4 --out " + folder.path() + " --source " + source);
    ASSERT_TRUE(options) << options.error().ToString();
    testing::internal::CaptureStdout();
    const Status status = RunSource(options.value(), {.pacu = "insitu", .pscu = "exact"});
    const auto summary = SummaryIn(testing::internal::GetCapturedStdout());
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(summary["measured"]["ops"], 1800);
    EXPECT_EQ(summary["config"]["buckets"], 1024);
    EXPECT_GT(summary["units"]["addresses_right"], 100);
  }
}

TEST(RunCommand, SaysWhyASourceCannotBeRead) {
  const base::TestFolder folder;
  const auto said = [&](const std::string& source) {
    const auto options = Parse("--ops 0 --source " + source);
    return RunSource(options.value(), {}).ToString();
  };
  EXPECT_THAT(said("redis"),
              HasSubstr("source 'redis' is not one of ramcloud, fixedk, trace:FOLDER"));
  EXPECT_THAT(said("trace:" + (folder / "none")), HasSubstr("none/core-0.trace: No such file"));
  ListSource source({{{.addr = 64, .size = 8}, {.addr = 1 << 20, .size = 8, .dep = 2}}});
  ASSERT_TRUE(WriteTrace(source, folder.path(), UINT64_MAX).ok());
  EXPECT_THAT(said("trace:" + folder.path()),
              HasSubstr("core-0.trace: record 2: it waits for the access 2 before it"));
}

TEST(RunCommand, WrongUnitsAreNamed) {
  const auto options = Parse("--ops 0");
  ASSERT_TRUE(options);
  const PrefetchOptions prefetch = {.pacu = "oracle:2"};
  RunParts parts = SmallParts();
  AddUnits(options.value(), prefetch, &parts);
  const Status status = RunOn(options.value(), parts);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("--pacu 'oracle:2'"));
}

}  // namespace
}  // namespace weft::sim
