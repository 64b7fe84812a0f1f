#include "sim/figure/runner.h"

#include <algorithm>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/figure/figure_test_kit.h"
#include "sim/figure/setting.h"

namespace weft::sim {
namespace {

using testing::HasSubstr;

Case WithPacu(const char* pacu) { return WithUnit(SmallCase(), pacu, "exact"); }

void ExpectSame(const RunFigures& a, const RunFigures& b) {
  EXPECT_EQ(a.m1_cycles, b.m1_cycles);
  EXPECT_EQ(a.m2_cycles, b.m2_cycles);
  EXPECT_EQ(a.m3_cycles, b.m3_cycles);
  EXPECT_EQ(a.op_cycles, b.op_cycles);
  EXPECT_EQ(a.ops_per_second, b.ops_per_second);
  EXPECT_EQ(a.nj_per_op, b.nj_per_op);
  EXPECT_EQ(a.requests, b.requests);
  EXPECT_EQ(a.prefetch.outcomes, b.prefetch.outcomes);
  EXPECT_EQ(a.units, b.units);
}

TEST(Runner, AJobsRunIsASingleRun) {
  Runner runner({.jobs = 1, .seeds = 2, .first_seed = 7});
  const Case of = WithPacu("insitu");
  ASSERT_TRUE(runner.Run({of}).ok());
  RunOptions options = of.run;
  options.seed = 8;  // the second
  const auto parts = PartsOf(options, of.prefetch);
  ASSERT_TRUE(parts);
  const auto run = Simulate(options, parts.value());
  ASSERT_TRUE(run);
  const RunFigures& figures = runner.Of(of)[1];
  EXPECT_EQ(figures.m2_cycles, run.value().cores.misses.value());
  EXPECT_EQ(figures.m1_cycles, run.value().cores.reads.value());
  EXPECT_EQ(figures.ops_per_second, run.value().ops_per_second());
  EXPECT_EQ(figures.requests, run.value().requests);
  EXPECT_GT(figures.units.addresses_right, 100);
  EXPECT_GT(figures.nj_per_op, 0);
}

// The order of runs, who runs them, and stores that runs share change nothing.
TEST(Runner, AsManyJobsAsYouLike) {
  std::vector<Case> cases;
  for (const int value : {128, 512}) {
    for (const char* pacu : {"off", "insitu", "exhausted"}) {
      cases.push_back(WithUnit(WithFixed(SmallCase(), value, 3), pacu, "exact"));
      cases.push_back(WithUnit(WithMix(SmallCase(), 12, "natural"), pacu, "dynamic"));
    }
  }
  Runner one({.jobs = 1, .seeds = 3});
  Runner four({.jobs = 4, .seeds = 3, .commands_checked = 0});
  ASSERT_TRUE(one.Run(cases).ok());
  std::reverse(cases.begin(), cases.end());
  ASSERT_TRUE(four.Run(cases).ok());
  for (const Case& of : cases) {
    for (size_t seed = 0; seed < 3; ++seed) ExpectSame(one.Of(of)[seed], four.Of(of)[seed]);
    EXPECT_NE(one.Of(of)[0].m2_cycles, one.Of(of)[1].m2_cycles);
  }
  EXPECT_GT(one.commands_checked(), 1000);
  EXPECT_EQ(four.commands_checked(), 0);
}

TEST(Runner, RunsNothingTwice) {
  Runner runner({.jobs = 2, .seeds = 2});
  ASSERT_TRUE(runner.Run({WithPacu("off"), WithPacu("insitu"), WithPacu("off")}).ok());
  EXPECT_EQ(runner.runs(), 4);
  ASSERT_TRUE(runner.Run({WithPacu("insitu"), WithPacu("hittable")}).ok());
  EXPECT_EQ(runner.runs(), 6);
}

TEST(Runner, CasesAreTheSameByAllOptionsButTheSeed) {
  Case other = SmallCase();
  other.run.seed = 9;
  EXPECT_EQ(KeyOf(SmallCase()), KeyOf(other));
  other.run.workload.ops = 500;
  EXPECT_NE(KeyOf(SmallCase()), KeyOf(other));
  for (const char* option : {"map=row-il", "len-dep=0", "t-insitu=30", "fast-forward=0"}) {
    const auto settings = SettingsOf(SmallCase(), {option}, false);
    ASSERT_TRUE(settings);
    EXPECT_NE(KeyOf(SmallCase()), KeyOf(settings.value()[0].of)) << option;
  }
}

TEST(Runner, TellsHowFarItIs) {
  std::vector<size_t> done;
  Runner runner({.jobs = 2, .seeds = 2, .on_progress = [&](size_t at, size_t all) {
                   EXPECT_EQ(all, 4u);
                   done.push_back(at);
                 }});
  ASSERT_TRUE(runner.Run({WithPacu("off"), WithPacu("insitu")}).ok());
  EXPECT_THAT(done, testing::ElementsAre(1, 2, 3, 4));
}

TEST(Runner, AFailureEndsItAndLeavesNothingHalf) {
  Runner runner({.jobs = 2, .seeds = 2});
  const Status status = runner.Run({WithPacu("off"), WithPacu("oracle:7"), WithPacu("insitu")});
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("oracle:7"));
  ASSERT_TRUE(runner.Run({WithPacu("insitu")}).ok());
  EXPECT_GT(runner.Of(WithPacu("insitu"))[1].m2_cycles, 0);
}

}  // namespace
}  // namespace weft::sim
