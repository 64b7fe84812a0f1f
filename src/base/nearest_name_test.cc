#include "base/nearest_name.h"

#include <gtest/gtest.h>

#include <string>

namespace weft::base {
namespace {

std::string NearestOfCommands(std::string_view word) {
  static constexpr std::string_view kCommands[] = {"serve",     "db",   "devices",
                                                   "calibrate", "plan", "help"};
  return std::string(NearestName(word, kCommands));
}

TEST(NearestName, IsAtMostTwoLettersAway) {
  EXPECT_EQ(NearestOfCommands("serve"), "serve");
  EXPECT_EQ(NearestOfCommands("serv"), "serve");
  EXPECT_EQ(NearestOfCommands("server"), "serve");
  EXPECT_EQ(NearestOfCommands("sevre"), "serve");
  EXPECT_EQ(NearestOfCommands("device"), "devices");
  EXPECT_EQ(NearestOfCommands("caliber"), "");
  EXPECT_EQ(NearestOfCommands("calbrat"), "calibrate");
  EXPECT_EQ(NearestOfCommands("Plan"), "plan");
  EXPECT_EQ(NearestOfCommands("plants"), "plan");
  EXPECT_EQ(NearestOfCommands("planets"), "");
}

TEST(NearestName, OfShortWordsIsNotAnyOther) {
  EXPECT_EQ(NearestOfCommands("bd"), "db");
  EXPECT_EQ(NearestOfCommands("d"), "db");
  EXPECT_EQ(NearestOfCommands("ls"), "");
  EXPECT_EQ(NearestOfCommands("x"), "");
  EXPECT_EQ(NearestOfCommands(""), "");
}

TEST(NearestName, IsTheFirstOfSeveral) {
  static constexpr std::string_view kNames[] = {"get", "set"};
  EXPECT_EQ(NearestName("bet", kNames), "get");
  EXPECT_EQ(NearestName("sett", kNames), "set");
  EXPECT_EQ(NearestName("get", {}), "");
}

}  // namespace
}  // namespace weft::base
