// bench/embedded/walk.h: the least memory traffic that a lookup can have, and nothing else: one
// 64-byte bucket line at random, then the object that a word of it names. No key, no hash of bytes,
// no comparison, no copy: the ceiling for any store with this layout on this machine.
//
// Layout    buckets: as many lines as the cache's index would have (a power of two, eight slots
//           each, at most 85 % of them in use). Objects: 96 bytes end to end, so 8 B-aligned, each
//           over exactly two lines.
// Threads   immutable after construction: any number may walk.
// Cost      three lines a step; in a batch, all first lines are asked for before any is used.
#pragma once

#include <cstdint>
#include <span>

#include "bench/embedded/huge_array.h"
#include "bench/harness/random.h"

namespace weft::bench {

inline constexpr uint32_t kWalkBatchMax = 256;

class Walk {
 public:
  Walk(uint64_t objects, bool huge_pages, uint64_t seed);

  // Walks to every id, `batch` at a time; returns the sum of all words of their objects.
  // REQUIRES: 0 < batch <= kWalkBatchMax
  uint64_t Run(std::span<const uint32_t> ids, uint32_t batch) const;

 private:
  void RunBatch(std::span<const uint32_t> ids, uint64_t* sum) const;

  uint64_t mask_;
  HugeArray buckets_;
  HugeArray object_words_;
};

}  // namespace weft::bench
