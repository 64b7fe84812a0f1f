#include "lsm/statistics.h"

namespace weft::lsm {

void Statistics::FillIn(DbStatistics* statistics) const {
  statistics->gets = Sum(kGets);
  statistics->gets_found = Sum(kGetsFound);
  statistics->writes = Sum(kWrites);
  statistics->keys_written = Sum(kKeysWritten);
  statistics->bytes_written = Sum(kBytesWritten);
  statistics->iterators = Sum(kIterators);
  statistics->log_syncs = Sum(kLogSyncs);
  statistics->flushes = Sum(kFlushes);
  statistics->flush_bytes = Sum(kFlushBytes);
  statistics->compactions = Sum(kCompactions);
  statistics->trivial_moves = Sum(kTrivialMoves);
  statistics->compaction_bytes_read = Sum(kCompactionBytesRead);
  statistics->compaction_bytes_written = Sum(kCompactionBytesWritten);
  statistics->compaction_keys_read = Sum(kCompactionKeysRead);
  statistics->compaction_keys_dropped = Sum(kCompactionKeysDropped);
  statistics->compaction_keys_ended = Sum(kCompactionKeysEnded);
  statistics->compaction_keys_unparsed = Sum(kCompactionKeysUnparsed);
  statistics->compaction_us = Sum(kCompactionUs);
  statistics->compaction_failures = Sum(kCompactionFailures);
  statistics->compactions_by_device = Sum(kCompactionsByDevice);
  statistics->compactions_left_to_cpu = Sum(kCompactionsLeftToCpu);
  statistics->slowdowns = Sum(kSlowdowns);
  statistics->slowdown_us = Sum(kSlowdownUs);
  statistics->stops = Sum(kStops);
  statistics->stop_us = Sum(kStopUs);
  using table::ReadCounters;
  statistics->filters_asked = reads_.Sum(ReadCounters::kFiltersAsked);
  statistics->filters_useful = reads_.Sum(ReadCounters::kFiltersUseful);
  statistics->blocks_read = reads_.Sum(ReadCounters::kBlocksRead);
  statistics->block_cache_hits = reads_.Sum(ReadCounters::kCacheHits);
  statistics->block_cache_misses = reads_.Sum(ReadCounters::kCacheMisses);
}

}  // namespace weft::lsm
