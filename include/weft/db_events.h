// weft/db_events.h: what a durable store reports while it works: counters, and calls at events.
//
// Units     bytes and microseconds, as the names say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/status.h"

namespace weft {

// Counters since Open, taken together a moment ago (Db::Statistics).
struct DbStatistics {
  // Calls.
  uint64_t gets = 0;  // keys asked for, by Get and MultiGet
  uint64_t gets_found = 0;
  uint64_t writes = 0;         // batches
  uint64_t keys_written = 0;   // changes in them
  uint64_t bytes_written = 0;  // keys and values of those
  uint64_t iterators = 0;      // made
  // Reading tables; compactions are not counted here.
  uint64_t filters_asked = 0;       // by lookups: one for each table on their way
  uint64_t filters_useful = 0;      // of those: it said no, and no data block was touched
  uint64_t blocks_read = 0;         // data blocks: those that lookups and iterators looked into
  uint64_t block_cache_hits = 0;    // of those that cannot be used in place in a mapped file
  uint64_t block_cache_misses = 0;  // likewise: read, or opened, anew
  // The log.
  uint64_t log_bytes = 0;
  uint64_t log_syncs = 0;
  // Tables.
  uint64_t flushes = 0;
  uint64_t flush_bytes = 0;
  uint64_t compactions = 0;    // jobs that merged
  uint64_t trivial_moves = 0;  // tables moved down a level without being read
  uint64_t compaction_bytes_read = 0;
  uint64_t compaction_bytes_written = 0;
  uint64_t compaction_keys_read = 0;
  uint64_t compaction_keys_dropped = 0;
  uint64_t compaction_keys_ended = 0;     // by their lifetime: dropped or made deletions
  uint64_t compaction_keys_unparsed = 0;  // kept, though they are no keys of a store: damage
  uint64_t compaction_us = 0;             // wall time of all jobs, summed
  uint64_t compaction_failures = 0;       // jobs that ended in an error; their inputs stayed
  uint64_t compactions_by_device = 0;     // parts of jobs: done by a processor other than the CPU
  uint64_t compactions_left_to_cpu = 0;   // parts that it could not do, or failed at
  // Waits of writers.
  uint64_t slowdowns = 0;  // writes that were delayed
  uint64_t slowdown_us = 0;
  uint64_t stops = 0;  // writes that waited for room
  uint64_t stop_us = 0;
  // Now.
  uint64_t memtable_bytes = 0;
  uint64_t compaction_debt_bytes = 0;  // still to compact until every level is within its limit
};

struct FlushEvent {
  uint64_t file_number = 0;  // 0: everything flushed was empty
  int level = 0;
  uint64_t bytes = 0;
  uint64_t keys = 0;
  uint64_t us = 0;
  Status status;
};

struct CompactionEvent {
  int level = 0;  // of the upper inputs
  int output_level = 0;
  std::vector<uint64_t> inputs[2];  // file numbers, of `level` and of `output_level`
  std::vector<uint64_t> outputs;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t keys_read = 0;
  uint64_t keys_dropped = 0;
  uint64_t keys_unparsed = 0;
  uint64_t us = 0;
  std::string device;  // at the end: which wrote the outputs, such as "cpu"
  Status status;
};

// How writers are admitted. Only changes are reported, not each write.
enum class WriteState : uint8_t { kFree, kSlowed, kStopped };

// Override the calls that you want. They come one at a time, in order, from a thread that does
// nothing else, a moment after the event. All have come when the store's destructor returns. A
// listener may use the store but must not close it.
class EventListener {
 public:
  virtual ~EventListener() = default;
  virtual void OnFlush(const FlushEvent&) {}
  virtual void OnCompactionBegin(const CompactionEvent&) {}
  virtual void OnCompactionEnd(const CompactionEvent&) {}
  virtual void OnTableCreated(const std::string& path, uint64_t bytes) { (void)path, (void)bytes; }
  virtual void OnTableDeleted(const std::string& path) { (void)path; }
  virtual void OnWriteState(WriteState) {}
  // After this the store takes no more writes; reads go on.
  virtual void OnBackgroundError(const Status&) {}
  // Recovery passed over damage (`bytes` of it).
  virtual void OnDamage(const std::string& file, uint64_t bytes, const Status& what) {
    (void)file, (void)bytes, (void)what;
  }
};

}  // namespace weft
