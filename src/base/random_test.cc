// Threads   one.
#include "base/random.h"

#include <gtest/gtest.h>

namespace weft::base {
namespace {

// Sequences are part of what benchmarks and tests record: the numbers are splitmix64's own.
TEST(Random, IsSplitmix64) {
  EXPECT_EQ(Mix(kRandomStep), 0xe220a8397b1dcdafu);
  Random random(1);
  const uint64_t state = Mix(1 + kRandomStep);
  EXPECT_EQ(random.Next(), Mix(state + kRandomStep));
  EXPECT_EQ(random.Next(), Mix(state + 2 * kRandomStep));
}

TEST(Random, StaysBelow) {
  Random random(7);
  for (uint64_t n = 1; n < 1000; ++n) EXPECT_LT(random.Below(n), n);
  for (int i = 0; i < 1000; ++i) {
    const double unit = random.Unit();
    EXPECT_TRUE(unit >= 0 && unit < 1) << unit;
  }
}

}  // namespace
}  // namespace weft::base
