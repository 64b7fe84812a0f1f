// `weft-sim figure` and `weft-sim sweep`: what they print, write and refuse.

#include "sim/command/figure_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/command/command_test_kit.h"

namespace weft::sim {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSmall =
    " --buckets 1024 --log-mib 1 --ops 300 --fast-forward 200 --l2-kb 64 --seeds 2";

class FigureCommand : public ProgramTest {
 protected:
  Outcome Sim(const std::string& arguments) const { return RunProgram(WEFT_SIM, arguments); }
  // Its folder; 200 operations.
  std::string RecordTrace() const {
    const std::string trace = folder_ / "cuckoo";
    EXPECT_EQ(RunProgram(WEFT_RECORD, "--records 2000 --ops 200 --cores 2 --out " + trace).status,
              0);
    return trace;
  }
};

TEST_F(FigureCommand, RunsAFigureAndWritesItsFiles) {
  const Outcome outcome = Sim("figure 5a --jobs 2 --out " + (folder_ / "out-5a") + kSmall);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("| A1 the best static size is the value's | M2 |"));
  EXPECT_THAT(outcome.out, HasSubstr("48 runs"));
  EXPECT_THAT(outcome.out, HasSubstr("none breaks a rule"));
  for (const char* file : {"figure-5a.csv", "figure-5a.svg", "claims.csv", "figures.jsonl"}) {
    EXPECT_FALSE(TextOf(folder_ / "out-5a/" + file).empty()) << file;
  }
  EXPECT_THAT(outcome.out, HasSubstr(TextOf(folder_ / "out-5a/figures.md")));
  EXPECT_THAT(TextOf(folder_ / "out-5a/figures.jsonl"), HasSubstr("weft-sim figure 5a --jobs 2"));
}

TEST_F(FigureCommand, TheSameAgainIsTheSame) {
  const std::string arguments = std::string("figure 8 --mixes 3") + kSmall + " --out ";
  ASSERT_EQ(Sim(arguments + (folder_ / "a") + " --jobs 1").status, 0);
  ASSERT_EQ(Sim(arguments + (folder_ / "b") + " --jobs 2").status, 0);
  EXPECT_EQ(TextOf(folder_ / "a/figure-8.csv"), TextOf(folder_ / "b/figure-8.csv"));
  EXPECT_EQ(TextOf(folder_ / "a/claims.csv"), TextOf(folder_ / "b/claims.csv"));
}

// A log of 1 MiB is given, so the quick form's 128 aren't.
TEST_F(FigureCommand, QuickLeavesWhatIsGiven) {
  const std::string small = std::string("figure 8 --mixes 3") + kSmall;
  const Outcome plain = Sim(small + " --out " + (folder_ / "plain"));
  const Outcome quick = Sim(small + " --quick --out " + (folder_ / "quick"));
  ASSERT_EQ(quick.status, 0) << quick.err;
  EXPECT_EQ(TextOf(folder_ / "plain/figure-8.csv"), TextOf(folder_ / "quick/figure-8.csv"));
  EXPECT_THAT(quick.err, HasSubstr("16 of 16 runs\n"));  // a mix, 4 cases, 2 popularities, 2 seeds
}

TEST_F(FigureCommand, SweepsOptions) {
  const Outcome outcome =
      Sim(std::string("sweep --source fixedk --pacu insitu --over map=rank-il,row-il "
                      "--over t-insitu=0,30 --one-at-a-time") +
          kSmall);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* row :
       {"| as given |", "| map=rank-il |", "| map=row-il |", "| t-insitu=0 |", "| t-insitu=30 |"}) {
    EXPECT_THAT(outcome.out, HasSubstr(row));
  }
  // The base is rank-il; a baseline each for two maps.
  EXPECT_THAT(outcome.out, HasSubstr("12 runs"));
}

// There is nothing to compare with, and each gain would be 0.
TEST_F(FigureCommand, ASweepWithoutAUnitTellsOfTheRunsThemselves) {
  const std::string arguments =
      "sweep --source fixedk --over map=rank-il,row-il --out " + (folder_ / "figures") + kSmall;
  const Outcome outcome = Sim(arguments);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("no run has a unit (--pacu), so there is no gain.\n"));
  EXPECT_THAT(outcome.out, HasSubstr("|  | M2, cycles |"));
  EXPECT_THAT(outcome.out, ContainsRegex("\n[|] map=row-il [|] [1-9][0-9]*[.][0-9] [|] [1-9]"));
  EXPECT_THAT(outcome.out, HasSubstr("\nWidest 95 % interval of M2: +- "));
  EXPECT_THAT(outcome.out, Not(HasSubstr("1 - L/L0")));
  EXPECT_THAT(outcome.out, HasSubstr("\n4 runs, "));

  // Among others, those without one are what they are held against.
  const Outcome mixed = Sim(std::string("sweep --source fixedk --over pacu=off,insitu") + kSmall);
  EXPECT_THAT(mixed.out, HasSubstr("| pacu=off | 0.0 |"));
}

