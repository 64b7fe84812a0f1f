#include "bench/meter/reading.h"

#include <gtest/gtest.h>

#include <limits>

namespace weft::bench {
namespace {

TEST(Reading, AValueHasUnitAndSource) {
  const Reading reading = Reading::Of(Joules(12.5), "rapl package-0");
  EXPECT_EQ(nlohmann::json({{"value", 12.5}, {"unit", "J"}, {"source", "rapl package-0"}}),
            ToJson(reading));
  EXPECT_EQ("W", Reading::Of(Watts(1), "x").unit());
}

TEST(Reading, AnUnavailableOneHasOnlyItsReason) {
  EXPECT_EQ(nlohmann::json({{"unavailable", "no counter"}}),
            ToJson(Reading::Unavailable("no counter")));
}

TEST(Reading, AModelSaysSo) {
  EXPECT_TRUE(ToJson(Reading::Of(Joules(1), "model").Modelled()).at("modelled").get<bool>());
  EXPECT_FALSE(ToJson(Reading::Of(Joules(1), "meter")).contains("modelled"));
}

TEST(Reading, ANumberThatIsNoneIsUnavailable) {
  EXPECT_FALSE(Reading::Of(std::numeric_limits<double>::quiet_NaN(), "s", "clock").available());
  EXPECT_FALSE(Reading::Of(std::numeric_limits<double>::infinity(), "s", "clock").available());
}

TEST(Reading, ByName) {
  const Readings readings = {{"cpu_s", Reading::Of(2, "s", "proc")},
                             {"energy_j", Reading::Unavailable("none")}};
  EXPECT_EQ(2, ToJson(readings).at("cpu_s").at("value").get<double>());
  EXPECT_EQ("none", ToJson(readings).at("energy_j").at("unavailable").get<std::string>());
}

}  // namespace
}  // namespace weft::bench
