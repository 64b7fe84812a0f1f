// cache/room_wait.h: how long a store waits for room that others make: their batches still see what
// was freed, or one of them moves the index's entries.
//
// A twentieth of a second in which nothing comes. That others go on shows that they only wait for a
// processor: then longer, but a second at most.
//
// Threads   one at a time.
#pragma once

#include <cstdint>

namespace weft::cache {

class RoomWait {
 public:
  static constexpr uint64_t kIdleNsMax = 50'000'000;
  static constexpr uint64_t kNsMax = 1'000'000'000;

  // `progress`: of others, any number that changes where there is some.
  explicit RoomWait(uint64_t progress) : progress_(progress) {}

  // `ns` have been waited.
  void Note(uint64_t ns, uint64_t progress) {
    all_ns_ += ns;
    idle_ns_ = progress == progress_ ? idle_ns_ + ns : 0;
    progress_ = progress;
  }
  bool is_over() const { return idle_ns_ >= kIdleNsMax || all_ns_ >= kNsMax; }

 private:
  uint64_t progress_;
  uint64_t idle_ns_ = 0;
  uint64_t all_ns_ = 0;
};

}  // namespace weft::cache
