// cache/saved_log.h: what the log's segments are between the end of a store and the start of the
// next one on the same memory (cache/restart.h): a table of those that hold something.
//
// Threads   one, while nobody else uses the log.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cache/object_log.h"

namespace weft::cache {

// One segment, as it stands in the file: docs/formats/memory-file.md.
struct SegmentRecord {
  static constexpr uint8_t kTail = 1;      // belongs to the segment before it
  static constexpr uint8_t kRun = 2;       // with those behind it: one large object
  static constexpr uint8_t kRepacked = 4;  // begun by carrying

  uint64_t version_base = 0;
  uint32_t segment = 0;
  uint32_t run_segments = 0;
  uint32_t fill_units = 0;
  uint32_t whole_units = 0;
  uint32_t crc = 0;    // of the objects: fill_units from the segment's start
  uint16_t group = 0;  // of times to live; only 0 or not means anything to another process
  uint8_t generation = 0;
  uint8_t flags = 0;
};
static_assert(sizeof(SegmentRecord) == 32, "docs/formats/memory-file.md");

// What was found in a segment whose record is no tail.
struct SegmentContents {
  bool is_sound = false;      // otherwise it counts as free
  uint64_t live_units = 0;    // of those that have entries again,
  uint32_t last_expiry = 0;   // the latest end; UINT32_MAX: some never end
  uint32_t first_expiry = 0;  // and the earliest one; the same
};

class SavedLog {
 public:
  // Seals what is open. Returns the records of the segments for whose first one `live` is not 0, in
  // the order in which they would be evicted, without checksums. A run of segments has one record.
  // Segments that share what they hold have one each, the others flagged as tails.
  static std::vector<SegmentRecord> Take(ObjectLog* log, std::span<const uint32_t> live);

  // Gives back the memory of the segments that are free.
  static void ReleaseFree(ObjectLog* log);

  // Why these cannot be the records of a log with this geometry, whose versions end before
  // `next_version`; empty: they can.
  static std::string WhyWrong(const ObjectLog& log, std::span<const SegmentRecord> records,
                              uint64_t next_version);

  // The log has these segments from now on, `contents` of each that is no tail, and all others are
  // free without memory. Versions go on at `next_version` at least. REQUIRES: nothing was appended
  // yet, and the records are not wrong
  static void Adopt(ObjectLog* log, std::span<const SegmentRecord> records,
                    std::span<const SegmentContents> contents, uint64_t next_version);

  // The greatest version that a client was shown, and what the young generation may hold.
  static uint64_t ShownVersion(const ObjectLog& log) { return log.shown_.load(); }
  static uint64_t YoungUnits(const ObjectLog& log) { return log.young_units_.load(); }
  static void SetShownAndYoung(ObjectLog* log, uint64_t shown, uint64_t young_units) {
    log->shown_ = shown;
    log->young_units_ = young_units;
  }

  // The bytes of a record's objects; the memory that they lie in.
  static uint64_t BytesOf(const SegmentRecord& record) {
    return uint64_t{record.fill_units} * kLocationUnitBytes;
  }
  static bool Populate(ObjectLog* log, const SegmentRecord& record);

 private:
  static void AddRecords(const ObjectLog& log, uint32_t segment, std::vector<SegmentRecord>* to);
  static void AdoptOne(ObjectLog* log, std::span<const SegmentRecord> records, size_t number,
                       const SegmentContents& contents);
  static void ReleaseOthers(ObjectLog* log);
};

}  // namespace weft::cache
