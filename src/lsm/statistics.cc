#include "lsm/statistics.h"

namespace weft::lsm {

uint64_t Statistics::Sum(Ticker ticker) const {
  uint64_t sum = 0;
  for (const Stripe& stripe : stripes_) {
    sum += stripe.tickers[ticker].load(std::memory_order_relaxed);
  }
  return sum;
}

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
  statistics->slowdowns = Sum(kSlowdowns);
  statistics->slowdown_us = Sum(kSlowdownUs);
  statistics->stops = Sum(kStops);
  statistics->stop_us = Sum(kStopUs);
}

}  // namespace weft::lsm