// Of one option it adds what the values are held against.
TEST_F(FigureCommand, OneOptionAtATimeBesideTheBase) {
  const Outcome outcome = Sim(std::string("sweep --source fixedk --pacu insitu --one-at-a-time "
                                          "--over map=row-il") +
                              kSmall);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("| as given |"));
  EXPECT_THAT(outcome.out, HasSubstr("| map=row-il |"));
}

TEST_F(FigureCommand, RunsRecordedTraces) {
  const Outcome outcome =
      Sim("figure trace-units --fast-forward 0 --seeds 1 --trace " + RecordTrace());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("| cuckoo |"));
}

constexpr const char* kReplayed =
    "\nNo 95 % interval: a recorded trace is replayed the same way each time.\n";

TEST_F(FigureCommand, ATraceThatIsTooShortIsToldWithWhatMendsIt) {
  const std::string trace = RecordTrace();
  const std::string has = trace + ": the trace has 200 operations; ";
  const std::string source = " --source trace:" + trace;
  const std::pair<std::string, std::string> cases[] = {
      {"sweep --over map=rank-il,scheme2" + source,
       "102000 come before the first measured one (--fast-forward 100000, and --warmup 0.1 of "
       "--ops 20000): --ops 0 --fast-forward 0 measures what is there"},
      {"run" + source,
       "200000 come before the first measured one (--warmup 0.1 of --ops 2000000): --ops 0 "
       "measures what is there"},
      {"run --ops 0 --fast-forward 200" + source,
       "(--fast-forward 200): --fast-forward 0 measures what is there"},
      {"figure traces --trace " + trace,
       "(--fast-forward 100000): --fast-forward 0 measures what is there"},
  };
  for (const auto& [arguments, what] : cases) {
    const Outcome outcome = Sim(arguments);
    EXPECT_EQ(outcome.status, 1) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr(has)) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr(what)) << arguments;
  }
  for (const char* command : {"sweep", "run"}) {
    const Outcome outcome = Sim(std::string(command) + " --ops 300 --fast-forward 10" + source);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("the trace ended after 190 operations of the 300 that --ops "
                                       "asks for, after 10 of --fast-forward; --ops 0 plays all"));
  }
}

// The same again tells nothing of how far to believe it.
TEST_F(FigureCommand, ATraceIsReplayedOnce) {
  const std::string trace = RecordTrace();
  const std::string sweep = "sweep --ops 0 --fast-forward 0 --source trace:" + trace +
                            " --pacu insitu --over map=rank-il,scheme2";
  const std::string figure = "figure trace-units --fast-forward 0 --trace " + trace;
  for (const std::string& arguments : {sweep, figure}) {
    const Outcome outcome = Sim(arguments + " --out " + (folder_ / "figures"));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr(arguments == sweep ? "\n4 runs, " : "\n6 runs, "));
    EXPECT_THAT(outcome.out, HasSubstr(kReplayed));
    EXPECT_THAT(outcome.out, Not(HasSubstr("+-")));
  }
  EXPECT_THAT(TextOf(folder_ / "figures/figure-sweep.csv"), HasSubstr(",map=rank-il,gain,1,"));

  const std::string run = "run --ops 0 --source trace:" + trace;
  for (const std::string& arguments :
       {sweep + " --seeds 2", sweep + " --seed 2", figure + " --seeds 2", figure + " --seed 2",
        run + " --seed 2", run + " --pacu oracle:1 --seed 2", sweep + " --seed 1",
        figure + " --seed 1", run + " --seed 1"}) {
    const Outcome outcome = Sim(arguments);
    EXPECT_EQ(outcome.status, 1) << arguments;
    EXPECT_THAT(outcome.err,
                HasSubstr(" changes nothing: a recorded trace is replayed the same way"))
        << arguments;
  }
}

