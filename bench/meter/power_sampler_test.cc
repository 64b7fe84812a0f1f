#include "bench/meter/power_sampler.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "bench/meter/meter_test_kit.h"

namespace weft::bench {
namespace {

constexpr Seconds kInterval(0.05);

TEST(PowerSampler, SteadyPowerTimesTime) {
  PowerSampler sampler(
      "steady", kInterval, [] { return Result<Watts>(Watts(50)); }, kAnyGap);
  const double before = NowS();
  ASSERT_TRUE(sampler.Start().ok());
  const double begun = NowS();
  usleep(200'000);
  const double asked = NowS();
  auto used = sampler.Used();
  const double answered = NowS();
  ASSERT_TRUE(used);
  EXPECT_GE(used->value(), 0.98 * 50 * (asked - begun));
  EXPECT_LE(used->value(), 1.02 * 50 * (answered - before));
}

TEST(PowerSampler, ChangingPowerIsFollowed) {
  const double origin = NowS();
  std::atomic<double> last = 0, longest = 0;  // seconds between readings
  const auto read = [&] {
    const double now = NowS() - origin;
    longest = std::max(longest.load(), now - last);
    last = now;
    return Result<Watts>(Watts(1000 * now));
  };
  PowerSampler sampler("ramp", kInterval, read, kAnyGap);
  ASSERT_TRUE(sampler.Start().ok());
  const double from = NowS() - origin;
  usleep(1'000'000);
  auto used = sampler.Used();
  const double to = NowS() - origin;
  ASSERT_TRUE(used) << used.error().ToString();
  // Between two readings the power changes by 1000 W a second, and nobody sees when.
  const double expected = 500 * (to * to - from * from);
  const double unseen = std::max(longest.load(), to - last);
  EXPECT_NEAR(expected, used->value(), 0.02 * expected + 1000 * (to - from) * unseen);
}

TEST(PowerSampler, ADeviceThatFailsAtOnceDoesNotStart) {
  PowerSampler sampler("broken", kInterval,
                       [] { return Result<Watts>(Status(Code::kIoError, "no answer")); });
  EXPECT_EQ("no answer", sampler.Start().message());
}

TEST(PowerSampler, OneMissingReadingIsNothing) {
  std::atomic<int> count = 0;
  const auto read = [&count]() -> Result<Watts> {
    if (++count % 3 == 0) return Status(Code::kIoError, "no answer");
    return Watts(10);
  };
  PowerSampler sampler("flaky", kInterval, read, kAnyGap);
  ASSERT_TRUE(sampler.Start().ok());
  while (count < 4) usleep(10'000);
  auto used = sampler.Used();
  ASSERT_TRUE(used) << used.error().ToString();
  EXPECT_GT(used->value(), 10 * 2.5 * kInterval.value());
}

TEST(PowerSampler, ADeviceThatIsGoneLeavesNoFigure) {
  std::atomic<bool> gone = false;
  PowerSampler sampler("unplugged", kInterval, [&gone]() -> Result<Watts> {
    if (gone) return Status(Code::kDeviceLost, "unplugged");
    return Watts(10);
  });
  ASSERT_TRUE(sampler.Start().ok());
  gone = true;
  usleep(600'000);
  EXPECT_FALSE(sampler.Used()) << "there was no reading for more than five intervals";
  EXPECT_EQ("unplugged", FailureOf(&sampler).message());
}

TEST(PowerSampler, StartsAnew) {
  PowerSampler sampler(
      "steady", kInterval, [] { return Result<Watts>(Watts(50)); }, kAnyGap);
  ASSERT_TRUE(sampler.Start().ok());
  usleep(200'000);
  const double before = NowS();
  ASSERT_TRUE(sampler.Start().ok());
  auto used = sampler.Used();
  ASSERT_TRUE(used);
  EXPECT_LE(used->value(), 1.02 * 50 * (NowS() - before));
}

}  // namespace
}  // namespace weft::bench
