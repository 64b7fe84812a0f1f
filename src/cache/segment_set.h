// cache/segment_set.h: a set of segment numbers that finds its lowest quickly: one bit a segment.
//
// Threads: the owner's lock.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::cache {

class SegmentSet {
 public:
  explicit SegmentSet(uint32_t segments) : words_((segments + 63) / 64, 0) {}

  void Insert(uint32_t segment) {
    words_[segment / 64] |= uint64_t{1} << (segment % 64);
    lowest_word_ = std::min<size_t>(lowest_word_, segment / 64);
    count_++;
  }
  // REQUIRES: Contains(segment)
  void Erase(uint32_t segment) {
    words_[segment / 64] &= ~(uint64_t{1} << (segment % 64));
    count_--;
  }
  bool Contains(uint32_t segment) const {
    return (words_[segment / 64] >> (segment % 64) & 1) != 0;
  }
  uint32_t count() const { return count_; }

  // REQUIRES: count() != 0
  uint32_t Lowest() {
    while (words_[lowest_word_] == 0) lowest_word_++;
    return static_cast<uint32_t>(lowest_word_ * 64) +
           static_cast<uint32_t>(std::countr_zero(words_[lowest_word_]));
  }

 private:
  std::vector<uint64_t> words_;
  size_t lowest_word_ = 0;  // no member below it
  uint32_t count_ = 0;
};

}  // namespace weft::cache