// The oracle draws whether it is right, on a trace as well.
TEST_F(FigureCommand, AUnitThatDrawsRunsWithEachSeed) {
  const std::string trace = RecordTrace();
  const std::string source = " --ops 0 --source trace:" + trace;
  const Outcome sweep =
      Sim("sweep --fast-forward 0 --seeds 2 --over pacu=insitu,oracle:0.5" + source);
  ASSERT_EQ(sweep.status, 0) << sweep.err;
  EXPECT_THAT(sweep.out, HasSubstr("\n4 runs, "));  // without a unit, in-situ, and the oracle twice
  EXPECT_THAT(sweep.out, HasSubstr("of the ratio. Points that replay a trace have none."));
  EXPECT_THAT(sweep.out, Not(HasSubstr("+- 0.0000 ")));
  const auto units = [&](const std::string& seed) {
    return nlohmann::json::parse(Sim("run --pacu oracle:0.5 --seed " + seed + source).out)["units"];
  };
  EXPECT_NE(units("1"), units("2"));

  // Nine accuracies draw, and that of all doesn't.
  const Outcome figure = Sim("figure trace-accuracy --fast-forward 0 --seeds 2 --trace " + trace +
                             " --out " + (folder_ / "figures"));
  ASSERT_EQ(figure.status, 0) << figure.err;
  EXPECT_THAT(figure.out, HasSubstr("\n20 runs, "));
  EXPECT_THAT(TextOf(folder_ / "figures/figure-trace-accuracy.csv"), HasSubstr(",cuckoo,90,2,"));
  EXPECT_THAT(TextOf(folder_ / "figures/figure-trace-accuracy.csv"), HasSubstr(",cuckoo,100,1,"));
}

TEST_F(FigureCommand, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"figure 4", "figure '4' is not one of 5a, 5b"},
      {"figure traces", "it needs --trace"},
      {"figure 5a --over noc=slow", "--over noc=slow"},
      {"figure 5a --over plain-cpi=0.3", "CPI 0.3"},
      {"figure 5a --cmd-trace x", "--cmd-trace works only with weft-sim run"},
      {"sweep --epoch 1000", "--epoch works only with weft-sim run"},
      {"figure 5a --over seed=1,2", "--over seed: it does not change"},
      {"sweep --over no-skip=true", "--over no-skip"},
      {"figure 8 --over pop=zipf:0.8", "pop=zipf:0.8: figure 8 sets it by itself"},
      {"figure 8 9 --quick --pacu insitu", "pacu=insitu: figure 8, 9 sets it by itself"},
      {"figure 5a --t-ht 30", "t-ht=30: figure 5a sets it by itself"},
      {"figure 5a --t-ht 10", "t-ht=10: figure 5a sets it by itself"},
      {"figure 8 --pop uniform", "pop=uniform: figure 8 sets it by itself"},
      {"figure 8 --over pop=uniform", "pop=uniform: figure 8 sets it by itself"},
      {"figure 5a --pacu off", "pacu=off: figure 5a sets it by itself"},
      {"figure map --map rank-il", "map=rank-il: figure map sets it by itself"},
      {"figure 5a --epoch 0", "--epoch works only with weft-sim run"},
      {"sweep --over map=rank-il,row-il --map scheme2",
       "--map changes nothing: all runs have values of --over map"},
      {"figure 5a 5b --mixes 3", "--mixes changes nothing: figure 5a, 5b has no mixes"},
      {"figure 5a --trace x", "--trace changes nothing: figure 5a plays no traces"},
      {"figure 5a --one-at-a-time", "--one-at-a-time changes nothing: there is no --over"},
      {"sweep --one-at-a-time", "--one-at-a-time changes nothing: there is no --over"},
      {"sweep --one-at-a-time --over map=rank-il,row-il",
       "--one-at-a-time changes nothing: there is only one --over, and its map=rank-il is the "
       "given value"},
      {"figure 5a --one-at-a-time --over l2-kb=4096", "its l2-kb=4096 is the given value"},
      {"figure map --over map=rank-il,row-il", "map=rank-il: figure map sets it by itself"},
      {"figure trace-size --trace /none --seeds 1", "/none/core-0.trace"},
      {"sweep --source redis", "source 'redis'"},
  };
  for (const auto& [arguments, what] : cases) {
    const Outcome outcome = Sim(arguments);
    EXPECT_EQ(outcome.status, 1) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr(what)) << arguments;
    EXPECT_THAT(outcome.out, Not(HasSubstr("holds"))) << arguments;
  }
  EXPECT_GT(Sim("figure").status, 1);
  EXPECT_GT(Sim("figure 5a --mixes 13").status, 1);
}

}  // namespace
}  // namespace weft::sim
