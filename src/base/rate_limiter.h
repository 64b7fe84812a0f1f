// base/rate_limiter.h: an even limit on bytes written in the background, so that flushes and
// compactions do not take the disk from the requests before it.
//
// A token bucket that holds kBurstMs of the rate. A request takes tokens as they come and is done
// when it has all it asked for, so it may be larger than the bucket. Requests of the higher
// priority go first, but while both wait the lower one gets a tenth, a bucket at a time: flushes
// without end would starve the compactions that they make necessary. Within a priority requests go
// in order of arrival; one that is passed keeps what it has.
//
// Units     bytes a second; 0 is no limit.
// Threads   any at once. Request blocks, in steps of 1 to kBurstMs milliseconds.
// Cost      without a limit, one load; else a mutex.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>

#include "base/mutex.h"

namespace weft::base {

// The time a limiter goes by: tests give their own.
class RateClock {
 public:
  virtual ~RateClock() = default;
  virtual uint64_t NowNs() = 0;
  // Waits on `change` for up to `ms` with `mutex` held, as CondVar does.
  virtual void WaitLocked(CondVar* change, Mutex* mutex, int ms) WEFT_REQUIRES(mutex) = 0;
};

class RateLimiter {
 public:
  enum class Priority : uint8_t { kFlush, kCompaction };
  static constexpr size_t kPriorities = 2;
  static constexpr int kBurstMs = 10;
  // While both priorities wait, one in so many bytes let through is the lower one's.
  static constexpr uint64_t kLowerShare = 10;

  // `clock` must outlive it; null: the system's.
  explicit RateLimiter(uint64_t bytes_per_second, RateClock* clock = nullptr);
  RateLimiter(const RateLimiter&) = delete;
  RateLimiter& operator=(const RateLimiter&) = delete;

  // Returns when `bytes` may be written.
  void Request(uint64_t bytes, Priority priority);
  // Takes effect at once, on waiting requests as well.
  void SetRate(uint64_t bytes_per_second);
  uint64_t rate() const { return rate_.load(std::memory_order_relaxed); }

  // Since the start: bytes let through, and time that requests waited.
  uint64_t TotalBytes(Priority priority) const;
  uint64_t TotalWaitNs(Priority priority) const;

 private:
  struct Totals {
    std::atomic<uint64_t> bytes{0};
    std::atomic<uint64_t> wait_ns{0};
  };
  using Ticket = uint64_t;

  void RefillLocked() WEFT_REQUIRES(mutex_);
  uint64_t BucketBytes() const;
  // Whose turn it is; somebody waits.
  Priority TurnLocked() const WEFT_REQUIRES(mutex_);
  bool IsFirstLocked(Ticket ticket, Priority priority) const WEFT_REQUIRES(mutex_);
  // Up to `bytes` of the tokens there are, for the first.
  uint64_t TakeLocked(uint64_t bytes, Priority priority) WEFT_REQUIRES(mutex_);
  bool BothWaitLocked() const WEFT_REQUIRES(mutex_);
  int WaitMsLocked(uint64_t missing) const WEFT_REQUIRES(mutex_);
  void WaitForTokens(uint64_t bytes, Priority priority);

  RateClock* const clock_;
  // Written under mutex_; read anywhere, as a number of its own.
  std::atomic<uint64_t> rate_;
  std::array<Totals, kPriorities> totals_;

  mutable Mutex mutex_;
  CondVar change_;
  uint64_t tokens_ WEFT_GUARDED_BY(mutex_) = 0;
  uint64_t refilled_ns_ WEFT_GUARDED_BY(mutex_);
  Ticket next_ticket_ WEFT_GUARDED_BY(mutex_) = 0;
  std::array<std::deque<Ticket>, kPriorities> waiting_ WEFT_GUARDED_BY(mutex_);
  // While both wait: what flushes took since the compactions' last turn, and what is left of the
  // turn that these have now.
  uint64_t taken_in_turn_ WEFT_GUARDED_BY(mutex_) = 0;
  uint64_t turn_left_ WEFT_GUARDED_BY(mutex_) = 0;
};

}  // namespace weft::base
