#include "bench/harness/line_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/folder_test_kit.h"

namespace weft::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

LineChart Chart() {
  LineChart chart;
  chart.title = "a < b";
  chart.lines = {{"first", {1, 2, 4}, {0, 5, 10}}, {"second", {1, 4}, {10, 10}}};
  return chart;
}

TEST(LineChart, LinesGoFromLeftToRight) {
  const std::string svg = ToSvg(Chart());
  EXPECT_THAT(svg, HasSubstr("d=\"M80.0 370.0L346.7 225.2L880.0 80.5\""));
  EXPECT_THAT(svg, HasSubstr("d=\"M80.0 80.5L880.0 80.5\""));
  EXPECT_THAT(svg, HasSubstr(">first<"));
}

TEST(LineChart, PowersOfTwoLieAlikeFarApart) {
  LineChart chart = Chart();
  chart.log2_x = true;
  EXPECT_THAT(ToSvg(chart), HasSubstr("d=\"M80.0 370.0L480.0 225.2L880.0 80.5\""));
}

TEST(LineChart, PlacesMayHaveNamesAndPointsDots) {
  LineChart chart = Chart();
  EXPECT_THAT(ToSvg(chart), HasSubstr("text-anchor=\"middle\">2.5<"));
  EXPECT_THAT(ToSvg(chart), Not(HasSubstr("<circle")));
  chart.ticks = {{1, "in-situ"}, {4, "all of a bucket"}};
  chart.marks_points = true;
  const std::string svg = ToSvg(chart);
  EXPECT_THAT(svg, HasSubstr("x=\"80.0\" y=\"388.0\" text-anchor=\"middle\">in-situ<"));
  // It would go beyond the edge.
  EXPECT_THAT(svg, HasSubstr("x=\"880.0\" y=\"388.0\" text-anchor=\"end\">all of a bucket<"));
  EXPECT_THAT(svg, Not(HasSubstr(">2.5<")));
  EXPECT_THAT(svg, HasSubstr("<circle cx=\"346.7\" cy=\"225.2\""));
}

TEST(LineChart, TextIsEscaped) {
  EXPECT_THAT(ToSvg(Chart()), HasSubstr("a &lt; b"));
  EXPECT_THAT(ToSvg(Chart()), Not(HasSubstr("a < b")));
}

TEST(LineChart, WithoutFiguresThereAreOnlyAxes) {
  LineChart chart;
  chart.lines = {{"none", {}, {}}};
  EXPECT_THAT(ToSvg(chart), Not(HasSubstr("nan")));
  EXPECT_THAT(ToSvg(chart), Not(HasSubstr("inf")));
}

TEST(LineChart, RepetitionsHaveARange) {
  LineChart chart = Chart();
  chart.lines[0].y_low = {0, 4, 10};
  chart.lines[0].y_high = {0, 6, 10};
  const std::string svg = ToSvg(chart);
  EXPECT_THAT(svg, HasSubstr("<path d=\"M346.7 254.2L346.7 196.3\" stroke=\"#0072b2\""));
  EXPECT_THAT(svg, Not(HasSubstr("M80.0 370.0L80.0 370.0")));  // one value is no range
}

TEST(LineChart, ALineWithoutPointsKeepsItsColourFromOthers) {
  LineChart chart = Chart();
  chart.lines[0].x = chart.lines[0].y = {};
  const std::string svg = ToSvg(chart);
  EXPECT_THAT(svg, Not(HasSubstr(">first<")));
  EXPECT_THAT(svg, Not(HasSubstr("#0072b2")));
  EXPECT_THAT(svg, HasSubstr("#d55e00"));
}

TEST(LineChart, SeveralLieBelowEachOther) {
  const std::string svg = ToSvg(std::vector<LineChart>{Chart(), Chart()});
  EXPECT_THAT(svg, HasSubstr("viewBox=\"0 0 900 840\""));
  EXPECT_THAT(svg, HasSubstr("<svg y=\"0\""));
  EXPECT_THAT(svg, HasSubstr("<svg y=\"420\""));
}

TEST(LineChart, AFolderThatIsNotThereIsAnError) {
  const base::TestFolder folder;
  EXPECT_TRUE(WriteSvg(Chart(), folder / "chart.svg").ok());
  EXPECT_EQ(WriteSvg(Chart(), folder / "no/chart.svg").code(), Code::kIoError);
}

}  // namespace
}  // namespace weft::bench
