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
  // One of the system's clocks.
  using Read = timespec (*)(clockid_t clock);

  explicit SecondsClock(Read read);
  uint32_t Now() {
    const timespec now = read_(CLOCK_MONOTONIC_COARSE);
    if (now.tv_sec != looked_s_.load(std::memory_order_relaxed)) LookForSleep(now.tv_sec);
    // The offset is split as the clock is, so that no call divides.
    const int64_t offset = offset_.load(std::memory_order_relaxed);
    const bool carries = now.tv_nsec + (offset & kPartMask) >= kNsPerSecond;
    return static_cast<uint32_t>(now.tv_sec + (offset >> kPartBits) + (carries ? 1 : 0));
  }

 private:
  static constexpr int kPartBits = 30;  // nanoseconds below a second
  static constexpr int64_t kPartMask = (int64_t{1} << kPartBits) - 1;

  static int64_t Split(int64_t ns);
  static int64_t Joined(int64_t offset);
  int64_t ReadNs(clockid_t clock) const;
  int64_t OffsetNs() const;
  int64_t SleptNs() const;
  void LookForSleep(int64_t now_s);

  const Read read_;
  int64_t slept_at_start_ns_ = 0;
  int64_t offset_at_start_ns_ = 0;  // from the monotonic clock to the date
  // The same, with what the machine has slept since: seconds, then kPartBits of nanoseconds. Rises.
  std::atomic<int64_t> offset_{0};
  std::atomic<int64_t> looked_s_{0};  // when sleep was looked for
};

}  // namespace weft::base
