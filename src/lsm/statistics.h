// lsm/statistics.h: the counters of one store, cheap enough for every read and write.
//
// Threads   any. A sum is a moment old. Cost: base/striped_counters.h.
#pragma once

#include <cstdint>

#include "base/striped_counters.h"
#include "table/read_counters.h"
#include "weft/db_events.h"

namespace weft::lsm {

class Statistics {
 public:
  // One for each counter of DbStatistics that grows; those that tell the present are not here.
  enum Ticker : uint8_t {
    kGets,
    kGetsFound,
    kWrites,
    kKeysWritten,
    kBytesWritten,
    kIterators,
    kLogSyncs,
    kFlushes,
    kFlushBytes,
    kCompactions,
    kTrivialMoves,
    kCompactionBytesRead,
    kCompactionBytesWritten,
    kCompactionKeysRead,
    kCompactionKeysDropped,
    kCompactionKeysEnded,
    kCompactionKeysUnparsed,
    kCompactionUs,
    kCompactionFailures,
    kCompactionsByDevice,
    kCompactionsLeftToCpu,
    kSlowdowns,
    kSlowdownUs,
    kStops,
    kStopUs,
    kTickers,
  };

  void Add(Ticker ticker, uint64_t n) { tickers_.Add(ticker, n); }
  uint64_t Sum(Ticker ticker) const { return tickers_.Sum(ticker); }
  // What the store's tables count; given to them.
  table::ReadCounters* reads() { return &reads_; }
  // Fills in every counter kept here.
  void FillIn(DbStatistics* statistics) const;

 private:
  base::StripedCounters<kTickers> tickers_;
  table::ReadCounters reads_;
};

}  // namespace weft::lsm
