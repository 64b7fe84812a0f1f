// sim/prefetch/pacu.h: the prefetch address calculation unit (the paper's PACU): which objects of a
// bucket that was read will be wanted.
//
//     bucket read, kKey, kHit --> +------+ --> Choice
//                                 | Pacu |
//                                 +------+
//
// It hears of everything in order of time; the choices' times rise, too, except for displaced ones.
//
// Threads   one owner.
// Source    paper 004, section 3.3; the simulator's specification, section 1.3.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/base/time.h"
#include "sim/prefetch/unit_counts.h"
#include "sim/trace/record.h"
#include "sim/trace/table_image.h"

namespace weft::sim {

inline constexpr int kBucketSlotsMax = 8;  // 64 bytes of 8-byte entries

// A bucket as it was when it was read.
struct BucketRead {
  uint64_t bucket = 0;
  int core = 0;
  Time at = 0;
  int slots_count = 0;
  std::array<TableSlot, kBucketSlotsMax> slots{};

  // REQUIRES: the table has the bucket, of at most kBucketSlotsMax slots
  static BucketRead Of(const TableImage& table, uint64_t bucket, int core, Time at) {
    BucketRead read{
        .bucket = bucket, .core = core, .at = at, .slots_count = table.slots_per_bucket()};
    for (int slot = 0; slot < read.slots_count; ++slot) read[slot] = table.At(bucket, slot);
    return read;
  }
  TableSlot& operator[](int slot) { return slots[static_cast<size_t>(slot)]; }
  const TableSlot& operator[](int slot) const { return slots[static_cast<size_t>(slot)]; }
};

// What becomes of a trigger.
struct Choice {
  uint64_t bucket = 0;
  int core = 0;
  Time ready = 0;
  bool is_displaced = false;  // it was never decided
  int count = 0;              // of objects, in the order of fetching
  std::array<TableSlot, kBucketSlotsMax> objects{};
  std::array<uint8_t, kBucketSlotsMax> slots{};  // theirs; kNoSlot: another bucket's

  static Choice Nothing(const BucketRead& read, Time ready) {
    return {.bucket = read.bucket, .core = read.core, .ready = ready};
  }
  static Choice Displaced(const BucketRead& read, Time ready) {
    return {.bucket = read.bucket, .core = read.core, .ready = ready, .is_displaced = true};
  }
  void Add(const TableSlot& object, uint8_t slot) {
    objects[static_cast<size_t>(count)] = object;
    slots[static_cast<size_t>(count++)] = slot;
  }
  // The slot's object; nothing if the slot is empty or a chain.
  void AddSlot(const BucketRead& read, int slot) {
    if (read[slot].has_object()) Add(read[slot], static_cast<uint8_t>(slot));
  }
};

class Pacu {
 public:
  virtual ~Pacu() = default;
  virtual void OnBucket(const BucketRead& read, std::vector<Choice>* choices) = 0;
  // kKey, with the number of its bucket.
  virtual void OnKey(const Record& /*record*/, uint64_t /*bucket*/, int /*core*/, Time /*now*/,
                     std::vector<Choice>* /*choices*/) {}
  virtual void OnHit(const Record& /*record*/) {}
};

}  // namespace weft::sim
