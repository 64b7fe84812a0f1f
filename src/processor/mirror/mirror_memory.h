// processor/mirror/mirror_memory.h: the device's own memory that holds a mirror (mirror.h).
//
// Threads   one call at a time.
// Errors    as Processor's; kNoMemory if there is not enough.
#pragma once

#include <cstdint>
#include <span>

#include "task/query_job.h"
#include "weft/status.h"

namespace weft::processor {

// The memory of the mirror. Calls have taken effect, in their order, before any job that is started
// after them; earlier jobs see of it what mirror_device.h says.
class MirrorMemory {
 public:
  virtual ~MirrorMemory() = default;
  // Room for another index, empty, in place of the one before.
  virtual Status NewIndex(uint64_t bucket_count) = 0;
  // Addresses for a log of `segments`, in place of the one before. No segment is held, nothing is
  // resident, nothing was used.
  virtual Status NewLog(uint32_t segments, uint64_t segment_bytes) = 0;
  // How many segments may be held at once.
  virtual uint32_t SegmentsMax() const = 0;
  // Gives a segment memory, with any content. kNoMemory: not now; nothing has changed.
  // REQUIRES: it is not held
  virtual Status Hold(uint32_t segment) = 0;
  // Takes the memory away. REQUIRES: it is held, and nothing of it is resident
  virtual Status Drop(uint32_t segment) = 0;
  // Bucket n of the store's `table`, as it is now, to bucket n of the index, for each n of
  // `numbers`; others change the table meanwhile (copy_buckets.h). If a number comes twice, either
  // copy may last, or some words of each.
  virtual Status CopyIndex(const task::Bucket* table, std::span<const uint64_t> numbers) = 0;
  // Readers note accesses in the objects meanwhile (task/object.h, NoteRead): either word will do.
  // REQUIRES: all segments that the bytes lie in are held; offset and count are multiples of 8
  virtual Status WriteLog(uint64_t offset, const uint8_t* bytes, uint64_t count) = 0;
  // From now on `units` of the segment (or of the run that begins with it) are there, of this
  // version base. With 0 units the base is any.
  virtual Status SetResident(uint32_t segment, uint32_t units, uint64_t base) = 0;
  // LogRef::uses of every segment, as of now or of some moment after the last call but one.
  virtual Status ReadUses(std::span<uint32_t> uses) = 0;
  // As the tasks see it, except the store's part (policy, flush_floor, shift) and the mirror's
  // (use_tick).
  virtual task::IndexRef index() const = 0;
  virtual task::LogRef log() const = 0;
};

}  // namespace weft::processor
