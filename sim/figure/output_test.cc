#include "sim/figure/output.h"

#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/folder_test_kit.h"
#include "sim/base/text_test_kit.h"
#include "sim/figure/figure_test_kit.h"

namespace weft::sim {
namespace {

using testing::HasSubstr;

std::vector<Finished> TwoSettings() {
  std::vector<Finished> all;
  for (const char* setting : {"", "map=scheme2"}) {
    const FigureSpec spec = MakeFigure("5a", {.of = SmallCase()}).value();
    Figure figure = FigureWith(spec, [](const Point& point) { return point.at / 2048; });
    std::vector<JudgedClaim> claims = ClaimsOf(spec, figure);
    all.push_back({setting, spec, std::move(figure), std::move(claims)});
  }
  return all;
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Output, CsvHasARowForEachPointInAsManyColumns) {
  const std::vector<std::string> lines = LinesOf(CsvOf(TwoSettings()));
  ASSERT_EQ(lines.size(), 1 + 2 * 21u);
  EXPECT_THAT(lines[0], HasSubstr("setting,figure,series,x,seeds,m2_gain,m2_gain_95,"));
  for (const std::string& line : lines) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ','),
              std::count(lines[0].begin(), lines[0].end(), ','));
  }
  // 1 - L/L0 of 128 bytes: 128 / 2048, and a thousandth less on average of three seeds.
  EXPECT_THAT(lines[1], HasSubstr(",5a,128 B,128,3,0.0615,0.00248,"));
}

TEST(Output, NoClaimIsLeftOut) {
  const std::vector<std::string> lines = LinesOf(ClaimsCsv(TwoSettings()));
  EXPECT_EQ(lines.size(), 1 + 2 * 4 * 3u);  // settings, claims, metrics
  int failed = 0;
  for (const std::string& line : lines) failed += line.ends_with(",fails");
  EXPECT_GT(failed, 0);
  const std::string markdown = MarkdownOf(TwoSettings(), "weft-sim figure 5a");
  EXPECT_THAT(markdown, HasSubstr("| A1 the best static size is the value's | M2 |"));
  EXPECT_THAT(markdown, HasSubstr("**fails**"));
  EXPECT_THAT(markdown, HasSubstr("# map=scheme2"));
  EXPECT_THAT(markdown, HasSubstr("| 128 B | 6.2 |"));
}

// A memory whose currents nobody knows.
TEST(Output, WhatIsNotKnownIsNoNought) {
  const FigureSpec spec = MakeFigure("9", {.of = SmallCase(), .mixes = {1}}).value();
  Figure figure;
  for (const Point& point : spec.points) {
    const RunFigures run{.m1_cycles = 1, .m2_cycles = 1, .m3_cycles = 1};
    figure.Add({.point = point, .baseline = {run}, .run = {run}});
  }
  std::vector<JudgedClaim> claims = ClaimsOf(spec, figure);
  ASSERT_EQ(claims.size(), 1u);
  EXPECT_FALSE(claims[0].claim.is_known);
  const std::vector<Finished> all = {{"", spec, std::move(figure), std::move(claims)}};
  EXPECT_THAT(ClaimsCsv(all), HasSubstr(",unknown\n"));
  const std::string markdown = MarkdownOf(all, "weft-sim figure 9");
  EXPECT_THAT(markdown, HasSubstr("| unknown |"));
  EXPECT_THAT(markdown, HasSubstr("| in-situ, exact size |  |"));
  EXPECT_THAT(markdown, HasSubstr("One run of each"));
  EXPECT_THAT(markdown, HasSubstr("No 95 % interval: each point is from one run."));
  EXPECT_THAT(markdown, testing::Not(HasSubstr("+-")));
  const base::TestFolder folder;
  ASSERT_TRUE(WriteFigures(folder / "out", all, "").ok());
  const std::vector<std::string> lines = LinesOf(TextOf(folder / "out/figures.jsonl"));
  EXPECT_TRUE(nlohmann::json::parse(lines[0])["holds"].is_null());
  EXPECT_TRUE(nlohmann::json::parse(lines[1])["nj_per_op_ratio"][0].is_null());
  for (const char* file : {"out/figure-9.csv", "out/figure-9.svg", "out/figures.md"}) {
    EXPECT_THAT(TextOf(folder / file), testing::Not(HasSubstr("nan"))) << file;
  }
}

// Student's interval needs two runs at least: of one there is none, and not one of no width.
TEST(Output, OneSeedHasNoInterval) {
  const FigureSpec spec = MakeFigure("5a", {.of = SmallCase()}).value();
  Figure figure;
  for (const Point& point : spec.points) {
    const RunFigures run{.m1_cycles = 90, .m2_cycles = 80, .m3_cycles = 70};
    const RunFigures baseline{.m1_cycles = 100, .m2_cycles = 100, .m3_cycles = 100};
    figure.Add({.point = point, .baseline = {baseline}, .run = {run}});
  }
  const std::vector<Finished> all = {{"", spec, std::move(figure), {}}};
  const std::vector<std::string> csv = LinesOf(CsvOf(all));
  EXPECT_THAT(csv[1], HasSubstr(",1,0.2,,0.25,,0.1,,0.3,,"));
  EXPECT_EQ(std::count(csv[1].begin(), csv[1].end(), ','),
            std::count(csv[0].begin(), csv[0].end(), ','));
  const base::TestFolder folder;
  ASSERT_TRUE(WriteFigures(folder / "out", all, "").ok());
  const auto line = nlohmann::json::parse(LinesOf(TextOf(folder / "out/figures.jsonl"))[0]);
  EXPECT_NEAR(line["m2_gain"][0].get<double>(), 0.2, 1e-12);
  EXPECT_TRUE(line["m2_gain"][1].is_null());
}

TEST(Output, FilesAreWhatTheyShouldBe) {
  const base::TestFolder folder;
  const std::string out = folder / "new/folder";
  const Status status = WriteFigures(out, TwoSettings(), "weft-sim figure 5a");
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(TextOf(out + "/figure-5a.csv"), CsvOf(TwoSettings()));
  EXPECT_THAT(TextOf(out + "/figure-5a.svg"), HasSubstr("A4"));
  EXPECT_THAT(TextOf(out + "/figure-5a-2.svg"), HasSubstr("(map=scheme2)"));
  int points = 0;
  int claims = 0;
  for (const std::string& line : LinesOf(TextOf(out + "/figures.jsonl"))) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json["figure"], "5a");
    points += json.contains("series");
    claims += json.contains("claim");
    EXPECT_TRUE(json.contains("commit"));
  }
  EXPECT_EQ(points, 42);
  EXPECT_EQ(claims, 24);
  EXPECT_EQ(WriteFigures("/proc/none", TwoSettings(), "").code(), Code::kIoError);
}

}  // namespace
}  // namespace weft::sim
