// bench/embedded/prefetch_table.h: objects and an index of them with a fixed number in each bucket,
// in the store's own layout (src/task), and lookups of them drawn beforehand.
//
// Beside the store's own contents of a slot, bits 42 to 45, which the store leaves 0, count the
// lines of the object: what a prefetch of just its size could read there.
//
// Units     bytes.
// Threads   built by one; then immutable.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/walk/huge_array.h"
#include "task/index.h"
#include "task/log.h"

namespace weft::bench {

inline constexpr uint32_t kPrefetchKeyBytes = 23;
inline constexpr uint32_t kSlotLinesMax = 15;
inline constexpr uint32_t kSlotLinesShift = 42;

// Lines that the object of a slot lies on, up to kSlotLinesMax.
inline uint32_t LinesOfSlot(uint64_t word) {
  return static_cast<uint32_t>(word >> kSlotLinesShift) & kSlotLinesMax;
}

class PrefetchTable {
 public:
  // Objects of about `bytes` in all; sizes are drawn evenly from `values`.
  PrefetchTable(const std::vector<uint32_t>& values, uint64_t bytes, uint64_t seed);

  // Enters all objects anew, `per_bucket` in each bucket. REQUIRES: 0 < per_bucket <= 8
  void Index(uint32_t per_bucket, uint64_t seed);

  uint64_t objects() const { return locations_.size(); }
  uint64_t object_bytes() const { return object_bytes_; }
  uint64_t index_bytes() const { return bucket_count_ * sizeof(task::Bucket); }
  // Of an object, with its filler.
  uint32_t mean_bytes() const { return static_cast<uint32_t>(object_bytes_ / objects()); }
  uint32_t per_bucket() const { return per_bucket_; }
  const task::TableRef& table() const { return table_; }
  const task::LogRef& log() const { return log_; }

  void WriteKeyOf(uint64_t id, char* key) const;
  std::string ValueOf(uint64_t id) const;
  // Its low bits name the id's bucket.
  uint64_t HashOf(uint64_t id) const;
  uint32_t SlotOf(uint64_t id) const { return places_[id] % per_bucket_; }

 private:
  uint32_t ValueBytesOf(uint64_t id) const;

  const std::vector<uint32_t> values_;
  uint64_t object_bytes_ = 0;
  HugeArray log_words_;
  std::vector<uint32_t> locations_;  // of each object, in the log
  std::vector<uint32_t> places_;     // of each object: bucket * per_bucket + slot
  HugeArray bucket_words_;           // for one object a bucket
  uint32_t per_bucket_ = 0;
  uint64_t bucket_count_ = 0;
  task::TableRef table_{};
  task::LogRef log_{};
};

// Ids drawn uniformly, with all that a lookup needs in arrays that are read from front to back.
struct PrefetchLookups {
  PrefetchLookups(const PrefetchTable& table, size_t count, uint64_t seed);

  std::vector<uint64_t> hash;
  std::vector<char> keys;  // kPrefetchKeyBytes each
  std::vector<uint32_t> id;
  std::vector<uint8_t> other_slot;  // of the bucket, not the key's, unless that is the only one
  std::vector<uint8_t> percent;     // a number from 0 to 99
};

}  // namespace weft::bench
