// processor/set_share.h: shares the sets of a job between the two that run them, if they share no
// memory for claims. The thread that drives the device takes sets from the front, some at a time
// and one step ahead; the job's owner takes them from the back, one by one.
//
// Threads   Open: one, before the others. TakeFront, TakeBack: any, each set goes to one.
// Source    paper 000, section IV-C (work stealing in sets, from both ends of a batch).
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::processor {

class SetShare {
 public:
  struct Range {
    uint32_t begin = 0, end = 0;
    bool empty() const { return begin == end; }
  };

  // Opens sets [0, sets); if `from_back` is false, they are taken only from the front.
  void Open(uint32_t sets, bool from_back) {
    from_back_ = from_back;
    left_.store(Pack({0, sets}), std::memory_order_release);
  }
  // Up to `sets_max` of the remaining sets.
  Range TakeFront(uint32_t sets_max) {
    uint64_t seen = left_.load(std::memory_order_acquire);
    for (;;) {
      const Range left = Unpack(seen);
      const uint32_t count = left.end - left.begin < sets_max ? left.end - left.begin : sets_max;
      const Range rest = {left.begin + count, left.end};
      if (left_.compare_exchange_weak(seen, Pack(rest), std::memory_order_acq_rel))
        return {left.begin, rest.begin};
    }
  }
  // The last remaining set. False: there is none.
  bool TakeBack(uint32_t* set) {
    uint64_t seen = left_.load(std::memory_order_acquire);
    for (;;) {
      const Range left = Unpack(seen);
      if (left.empty() || !from_back_) return false;
      const Range rest = {left.begin, left.end - 1};
      if (!left_.compare_exchange_weak(seen, Pack(rest), std::memory_order_acq_rel)) continue;
      *set = rest.end;
      return true;
    }
  }
  bool empty() const { return Unpack(left_.load(std::memory_order_acquire)).empty(); }
  bool from_back() const { return from_back_; }

 private:
  static uint64_t Pack(Range range) { return uint64_t{range.end} << 32 | range.begin; }
  static Range Unpack(uint64_t word) {
    return {static_cast<uint32_t>(word), static_cast<uint32_t>(word >> 32)};
  }

  std::atomic<uint64_t> left_{0};  // a Range
  bool from_back_ = false;         // constant from Open to the end of the job
};

}  // namespace weft::processor
