// base/clock.h: the clocks of the store: whole seconds for expiry, nanoseconds for measuring.
//
// Seconds   the one clock of everything that a client may compare: expiry, absolute times that it
//           sends, STAT time. They start with the date at the first call, to some 4 ms, and then
//           follow the time since then, that which the machine slept included. So a step of the
//           system's date neither expires nor revives anything, and a night asleep counts. They
//           never go back. After sleep they may be a second late.
// Threads   any.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

namespace weft::base {

inline constexpr int64_t kNsPerSecond = 1'000'000'000;

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

// The rule, over any clocks: what NowSeconds has of the system's.
class SecondsClock {
 public:
  // Nanoseconds of one of the system's clocks.
  using ReadNs = int64_t (*)(clockid_t clock);

  explicit SecondsClock(ReadNs read);
  uint32_t Now();

 private:
  int64_t OffsetNs() const;
  int64_t SleptNs() const;

  const ReadNs read_;
  int64_t slept_at_start_ns_ = 0;
  int64_t offset_at_start_ns_ = 0;     // from the monotonic clock to the date
  std::atomic<int64_t> offset_ns_{0};  // the same, with what the machine has slept since; rises
  std::atomic<int64_t> looked_s_{0};   // when that was asked for
};

}  // namespace weft::base
