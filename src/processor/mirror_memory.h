// processor/mirror_memory.h: the memory of a device's own that a mirror (mirror.h) lies in.
//
// Threads   one call at a time.
// Errors    as Processor's; kNoMemory where there is not enough.
#pragma once

#include <cstdint>
#include <span>

#include "task/query_job.h"
#include "weft/status.h"

namespace weft::processor {

// The memory that the mirror lies in. Calls take effect in their order, before any job that is
// started after them.
class MirrorMemory {
 public:
  // kMarkBuckets buckets of the index, from bucket `number * kMarkBuckets` on.
  struct Piece {
    uint64_t number;
    task::Bucket buckets[kMarkBuckets];
  };

  virtual ~MirrorMemory() = default;
  // Room for another index, empty, in the place of the one before.
  virtual Status NewIndex(uint64_t bucket_count) = 0;
  // Room for a log of `segments`, or as many of them as fit. Once.
  virtual Status NewLog(uint32_t segments, uint64_t segment_bytes) = 0;
  // How many segments there is room for; those behind are never resident.
  virtual uint32_t SegmentsMax() const = 0;
  virtual Status WriteIndex(std::span<const Piece> pieces) = 0;
  virtual Status WriteLog(uint64_t offset, const uint8_t* bytes, uint64_t count) = 0;
  // From now on `units` of the segment are there, of this version base.
  virtual Status SetResident(uint32_t segment, uint32_t units, uint64_t base) = 0;
  // As the tasks see it, but for what the mirror does not change (policy, flush_floor, shift).
  virtual task::IndexRef index() const = 0;
  virtual task::LogRef log() const = 0;
};

}  // namespace weft::processor
