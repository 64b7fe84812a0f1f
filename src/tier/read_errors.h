// tier/read_errors.h: reports keys that could not be read from the durable store: the first at
// once, then once a second at most, however many there are.
//
// Threads   any. `tell` is called on the thread that met the error.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "weft/status.h"

namespace weft::tier {

class ReadErrors {
 public:
  // `why`: of the last key; `keys`: those that could not be read since the last call.
  using Tell = std::function<void(const Status& why, uint64_t keys)>;

  // `tell` may be empty.
  explicit ReadErrors(Tell tell) : tell_(std::move(tell)) {}

  // `now_ns`: base::NowNs
  void Note(const Status& why, uint64_t now_ns) {
    total_.fetch_add(1, std::memory_order_relaxed);
    untold_.fetch_add(1, std::memory_order_relaxed);
    // Relaxed: this only decides who reports; it hands nothing over.
    uint64_t next_ns = next_ns_.load(std::memory_order_relaxed);
    if (now_ns < next_ns ||
        !next_ns_.compare_exchange_strong(next_ns, now_ns + kNsBetween, std::memory_order_relaxed))
      return;
    const uint64_t keys = untold_.exchange(0, std::memory_order_relaxed);
    if (tell_) tell_(why, keys);
  }

  uint64_t total() const { return total_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint64_t kNsBetween = 1'000'000'000;

  const Tell tell_;
  std::atomic<uint64_t> total_{0}, untold_{0};
  std::atomic<uint64_t> next_ns_{0};
};

}  // namespace weft::tier
