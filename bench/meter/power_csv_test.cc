#include "bench/meter/power_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "base/folder_test_kit.h"
#include "bench/meter/now.h"

namespace weft::bench {
namespace {

using testing::HasSubstr;

constexpr double kBegin = 1'795'557'600;  // 2026-11-24T22:00:00Z

Result<Joules> EnergyOf(const std::string& text, double from, double to) {
  const base::TestFolder folder;
  std::ofstream(folder / "power.csv") << text;
  return PowerCsv(folder / "power.csv").UsedBetween(Seconds(kBegin + from), Seconds(kBegin + to));
}

std::string ErrorOf(const std::string& text, double to = 2) {
  auto energy = EnergyOf(text, 0, to);
  EXPECT_FALSE(energy);
  return energy ? "" : energy.error().ToString();
}

TEST(PowerCsv, EpochSeconds) {
  const std::string table =
      "host,timestamp,power_w\na,1795557600,100\na,1795557601.5,130\na,1795557603,100\n";
  EXPECT_DOUBLE_EQ(345, EnergyOf(table, 0, 3).value().value());
  EXPECT_NEAR(0.5 * (110 + 120) * 0.5, EnergyOf(table, 0.5, 1).value().value(), 1e-4);
}

TEST(PowerCsv, Iso8601) {
  EXPECT_DOUBLE_EQ(30, EnergyOf("Time;Watts\r\n\"2026-11-24T22:00:00Z\";10\r\n"
                                "2026-11-24 22:00:01;10\r\n2026-11-24T23:00:03+01:00;10\r\n",
                                0, 3)
                           .value()
                           .value());
}

TEST(PowerCsv, SecondsSinceTheStart) {
  EXPECT_DOUBLE_EQ(40, EnergyOf("# a meter\nt\tw\n0\t10\n1\t20\n\n2\t30\n", 0, 2).value().value());
}

TEST(PowerCsv, WhatIsWrongAndWhere) {
  EXPECT_THAT(ErrorOf("time,power_mw\n0,1\n"), HasSubstr("line 1: no column of watts"));
  EXPECT_THAT(ErrorOf("when,watts\n0,1\n"), HasSubstr("line 1: no column of times"));
  EXPECT_THAT(ErrorOf("time,watts,power\n0,1,1\n"), HasSubstr("two columns of watts"));
  EXPECT_THAT(ErrorOf("time,watts\n0,1\n1,much\n"), HasSubstr("line 3: much is not a number"));
  EXPECT_THAT(ErrorOf("time,watts\nnoon,1\n"), HasSubstr("line 2: noon is not a time"));
  EXPECT_THAT(ErrorOf("time,watts\n1795557600000,1\n"), HasSubstr("is not in seconds"));
  EXPECT_THAT(ErrorOf("time,watts\n0\n"), HasSubstr("too few columns"));
  EXPECT_THAT(ErrorOf("time,watts\n0,1\n1795557601,1\n"), HasSubstr("partly"));
  EXPECT_THAT(ErrorOf("time,watts\n1,1\n0.5,1\n"), HasSubstr("line 3: readings are out of order"));
  EXPECT_THAT(ErrorOf("time,watts\n0,-1\n"), HasSubstr("is not a reading"));
  EXPECT_THAT(ErrorOf("# nothing\n"), HasSubstr("is empty"));
}

TEST(PowerCsv, ATableThatDoesNotCoverTheRun) {
  EXPECT_THAT(ErrorOf("time,watts\n0,1\n1,1\n", 5), HasSubstr("do not cover"));
  EXPECT_THAT(ErrorOf("time,watts\n0,1\n4,1\n5,1\n", 5), HasSubstr("no reading for 4.000 s"));
  EXPECT_THAT(ErrorOf("time,watts\n1795550000,1\n1795550001,1\n"), HasSubstr("do not cover"));
  EXPECT_THAT(ErrorOf("time,watts\n"), HasSubstr("no readings"));
}

TEST(PowerCsv, Dates) {
  EXPECT_EQ(kBegin, ParseIso8601("2026-11-24T22:00:00Z"));
  EXPECT_EQ(kBegin + 0.25, ParseIso8601("2026-11-24T22:00:00.25"));
  EXPECT_EQ(kBegin, ParseIso8601("2026-11-24 16:30:00-05:30"));
  EXPECT_EQ(kBegin, ParseIso8601("2026-11-25T00:00:00+0200"));
  EXPECT_EQ(951'782'400, ParseIso8601("2000-02-29T00:00:00Z"));
  for (const char* wrong : {"2026-11-24", "2026-13-24T22:00:00Z", "2026-11-24T22:00:00+1",
                            "2026-11-24T25:00:00Z", "2026-11-24T22:00:00CET", "", "24.11.2026"})
    EXPECT_EQ(std::nullopt, ParseIso8601(wrong)) << wrong;
}

TEST(PowerCsv, AFileThatIsWrittenDuringTheRun) {
  const base::TestFolder folder;
  PowerCsv csv(folder / "power.csv");
  EXPECT_FALSE(csv.is_live());
  const double before_s = NowS();
  ASSERT_TRUE(csv.Start().ok());
  EXPECT_THAT(csv.Used().error().message(), HasSubstr("cannot read"));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const double epoch_s = std::chrono::duration<double>(now).count();
  std::ofstream table(folder / "power.csv");
  table << std::fixed << "time,watts\n";
  for (int second = 0; second <= 60; second++) table << epoch_s + second << ",60\n";
  table.close();
  usleep(200'000);
  auto used = csv.Used();
  ASSERT_TRUE(used) << used.error().ToString();
  EXPECT_GE(used->value(), 12);
  EXPECT_LE(used->value(), 1.001 * 60 * (NowS() - before_s));
}

}  // namespace
}  // namespace weft::bench
