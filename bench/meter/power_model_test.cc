#include "bench/meter/power_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <limits>

#include "base/folder_test_kit.h"
#include "bench/meter/meter_test_kit.h"

namespace weft::bench {
namespace {

using testing::HasSubstr;

TEST(PowerModel, PowerFollowsTheBusyShare) {
  const base::TestFolder folder;
  const std::string stat = folder / "stat";
  std::ofstream(stat) << "cpu  100 10 50 800 40 5 5 0\ncpu0 1 1 1 1 1 1 1\n";
  auto model = PowerModel::Make(Watts(100), Watts(300), stat);
  ASSERT_TRUE(model);
  const double begin_s = NowS();
  ASSERT_TRUE(model->Start().ok());
  // Of 400 ticks more, 100 were busy: 60 + 10 + 20 + 5 + 5.
  std::ofstream(stat) << "cpu  160 20 70 1000 140 10 10 0\n";
  usleep(100'000);
  auto used = model->Used();
  ASSERT_TRUE(used);
  EXPECT_GE(used->value(), 150 * 0.1);
  EXPECT_LE(used->value(), 150 * (NowS() - begin_s));
  EXPECT_TRUE(model->is_modelled());
  EXPECT_EQ("model 100 W idle, 300 W busy", model->Name());
}

TEST(PowerModel, TheRealMachineLiesBetweenIdleAndBusy) {
  auto model = PowerModel::Make(Watts(100), Watts(300));
  ASSERT_TRUE(model);
  const double begin_s = NowS();
  ASSERT_TRUE(model->Start().ok());
  usleep(100'000);
  auto used = model->Used();
  const double seconds = NowS() - begin_s;
  ASSERT_TRUE(used) << used.error().ToString();
  EXPECT_GE(used->value(), 100 * 0.1);
  EXPECT_LE(used->value(), 300 * seconds);
}

TEST(PowerModel, RatingsThatCannotBe) {
  EXPECT_FALSE(PowerModel::Make(Watts(-1), Watts(5)));
  EXPECT_FALSE(PowerModel::Make(Watts(6), Watts(5)));
  EXPECT_FALSE(PowerModel::Make(Watts(std::numeric_limits<double>::quiet_NaN()), Watts(5)));
}

TEST(PowerModel, UnavailableWhereTheSystemDoesNotTell) {
  auto model = PowerModel::Make(Watts(1), Watts(2), "/nowhere");
  ASSERT_TRUE(model);
  EXPECT_THAT(model->Start().ToString(), HasSubstr("/nowhere does not report"));
}

}  // namespace
}  // namespace weft::bench
