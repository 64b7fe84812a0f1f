// bench/policy/frequency_sketch.h: about how often each record was used recently.
//
// A count-min sketch: four rows of counters of 4 bits; a record has one counter in each, and its
// count is the lowest of them. A use raises only the lowest. After ten times as many uses as the
// objects it was made for, all counters are halved, so that old uses fade.
//
// Memory    8 to 16 bytes an object that it is made for: four counters a row and object, or up to
//           twice as many.
// Threads   one at a time.
// Cost      four counters a call; the halving is paid by the uses before it.
// Source    G. Einziger, R. Friedman, B. Manes, TinyLFU: a highly efficient cache admission policy,
//           ACM TOS 13 (2017), without its doorkeeper.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::bench {

class FrequencySketch {
 public:
  static constexpr uint32_t kCountMax = 15;

  // REQUIRES: objects >= 1
  explicit FrequencySketch(uint64_t objects);

  void Add(uint32_t record);
  // Up to kCountMax. Too high if others share all its counters, never too low because of them.
  uint32_t CountOf(uint32_t record) const;

 private:
  static constexpr uint32_t kRows = 4;

  uint64_t CounterOf(uint32_t record, uint32_t row) const;
  uint32_t Value(uint64_t counter) const;
  void Halve();

  // Constant after construction
  uint64_t width_;  // counters a row, a power of two
  uint64_t uses_max_;

  uint64_t uses_ = 0;            // since the last halving, and half of what was before
  std::vector<uint64_t> words_;  // 16 counters each
};

}  // namespace weft::bench
