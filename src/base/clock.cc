#include "base/clock.h"

namespace weft::base {
namespace {

// The two clocks of which sleep is the difference are read one after the other, and differ by what
// lies between. No machine sleeps for so short a time.
constexpr int64_t kSleepNsMin = 100'000'000;
constexpr int kTries = 10;

int64_t ReadSystem(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

}  // namespace

SecondsClock::SecondsClock(ReadNs read) : read_(read) {
  slept_at_start_ns_ = SleptNs();
  offset_at_start_ns_ = OffsetNs();
  offset_ns_ = offset_at_start_ns_;
}

// From the monotonic clock to the date, with the parts of a second: so seconds begin when those of
// the date do, in every process, whenever it was started.
int64_t SecondsClock::OffsetNs() const {
  for (;;) {  // Ends: a tick comes between once in many rounds.
    const int64_t before = read_(CLOCK_MONOTONIC_COARSE);
    const int64_t date = read_(CLOCK_REALTIME_COARSE);
    if (read_(CLOCK_MONOTONIC_COARSE) == before) return date - before;
  }
}

// Since the machine was started.
int64_t SecondsClock::SleptNs() const {
  int64_t slept = 0;
  for (int i = 0; i < kTries; i++) {
    const int64_t before = read_(CLOCK_MONOTONIC);
    slept = read_(CLOCK_BOOTTIME) - before;
    // Else this thread did not run for a while between the two.
    if (read_(CLOCK_MONOTONIC) - before < kSleepNsMin / 2) break;
  }
  return slept;
}

uint32_t SecondsClock::Now() {
  const int64_t now_ns = read_(CLOCK_MONOTONIC_COARSE);
  if (now_ns / kNsPerSecond != looked_s_.load(std::memory_order_relaxed)) {
    looked_s_.store(now_ns / kNsPerSecond, std::memory_order_relaxed);
    const int64_t slept = SleptNs() - slept_at_start_ns_;
    int64_t offset = offset_ns_.load(std::memory_order_relaxed);
    const int64_t wanted = offset_at_start_ns_ + slept;
    // Relaxed, and only upwards: whoever sees an older one is a second late at most.
    while (wanted > offset + kSleepNsMin && !offset_ns_.compare_exchange_weak(offset, wanted)) {
    }
  }
  return static_cast<uint32_t>((now_ns + offset_ns_.load(std::memory_order_relaxed)) /
                               kNsPerSecond);
}

uint32_t NowSeconds() {
  static SecondsClock clock(ReadSystem);
  return clock.Now();
}

}  // namespace weft::base
