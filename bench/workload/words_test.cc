#include "bench/workload/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Words, SpacesSeparateThem) {
  EXPECT_THAT(WordsOf("  uniform 1   100 "), ElementsAre("uniform", "1", "100"));
  EXPECT_THAT(WordsOf("   "), IsEmpty());
  EXPECT_THAT(WordsOf(""), IsEmpty());
}

TEST(Words, PartsMayBeEmpty) {
  EXPECT_THAT(PartsOf("1000 for 10s, 5000", ','), ElementsAre("1000 for 10s", "5000"));
  EXPECT_THAT(PartsOf("a,,", ','), ElementsAre("a", "", ""));
}

TEST(Words, NumbersAreWholeWords) {
  EXPECT_EQ(NumberOf("0.99"), 0.99);
  EXPECT_EQ(NumberOf("-2e3"), -2000);
  for (const char* bad : {"", "x", "1x", "0.9.9", "inf", "nan", "+1"})
    EXPECT_FALSE(NumberOf(bad)) << bad;
  EXPECT_EQ(CountOf("18446744073709551615"), UINT64_MAX);
  for (const char* bad : {"", "-1", "1.5", "18446744073709551616", "1 "})
    EXPECT_FALSE(CountOf(bad)) << bad;
}

TEST(Words, TimesHaveTheirUnits) {
  const std::pair<const char*, double> cases[] = {
      {"10s", 10}, {" 500  ms ", 0.5}, {"2min", 120}, {"0us", 0}, {"5ns", 5e-9}};
  for (const auto& [text, seconds] : cases) EXPECT_EQ(TimeOf(text, 1e9), seconds) << text;
  for (const char* bad : {"", "10", "s", "-1s", "2h", "1,2s", "1 s now", "1 2s", "nan s"})
    EXPECT_FALSE(TimeOf(bad, 1)) << bad;
  EXPECT_EQ(TimeOf("250ns", 1e3), 0.25);
}

}  // namespace
}  // namespace weft::bench
