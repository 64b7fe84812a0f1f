// lsm/statistics.h: the counters of one store, cheap enough for every read and write.
//
// Threads   any. Each thread adds to one of several stripes, so that threads rarely share a line;
//           a snapshot sums the stripes and is a moment old.
// Cost      one locked addition on a line that is mostly the thread's own.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weft/db_events.h"

namespace weft::lsm {

// A small number that stays the same for a thread and differs between most threads.
inline size_t ThreadStripe() {
  static std::atomic<size_t> next{0};
  thread_local const size_t mine = next.fetch_add(1, std::memory_order_relaxed);
  return mine;
}

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
    kSlowdowns,
    kSlowdownUs,
    kStops,
    kStopUs,
    kTickers,
  };

  void Add(Ticker ticker, uint64_t n) {
    stripes_[ThreadStripe() % kStripes].tickers[ticker].fetch_add(n, std::memory_order_relaxed);
  }
  uint64_t Sum(Ticker ticker) const;
  // Fills in every counter kept here.
  void FillIn(DbStatistics* statistics) const;

 private:
  static constexpr size_t kStripes = 16;
  struct alignas(64) Stripe {
    std::array<std::atomic<uint64_t>, kTickers> tickers{};
  };
  std::array<Stripe, kStripes> stripes_;
};

}  // namespace weft::lsm
