// sim/prefetch/unit_counts.h: what a unit counts. The machine counts what became of the lines that
// the unit asked for.
//
// Every trigger is in exactly one of triggers_asked, triggers_nothing and triggers_displaced, or is
// still undecided. The figures begin when the warm-up is over, so one may be decided that isn't
// among the triggers.
//
// Threads   values.
// Source    the simulator's specification, sections 1.3, 3.5 and 3.7.
#pragma once

#include <array>
#include <cstdint>

#include <nlohmann/json.hpp>

namespace weft::sim {

struct UnitCounts {
  int64_t triggers = 0;            // buckets read from memory
  int64_t overflow_reads = 0;      // overflow buckets read, which trigger nothing
  int64_t triggers_asked = 0;      // lines were asked for
  int64_t triggers_nothing = 0;    // no entry to fetch: none valid, none that matches, a chain
  int64_t triggers_displaced = 0;  // pushed out: they waited for a key
  int64_t triggers_waited = 0;     // for a key that came later
  int64_t triggers_queued = 0;     // for a free in-situ unit
  int64_t queued_ps = 0;           // sum over these
  int64_t keys = 0;                // kKey marks
  int64_t keys_displaced = 0;      // by later ones: their bucket was never read
  int64_t tag_collisions = 0;      // in-situ: another key's entry has the tag

  // Of triggers whose kHit came.
  int64_t addresses_right = 0;     // the object's slot was asked for
  int64_t addresses_wrong = 0;     // wrong: only others were
  int64_t addresses_none = 0;      // nothing was, though the object is in the bucket
  int64_t addresses_absent = 0;    // the object is not in the bucket itself
  int64_t addresses_unjudged = 0;  // gave up waiting for kHit

  // Of all lookups that found their object in the bucket, whether they triggered or not.
  int64_t hits = 0;
  int64_t hits_predicted = 0;  // by the hit table before it learnt of them

  int64_t objects = 0;              // asked for
  int64_t objects_outside_log = 0;  // and so not asked for
  int64_t lines_asked = 0;
  int64_t lines_missing = 0;       // of the objects asked for, beyond what was asked
  int64_t lines_excess = 0;        // asked beyond the object's end
  int64_t first_lines_lost = 0;    // dropped: the size in it could not be read
  int64_t size_registrations = 0;  // writes of the dynamic size's register

  bool operator==(const UnitCounts&) const = default;
  UnitCounts& operator+=(const UnitCounts& other);
  UnitCounts& operator-=(const UnitCounts& other);

  // Of the triggers that could be right, because their object is in the bucket, how many were; 0 if
  // there were none.
  double address_accuracy() const;
  // Of all lookups that found their object in the bucket, how many the hit table had right; 0 if
  // there were none.
  double hit_accuracy() const;
};

nlohmann::ordered_json ToJson(const UnitCounts& counts);

}  // namespace weft::sim
