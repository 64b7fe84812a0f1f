// `weft-record` as a user meets it: what it prints, its exit status, and that `weft-sim run` plays
// what it wrote.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/command/command_test_kit.h"

namespace weft::sim {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class RecordCommandTest : public ProgramTest {
 protected:
  Outcome Record(const std::string& arguments) const { return RunProgram(WEFT_RECORD, arguments); }
  // Plays the trace in `trace`, on two channels.
  json Play(const std::string& arguments) const {
    const Outcome run =
        RunProgram(WEFT_SIM, "run --ops 0 --source trace:" + (folder_ / "trace") + " " + arguments);
    EXPECT_EQ(run.status, 0) << run.err;
    return json::parse(run.out, nullptr, false);
  }
};

TEST_F(RecordCommandTest, WhatIsWrittenIsPlayedAndTheUnitChoosesRight) {
  for (const char* index : {"cuckoo", "set-associative"}) {
    SCOPED_TRACE(index);
    const Outcome record =
        Record(std::string("--records 200000 --ops 4000 --batch 1 --no-prefetch --load 0.4 "
                           "--instr-per-op 0 --cores 2 --index ") +
               index + " --out " + (folder_ / "trace"));
    ASSERT_EQ(record.status, 0) << record.err;
    EXPECT_THAT(record.err, HasSubstr("gaps assumed"));
    const json summary = json::parse(record.out, nullptr, false);
    ASSERT_TRUE(summary.is_object()) << record.out;
    EXPECT_EQ(summary["gets"], 4000);
    EXPECT_EQ(summary["records"]["op_end"], 4000);

    const json off = Play("--warmup 0");
    const json in_situ = Play("--warmup 0 --pacu insitu");
    EXPECT_EQ(off["measured"]["ops"], 4000);
    const auto right = in_situ["units"]["addresses_right"].get<int64_t>();
    EXPECT_GT(right, 3000) << in_situ.dump();
    EXPECT_LT(in_situ["units"]["addresses_wrong"].get<int64_t>(), 10);
    const char* const of_misses = "/cores/m2_misses_cycles/mean";
    EXPECT_LT(in_situ[json::json_pointer(of_misses)].get<double>(),
              0.97 * off[json::json_pointer(of_misses)].get<double>());
  }
}

TEST_F(RecordCommandTest, EveryOptionHasAText) {
  EXPECT_THAT(
      OptionsWithoutText("  --a INT                      text\n"
                         "  --b INT=5                    \n"
                         "  --c TEXT:{one,another}=another\n"
                         "  --d TEXT:{one,another}=another\n"
                         "                               text\n"
                         "  --e\n"
                         "  --f TEXT:{one,another}=other text\n"),
      testing::ElementsAre(HasSubstr("--b"), HasSubstr("--c"), HasSubstr("--e"), HasSubstr("--f")));
  const Outcome record = Record("--help");
  EXPECT_THAT(record.out, HasSubstr("--key-bytes"));
  EXPECT_THAT(OptionsWithoutText(record.out), testing::IsEmpty());
  for (const char* command : {"dram", "check", "memory", "run", "gen", "figure", "sweep",
                              "trace info", "trace convert"}) {
    const Outcome help = RunProgram(WEFT_SIM, std::string(command) + " --help");
    EXPECT_THAT(help.out, HasSubstr("Options:")) << command;
    EXPECT_THAT(OptionsWithoutText(help.out), testing::IsEmpty()) << command;
    const Outcome by_command = RunProgram(WEFT_SIM, std::string("help ") + command);
    EXPECT_EQ(by_command.status, 0) << command;
    EXPECT_EQ(by_command.out, help.out) << command;
  }
  EXPECT_THAT(RunProgram(WEFT_SIM, "help").out, HasSubstr("weft-sim help NAME"));
  const Outcome none = RunProgram(WEFT_SIM, "help rnu");
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("weft-sim: unknown command 'rnu': did you mean 'run'?"));
}

TEST_F(RecordCommandTest, WrongOptionsExitWith1AndSayWhy) {
  const std::pair<const char*, const char*> cases[] = {
      {"--batch 33", "weft-record: invalid argument: batch: 33 is not from 1 to 32"},
      {"--values 12x", "weft-record: invalid argument: values: '12x'"},
      {"--records 1", "weft-record: invalid argument: records: 1 is not"},
      {"--memory-mb 16 --records 200000", "weft-record: no memory: "},
      {"--ops 10 --out /proc/none", "weft-record: i/o error: "},
  };
  for (const auto& [arguments, why] : cases) {
    const Outcome outcome = Record(arguments);
    EXPECT_EQ(outcome.status, 1) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr(why)) << arguments;
  }
}

}  // namespace
}  // namespace weft::sim
