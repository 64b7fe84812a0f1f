#include "base/clock.h"

#include <gtest/gtest.h>

#include <ctime>

namespace weft::base {
namespace {

// A process that is started half a second after another one must not see an item end half a second
// earlier or later.
TEST(ClockTest, SecondsBeginWithThoseOfTheDate) {
  constexpr int kTries = 50;
  int compared = 0;
  for (int i = 0; i < kTries; i++) {
    const timespec pause{0, 20'000'000};
    nanosleep(&pause, nullptr);
    timespec before;
    timespec after;
    clock_gettime(CLOCK_REALTIME, &before);
    const uint32_t now = NowSeconds();
    clock_gettime(CLOCK_REALTIME, &after);
    // The clocks tick every 4 ms or so: just behind a second's beginning either is right.
    if (before.tv_nsec < 20'000'000 || after.tv_sec != before.tv_sec) continue;
    EXPECT_EQ(now, static_cast<uint32_t>(before.tv_sec)) << before.tv_nsec;
    compared++;
  }
  EXPECT_GE(compared, kTries / 2);
}

}  // namespace
}  // namespace weft::base
