#include "bench/cost/figure.h"

#include <gtest/gtest.h>

namespace weft::bench {
namespace {

Figure Of(std::vector<double> samples) {
  Figure figure;
  figure.samples = Samples(std::move(samples));
  figure.unit = "op/s";
  return figure;
}

TEST(Figure, AWinnerIsNamedWhereRangesDoNotOverlap) {
  const Figure low = Of({10, 11, 12}), high = Of({13, 14, 15});
  EXPECT_EQ(Winner::kSecond, Compare(low, high, Better::kMore).winner);
  EXPECT_EQ(Winner::kFirst, Compare(low, high, Better::kLess).winner);
  EXPECT_EQ(Winner::kFirst, Compare(high, low, Better::kMore).winner);
  EXPECT_DOUBLE_EQ(11.0 / 14, Compare(low, high, Better::kMore).ratio);
}

TEST(Figure, NoWinnerWhereTheyDo) {
  const Comparison touching = Compare(Of({10, 13}), Of({13, 20}), Better::kMore);
  EXPECT_EQ(Winner::kNone, touching.winner);
  EXPECT_EQ("ranges overlap: the noise exceeds the gap", touching.reason);
  EXPECT_EQ(Winner::kNone, Compare(Of({1, 9}), Of({4, 5}), Better::kLess).winner);
}

TEST(Figure, NoWinnerOfASingleRepetition) {
  const Comparison one = Compare(Of({10}), Of({20, 21}), Better::kMore);
  EXPECT_EQ(Winner::kNone, one.winner);
  EXPECT_EQ("a single repetition: its noise is unknown", one.reason);
}

TEST(Figure, WhatIsUnavailableIsSaidWithItsReason) {
  Figure none;
  none.unavailable = "no RAPL";
  EXPECT_EQ("unavailable: no RAPL", TextOf(none));
  EXPECT_EQ((nlohmann::json{{"unavailable", "no RAPL"}}), ToJson(none));
  const Comparison found = Compare(Of({1, 2}), none, Better::kMore);
  EXPECT_EQ(Winner::kNone, found.winner);
  EXPECT_EQ("unavailable: no RAPL", found.reason);
}

TEST(Figure, AModelIsLabelled) {
  Figure figure = Of({1, 2, 3});
  EXPECT_EQ("2 [1 - 3]", TextOf(figure));
  EXPECT_FALSE(ToJson(figure).contains("modelled"));
  figure.modelled = true;
  EXPECT_EQ("2 [1 - 3] (modelled)", TextOf(figure));
  EXPECT_EQ(true, ToJson(figure)["modelled"]);
}

}  // namespace
}  // namespace weft::bench
