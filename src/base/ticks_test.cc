// Threads   one.
#include "base/ticks.h"

#include <gtest/gtest.h>

namespace weft::base {
namespace {

constexpr uint64_t kReadNs = 20;
constexpr uint64_t kTicksPerNs = 3;
constexpr uint64_t kPauseNs = 300'000'000;

// Time passes where it is read; before one of the reads this thread pauses.
struct Machine {
  uint64_t ns = 77;
  uint64_t reads = 0;
  uint64_t pauses_before = UINT64_MAX;

  uint64_t Read() {
    if (reads++ == pauses_before) ns += kPauseNs;
    return ns += kReadNs;
  }
};
Machine machine;

double Measured(uint64_t pauses_before) {
  machine = {.pauses_before = pauses_before};
  return MeasureNsPerTick([] { return machine.Read(); },
                          [] { return kTicksPerNs * machine.Read(); });
}

TEST(Ticks, APauseBetweenTwoReadsSpoilsNoMeasurement) {
  constexpr double kRight = 1.0 / kTicksPerNs;
  EXPECT_NEAR(Measured(UINT64_MAX), kRight, kRight * 1e-6);
  const uint64_t reads = machine.reads;
  constexpr uint64_t kAtEitherEnd = 200;
  ASSERT_GT(reads, 2 * kAtEitherEnd);
  for (uint64_t i = 0; i < kAtEitherEnd; i++) {
    EXPECT_NEAR(Measured(i), kRight, kRight * 1e-6) << "before read " << i;
    EXPECT_NEAR(Measured(reads - 1 - i), kRight, kRight * 1e-6)
        << "before read " << i << " from the end";
  }
}

TEST(Ticks, NanosecondsOfTheCounterAreThoseOfTheClock) {
  constexpr uint64_t kLeastNs = 10'000'000;
  const uint64_t outer_start_ns = NowNs();
  const uint64_t start = ReadTicks();
  const uint64_t inner_start_ns = NowNs();
  while (NowNs() - inner_start_ns < kLeastNs) {
  }
  const uint64_t inner_end_ns = NowNs();
  const uint64_t end = ReadTicks();
  const uint64_t outer_end_ns = NowNs();
  const auto ns = static_cast<double>(NsOfTicks(end - start));
  EXPECT_GE(ns, 0.95 * static_cast<double>(inner_end_ns - inner_start_ns));
  EXPECT_LE(ns, 1.05 * static_cast<double>(outer_end_ns - outer_start_ns));
}

}  // namespace
}  // namespace weft::base
