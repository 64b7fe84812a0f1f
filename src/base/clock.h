// base/clock.h: the clocks of the store: whole seconds for expiry, nanoseconds for measuring.
//
// Seconds start with the date at the first call, to some 4 ms, and then follow the monotonic clock,
// so that a step of the system's date neither expires nor revives anything.
// Threads: any.
#pragma once

#include <ctime>
#include <cstdint>

namespace weft::base {

// Monotonic nanoseconds since an unspecified start.
inline uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

// Nanoseconds for which the calling thread has had a CPU: what else the machine did is left out.
inline uint64_t ThreadCpuNs() {
  timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(used.tv_nsec);
}

// Seconds since 1970 by the rule above. Cheap (a coarse clock read without a system call).
uint32_t NowSeconds();

}  // namespace weft::base
