// bench/walk/walk.h: the least memory traffic that a lookup can have, and nothing else: one
// 64-byte bucket line at random, then the object that a word of it names. No key, no hash of bytes,
// no comparison, no copy: the ceiling for any store with this layout on this machine.
//
// Layout    buckets: as many lines as the cache's index would have (a power of two, eight slots
//           each, at most 85 % of them in use). Objects: end to end, so 8 B-aligned; of 96 bytes
//           each lies over exactly two lines.
// Threads   immutable after construction: any number may walk.
// Cost      a bucket's line a step and those of the object, three with 96 bytes; a batch prefetches
//           all first lines before it uses any.
#pragma once

#include <cstdint>
#include <span>

#include "base/random.h"
#include "bench/walk/huge_array.h"

namespace weft::bench {

inline constexpr uint32_t kWalkBatchMax = 256;

class Walk {
 public:
  // `object_bytes`: of each; a multiple of 8.
  Walk(uint64_t objects, uint32_t object_bytes, bool huge_pages, uint64_t seed);

  // The memory that it takes.
  uint64_t bytes() const { return (buckets_.size() + object_words_.size()) * sizeof(uint64_t); }
  static uint64_t BytesFor(uint64_t objects, uint32_t object_bytes);

  // Walks to every id, `batch` at a time; returns the sum of all words of their objects.
  // REQUIRES: 0 < batch <= kWalkBatchMax
  uint64_t Run(std::span<const uint32_t> ids, uint32_t batch) const;

 private:
  // `kWords`: of an object; 0: words_.
  template <uint32_t kWords>
  void RunBatch(std::span<const uint32_t> ids, uint64_t* sum) const;

  uint64_t mask_;
  uint32_t words_;  // of an object
  HugeArray buckets_;
  HugeArray object_words_;
};

}  // namespace weft::bench
