#include "bench/policy/frequency_sketch.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "base/random.h"

namespace weft::bench {
namespace {

constexpr uint64_t kCountersAnObjectAndRow = 4;
constexpr uint64_t kUsesAnObject = 10;
constexpr uint64_t kCountersAWord = 16;

}  // namespace

FrequencySketch::FrequencySketch(uint64_t objects)
    : width_(std::bit_ceil(objects * kCountersAnObjectAndRow)),
      uses_max_(objects * kUsesAnObject),
      words_(width_ * kRows / kCountersAWord) {
  WEFT_CHECK(objects >= 1);
}

void FrequencySketch::Add(uint32_t record) {
  const uint32_t count = CountOf(record);
  if (count < kCountMax) {
    for (uint32_t row = 0; row < kRows; ++row) {
      const uint64_t counter = CounterOf(record, row);
      if (Value(counter) == count)
        words_[counter / kCountersAWord] += uint64_t{1} << counter % kCountersAWord * 4;
    }
  }
  if (++uses_ >= uses_max_) Halve();
}

uint32_t FrequencySketch::CountOf(uint32_t record) const {
  uint32_t count = kCountMax;
  for (uint32_t row = 0; row < kRows; ++row) count = std::min(count, Value(CounterOf(record, row)));
  return count;
}

uint64_t FrequencySketch::CounterOf(uint32_t record, uint32_t row) const {
  return row * width_ + (base::Mix((uint64_t{row} + 1) << 32 | record) & (width_ - 1));
}

uint32_t FrequencySketch::Value(uint64_t counter) const {
  return words_[counter / kCountersAWord] >> counter % kCountersAWord * 4 & kCountMax;
}

void FrequencySketch::Halve() {
  for (uint64_t& word : words_) word = word >> 1 & 0x7777777777777777u;
  uses_ /= 2;
}

}  // namespace weft::bench
