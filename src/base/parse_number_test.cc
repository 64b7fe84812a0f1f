// Threads   one.
#include "base/parse_number.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace weft::base {
namespace {

TEST(ParseNumber, TakesWholeNumbersThatFit) {
  uint64_t wide = 0;
  EXPECT_TRUE(ParseNumber("18446744073709551615", &wide));
  EXPECT_EQ(wide, std::numeric_limits<uint64_t>::max());
  EXPECT_TRUE(ParseNumber("007", &wide));
  EXPECT_EQ(wide, 7u);
  int narrow = 0;
  EXPECT_TRUE(ParseNumber("-2147483648", &narrow));
  EXPECT_EQ(narrow, std::numeric_limits<int>::min());
  uint16_t port = 0;
  EXPECT_TRUE(ParseNumber("65535", &port));
  EXPECT_EQ(port, 65535);
}

TEST(ParseNumber, TakesDigitsOfTheRadix) {
  uint64_t number = 0;
  EXPECT_TRUE(ParseNumber("fF", &number, 16));
  EXPECT_EQ(number, 255u);
  EXPECT_TRUE(ParseNumber("700", &number, 8));
  EXPECT_EQ(number, 0700u);
  EXPECT_FALSE(ParseNumber("8", &number, 8));
  EXPECT_FALSE(ParseNumber("0x1", &number, 16));
}

TEST(ParseNumber, RefusesTheRestAndLeavesTheNumberAlone) {
  uint64_t number = 5;
  for (const char* text :
       {"", " ", " 1", "1 ", "+1", "-1", "-", "1x", "x", "1.5", "1e3", "18446744073709551616"}) {
    EXPECT_FALSE(ParseNumber(text, &number)) << text;
  }
  EXPECT_FALSE(ParseNumber({}, &number));
  EXPECT_EQ(number, 5u);
  uint16_t port = 5;
  EXPECT_FALSE(ParseNumber("65536", &port));
  EXPECT_EQ(port, 5);
}

TEST(ParseNumber, LooksNoFurtherThanTheText) {
  uint64_t number = 0;
  EXPECT_TRUE(ParseNumber(std::string_view("123x").substr(0, 2), &number));
  EXPECT_EQ(number, 12u);
}

TEST(ParseNumber, TakesFractions) {
  double number = 5;
  for (const char* text : {"", "x", "1x", "0.9.9", "+1", " 1", "1e999"}) {
    EXPECT_FALSE(ParseNumber(text, &number)) << text;
  }
  EXPECT_EQ(number, 5);
  EXPECT_TRUE(ParseNumber("0.25", &number));
  EXPECT_EQ(number, 0.25);
  EXPECT_TRUE(ParseNumber("-2e3", &number));
  EXPECT_EQ(number, -2000);
  EXPECT_TRUE(ParseNumber("inf", &number));
  EXPECT_EQ(number, std::numeric_limits<double>::infinity());
}

TEST(ParseFinite, TakesWhatHasAnEnd) {
  double number = 5;
  for (const char* text : {"inf", "-inf", "nan", "", "1 "}) {
    EXPECT_FALSE(ParseFinite(text, &number)) << text;
  }
  EXPECT_EQ(number, 5);
  EXPECT_TRUE(ParseFinite("1.5", &number));
  EXPECT_EQ(number, 1.5);
}

}  // namespace
}  // namespace weft::base
