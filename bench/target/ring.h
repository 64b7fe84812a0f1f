// bench/target/ring.h: an endless queue in an array: what a session waits for, in the order in
// which the answers come.
//
// Threads   one owner.
// Cost      no allocation once it has grown to the greatest depth.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace weft::bench {

template <typename T>
class Ring {
 public:
  bool empty() const { return first_ == end_; }
  size_t size() const { return end_ - first_; }
  // These three: REQUIRES !empty()
  T& front() { return slots_[first_ & (slots_.size() - 1)]; }
  T& back() { return slots_[(end_ - 1) & (slots_.size() - 1)]; }
  void Pop() { ++first_; }
  // A slot behind the last one, with whatever was in it before.
  T& Push() {
    if (first_ == end_) first_ = end_ = 0;  // the slots that are in the processor's cache
    if (size() == slots_.size()) Grow();
    return slots_[end_++ & (slots_.size() - 1)];
  }

 private:
  static constexpr size_t kSlotsMin = 64;

  void Grow() {
    std::vector<T> wider(slots_.empty() ? kSlotsMin : slots_.size() * 2);
    for (size_t at = first_; at != end_; ++at)
      wider[at & (wider.size() - 1)] = std::move(slots_[at & (slots_.size() - 1)]);
    slots_ = std::move(wider);
  }

  std::vector<T> slots_;  // a power of two of them
  size_t first_ = 0;      // both grow until it is empty; a slot is the count modulo the size
  size_t end_ = 0;
};

}  // namespace weft::bench
