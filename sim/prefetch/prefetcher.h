// sim/prefetch/prefetcher.h: what a memory controller reports to its prefetching unit, and what the
// unit asks of it. The unit hears of everything in order of time.
//
//     kKey, kHit of the cores --> +------------+ --> Asked: lines, to this controller's staging
//     buckets read from memory -> | Prefetcher |      queue or, over the mesh, to the other's
//     lines it had fetched -----> +------------+
//
// Threads   one owner.
// Source    paper 004, section 3; the simulator's specification, sections 1.3, 3.6 and 3.7.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/time.h"
#include "sim/trace/record.h"

namespace weft::sim {

// A line that the unit wants in the cache. `id` is the unit's own, handed back with its data.
struct AskedLine {
  uint64_t line = 0;
  Time ready = 0;  // when it leaves the unit
  uint64_t id = 0;
};

class Prefetcher {
 public:
  virtual ~Prefetcher() = default;
  // A core's read of the line came back from memory; its data is at the controller since `now`.
  virtual void OnLineRead(uint64_t line, int core, Time now) = 0;
  // A core's kKey or kHit record arrived at the controller of its bucket.
  virtual void OnMark(const Record& record, int core, Time now) = 0;
  // A line that it asked for is at the controller that has it, or was dropped.
  virtual void OnAskedLine(uint64_t id, bool was_dropped, Time now) = 0;
  // A warm-up is over: the run's figures begin, anew if they had begun.
  virtual void OnWarmupEnd() {}
  // When it next has something to do on its own; kNever: not before the next call.
  virtual Time NextEvent() const = 0;
  // Does what it has to do until `now`, and appends what it asks for.
  virtual void AdvanceTo(Time now, std::vector<AskedLine>* asked) = 0;
};

}  // namespace weft::sim
