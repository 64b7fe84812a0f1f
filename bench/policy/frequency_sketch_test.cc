// Threads   one.
#include "bench/policy/frequency_sketch.h"

#include <gtest/gtest.h>

#include "bench/policy/policy_test_kit.h"

namespace weft::bench {
namespace {

TEST(FrequencySketch, CountsUpToFifteen) {
  FrequencySketch sketch(1000);
  EXPECT_EQ(sketch.CountOf(7), 0u);
  for (uint32_t uses = 1; uses <= 40; ++uses) {
    sketch.Add(7);
    EXPECT_EQ(sketch.CountOf(7), std::min(uses, FrequencySketch::kCountMax));
  }
  EXPECT_EQ(sketch.CountOf(8), 0u);
}

TEST(FrequencySketch, CountsAreHalvedAfterTenUsesAnObject) {
  FrequencySketch sketch(100);
  for (int i = 0; i < 12; ++i) sketch.Add(1);
  for (int i = 0; i < 5; ++i) sketch.Add(2);
  for (int i = 17; i < 999; ++i) sketch.Add(3);
  EXPECT_EQ(sketch.CountOf(1), 12u);
  sketch.Add(3);
  EXPECT_EQ(sketch.CountOf(1), 6u);
  EXPECT_EQ(sketch.CountOf(2), 2u);
  EXPECT_EQ(sketch.CountOf(3), 7u);
  for (int i = 0; i < 499; ++i) sketch.Add(3);
  EXPECT_EQ(sketch.CountOf(1), 6u);
  sketch.Add(3);
  EXPECT_EQ(sketch.CountOf(1), 3u);
}

TEST(FrequencySketch, CountsAreNeverTooLowAndSeldomTooHigh) {
  constexpr uint32_t kObjects = 2000;
  base::Random random(base::TestSeed(8));
  FrequencySketch sketch(kObjects);
  std::vector<uint32_t> exact(3 * kObjects);
  for (uint32_t i = 0; i < 10 * kObjects - 1; ++i) {
    const auto record = static_cast<uint32_t>(random.Below(random.Below(exact.size()) + 1));
    sketch.Add(record);
    ++exact[record];
  }
  uint32_t too_high = 0;
  for (uint32_t record = 0; record < exact.size(); ++record) {
    const uint32_t expected = std::min(exact[record], FrequencySketch::kCountMax);
    ASSERT_GE(sketch.CountOf(record), expected);
    too_high += sketch.CountOf(record) > expected;
  }
  EXPECT_LT(too_high, exact.size() / 20);
}

TEST(FrequencySketch, OneObjectIsEnough) {
  FrequencySketch sketch(1);
  for (uint32_t record = 0; record < 100; ++record) sketch.Add(record);
  EXPECT_LE(sketch.CountOf(5), FrequencySketch::kCountMax);
}

}  // namespace
}  // namespace weft::bench
