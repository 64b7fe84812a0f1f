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

// A machine whose clocks the test sets.
struct Machine {
  int64_t date_s = 1'700'000'000;
  int64_t awake_ms = 5'000'000;
  int64_t slept_ms = 77'000;

  static Machine& The() {
    static Machine machine;
    return machine;
  }
  static timespec Read(clockid_t clock) {
    const int64_t ns = NsOf(clock);
    return {ns / kNsPerSecond, ns % kNsPerSecond};
  }
  static int64_t NsOf(clockid_t clock) {
    const Machine& m = The();
    switch (clock) {
      case CLOCK_REALTIME_COARSE: return m.date_s * 1'000'000'000;
      case CLOCK_BOOTTIME: return (m.awake_ms + m.slept_ms) * 1'000'000 + 300;
      default: return m.awake_ms * 1'000'000;
    }
  }
};

TEST(SecondsClock, CountsWhatTheMachineSlept) {
  Machine& machine = Machine::The() = {};
  SecondsClock clock(Machine::Read);
  EXPECT_EQ(clock.Now(), 1'700'000'000u);
  machine.awake_ms += 2500;
  EXPECT_EQ(clock.Now(), 1'700'000'002u);
  machine.slept_ms += 8 * 3'600'000;
  machine.awake_ms += 1000;  // a second after waking at the latest
  EXPECT_EQ(clock.Now(), 1'700'000'003u + 8 * 3600);
  machine.slept_ms += 400;  // the parts of a second count, too
  machine.awake_ms += 1000;
  EXPECT_EQ(clock.Now(), 1'700'000'004u + 8 * 3600);
  machine.slept_ms += 200;
  machine.awake_ms += 1000;
  EXPECT_EQ(clock.Now(), 1'700'000'006u + 8 * 3600);
}

TEST(SecondsClock, StartsWithADateThatIsLessThanTheMachineHasRun) {
  Machine& machine = Machine::The() = {};
  machine.date_s = 1000;
  machine.awake_ms = 5'000'700;
  SecondsClock clock(Machine::Read);
  EXPECT_EQ(clock.Now(), 1000u);
  machine.awake_ms += 999;
  EXPECT_EQ(clock.Now(), 1000u);
  machine.awake_ms += 1;
  EXPECT_EQ(clock.Now(), 1001u);
}

TEST(SecondsClock, FollowsNoStepOfTheDateAndNeverGoesBack) {
  Machine& machine = Machine::The() = {};
  SecondsClock clock(Machine::Read);
  for (const int64_t step_s : {86'400, -86'400, -1'700'000'000}) {
    machine.date_s += step_s;
    const uint32_t before = clock.Now();
    machine.awake_ms += 1000;
    EXPECT_EQ(clock.Now(), before + 1);
  }
  // The two clocks are not read at one instant: that is no sleep.
  const uint32_t before = clock.Now();
  machine.slept_ms += 40;
  machine.awake_ms += 1000;
  EXPECT_EQ(clock.Now(), before + 1);
  machine.slept_ms -= 40;
  machine.awake_ms += 1000;
  EXPECT_EQ(clock.Now(), before + 2);
}

}  // namespace
}  // namespace weft::base
