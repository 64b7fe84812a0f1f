#include "base/clock.h"

namespace weft::base {
namespace {

// The two clocks of which sleep is the difference are read one after the other, and differ by what
// lies between. No machine sleeps for so short a time.
constexpr int64_t kSleepNsMin = 100'000'000;
constexpr int kTries = 10;

timespec ReadSystem(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now;
}

}  // namespace

SecondsClock::SecondsClock(Read read) : read_(read) {
  slept_at_start_ns_ = SleptNs();
  offset_at_start_ns_ = OffsetNs();
  offset_ = Split(offset_at_start_ns_);
}

int64_t SecondsClock::Split(int64_t ns) {
  int64_t seconds = ns / kNsPerSecond;
  int64_t part = ns % kNsPerSecond;
  if (part < 0) {  // a date that is set to less than the machine has run for
    seconds--;
    part += kNsPerSecond;
  }
  return seconds * (kPartMask + 1) + part;
}

int64_t SecondsClock::Joined(int64_t offset) {
  return (offset >> kPartBits) * kNsPerSecond + (offset & kPartMask);
}

int64_t SecondsClock::ReadNs(clockid_t clock) const {
  const timespec now = read_(clock);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

// From the monotonic clock to the date, with the parts of a second: so seconds begin when those of
// the date do, in every process, whenever it was started.
int64_t SecondsClock::OffsetNs() const {
  for (;;) {  // Ends: a tick comes between once in many rounds.
    const int64_t before = ReadNs(CLOCK_MONOTONIC_COARSE);
    const int64_t date = ReadNs(CLOCK_REALTIME_COARSE);
    if (ReadNs(CLOCK_MONOTONIC_COARSE) == before) return date - before;
  }
}

// Since the machine was started.
int64_t SecondsClock::SleptNs() const {
  int64_t slept = 0;
  for (int i = 0; i < kTries; i++) {
    const int64_t before = ReadNs(CLOCK_MONOTONIC);
    slept = ReadNs(CLOCK_BOOTTIME) - before;
    // Otherwise this thread did not run for a while between the two.
    if (ReadNs(CLOCK_MONOTONIC) - before < kSleepNsMin / 2) break;
  }
  return slept;
}

void SecondsClock::LookForSleep(int64_t now_s) {
  looked_s_.store(now_s, std::memory_order_relaxed);
  const int64_t slept = SleptNs() - slept_at_start_ns_;
  int64_t offset = offset_.load(std::memory_order_relaxed);
  const int64_t wanted = offset_at_start_ns_ + slept;
  // Relaxed, and only upwards: whoever sees an older one is a second late at most.
  while (wanted > Joined(offset) + kSleepNsMin &&
         !offset_.compare_exchange_weak(offset, Split(wanted))) {
  }
}

uint32_t NowSeconds() {
  static SecondsClock clock(ReadSystem);
  return clock.Now();
}

}  // namespace weft::base
