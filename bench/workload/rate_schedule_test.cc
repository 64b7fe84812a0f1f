#include "bench/workload/rate_schedule.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::bench {
namespace {

using testing::HasSubstr;

RateSchedule Parsed(const std::string& text) {
  auto schedule = RateSchedule::Parse(text);
  EXPECT_TRUE(schedule) << schedule.error().ToString();
  return *schedule;
}

constexpr const char* kScheduleTexts[] = {"1000",
                                          "0.5",
                                          "1000 for 10s, 5000 for 5s",
                                          "1000 for 10s, 5000",
                                          "ramp 0 1000 for 10s, 1000",
                                          "ramp 1000 0 for 2s",
                                          "sine 1000 5000 period 60s",
                                          "sine 0 10 period 0.5s for 10.1s, 0 for 1s",
                                          "0 for 5s, 10 for 1s",
                                          "poisson 1000",
                                          "poisson 1 for 1s, ramp 1 10 for 2s"};

TEST(RateSchedule, TextsAreReadAndPrintedAlike) {
  for (const char* text : kScheduleTexts) EXPECT_EQ(Parsed(text).ToText(), text);
  EXPECT_EQ(Parsed("10 for 500ms,20 for 2min").ToText(), "10 for 0.5s, 20 for 120s");
  EXPECT_EQ(RateSchedule::Constant(7).ToText(), "7");
}

TEST(RateSchedule, CountIsTheIntegralOfTheRate) {
  for (const char* text : kScheduleTexts) {
    const RateSchedule schedule = Parsed(text);
    constexpr double kStep = 1e-4;
    double sum = 0;
    for (int i = 0; i < 400'000; ++i) {
      if (i % 10'000 == 0) {
        ASSERT_NEAR(schedule.CountUntil(i * kStep), sum, 1e-3 * sum + 1e-3) << text << " " << i;
      }
      sum += kStep * schedule.RateAt((i + 0.5) * kStep);
    }
  }
}

TEST(RateSchedule, TimesLeadBackToCounts) {
  for (const char* text : kScheduleTexts) {
    const RateSchedule schedule = Parsed(text);
    double before_s = 0;
    for (int i = 0; i < 20'000; ++i) {
      const double at_s = schedule.TimeOf(i);
      ASSERT_GE(at_s, before_s) << text << " " << i;
      ASSERT_NEAR(schedule.CountUntil(at_s), i, 1e-5) << text;
      before_s = at_s;
    }
  }
}

TEST(RateSchedule, StepsAreExact) {
  const RateSchedule steps = Parsed("1000 for 10s, 5000 for 5s");
  EXPECT_EQ(steps.TimeOf(0), 0);
  EXPECT_EQ(steps.TimeOf(9999), 9.999);
  EXPECT_EQ(steps.TimeOf(10'000), 10);
  EXPECT_EQ(steps.TimeOf(15'000), 11);
  EXPECT_EQ(steps.TimeOf(35'000), 15);  // and anew
  EXPECT_EQ(steps.TimeOf(36'000), 16);
  EXPECT_EQ(steps.TimeOf(45'000), 25);
  EXPECT_EQ(steps.TimeOf(350'000), 150);
  EXPECT_EQ(Parsed("1000 for 10s, 5000").TimeOf(60'000), 20);
}

TEST(RateSchedule, RampsAreExact) {
  const RateSchedule up = Parsed("ramp 0 1000 for 10s, 1000");
  EXPECT_EQ(up.CountUntil(10), 5000);
  EXPECT_DOUBLE_EQ(up.TimeOf(1250), 5);
  EXPECT_EQ(up.TimeOf(5000), 10);
  EXPECT_EQ(up.TimeOf(6000), 11);
  EXPECT_DOUBLE_EQ(Parsed("ramp 1000 0 for 2s").TimeOf(750), 1);
}

TEST(RateSchedule, PausesPutOffWhatFollows) {
  EXPECT_EQ(Parsed("0 for 5s, 10 for 1s").TimeOf(0), 5);
  EXPECT_EQ(Parsed("0 for 5s, 10 for 1s").TimeOf(10), 11);
  EXPECT_EQ(Parsed("10 for 1s, 0 for 5s, 10").TimeOf(10), 6);
  EXPECT_EQ(Parsed("10 for 1s, 0 for 5s").TimeOf(10), 6);
  EXPECT_EQ(Parsed("10 for 1s, 0 for 5s").TimeOf(9), 0.9);
}

TEST(RateSchedule, SinesGoUpFirst) {
  const RateSchedule sine = Parsed("sine 1000 5000 period 60s");
  EXPECT_DOUBLE_EQ(sine.RateAt(0), 3000);
  EXPECT_DOUBLE_EQ(sine.RateAt(15), 5000);
  EXPECT_DOUBLE_EQ(sine.RateAt(45), 1000);
  EXPECT_NEAR(sine.TimeOf(180'000), 60, 1e-9);
  EXPECT_NEAR(sine.TimeOf(180'000'000), 60'000, 1e-6);
  EXPECT_NEAR(sine.CountUntil(30), 90'000 + 2000 * 60 / M_PI, 1e-6);
}

TEST(RateSchedule, MistakesAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "'' is not '1000'"},
      {"fast", "'fast' is not"},
      {"-1", "'-1' is not"},
      {"1000 for", "'1000 for' is not"},
      {"1000 for ten", "'ten' is not a time"},
      {"1000 for 0s", "'0s' is not a time"},
      {"1000 for 10", "'10' is not a time"},
      {"1000, 2000 for 5s", "except the last needs 'for'"},
      {"1000 for 5s,", "'' is not"},
      {"0", "would ever be due"},
      {"1000 for 5s, 0", "would ever be due"},
      {"0 for 5s", "would ever be due"},
      {"ramp 1 2", "a ramp needs an end"},
      {"ramp 1 for 2s", "is not"},
      {"sine 2 1 period 1s", "least rate must come first"},
      {"sine 1 2", "is not"},
      {"sine 1 2 period x", "is not"},
      {"2e12", "is not"},
  };
  for (const auto& [text, what] : cases) {
    auto schedule = RateSchedule::Parse(text);
    ASSERT_FALSE(schedule) << text;
    EXPECT_EQ(schedule.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(schedule.error().ToString(), HasSubstr(what));
  }
}

}  // namespace
}  // namespace weft::bench
