#include "base/clock.h"

namespace weft::base {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

int64_t ReadNs(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

// From the monotonic clock to the date, with the parts of a second: so seconds begin when those of
// the date do, in every process, whenever it was started.
int64_t FindOffsetNs() {
  for (;;) {
    const int64_t before = ReadNs(CLOCK_MONOTONIC_COARSE);
    const int64_t date = ReadNs(CLOCK_REALTIME_COARSE);
    if (ReadNs(CLOCK_MONOTONIC_COARSE) == before) return date - before;  // else: a tick between
  }
}

}  // namespace

uint32_t NowSeconds() {
  static const int64_t offset_ns = FindOffsetNs();
  return static_cast<uint32_t>((ReadNs(CLOCK_MONOTONIC_COARSE) + offset_ns) / kNsPerSecond);
}

}  // namespace weft::base
