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
    if (Contains(segment)) return;
    words_[segment / 64] |= uint64_t{1} << (segment % 64);
    lowest_word_ = std::min<size_t>(lowest_word_, segment / 64);
    count_++;
  }
  void Erase(uint32_t segment) {
    if (!Contains(segment)) return;
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
  // The highest below `end`, or 0.
  uint32_t HighestBelow(uint32_t end) const {
    if (end == 0) return 0;
    size_t word = (end - 1) / 64;
    uint64_t bits = words_[word] & UINT64_MAX >> (63 - (end - 1) % 64);
    while (bits == 0 && word != 0) bits = words_[--word];
    if (bits == 0) return 0;
    return static_cast<uint32_t>(word * 64 + 63) - static_cast<uint32_t>(std::countl_zero(bits));
  }

 private:
  std::vector<uint64_t> words_;
  size_t lowest_word_ = 0;  // no member below it
  uint32_t count_ = 0;
};

}  // namespace weft::cache
