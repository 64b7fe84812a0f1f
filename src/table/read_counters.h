// table/read_counters.h: counters of reads, summed over all tables of a store.
//
// Threads   any; see base/striped_counters.h.
#pragma once

#include <cstdint>

#include "base/striped_counters.h"

namespace weft::table {

class ReadCounters {
 public:
  enum Counter : uint8_t {
    kFiltersAsked,   // lookups that asked a block's filter;
    kFiltersUseful,  // of them: it said no, and no data block was touched;
    kBlocksRead,     // data blocks that lookups and iterators looked into, from any source
    kCacheHits,      // of those that need memory of their own: found in the block cache
    kCacheMisses,    // the same: looked for there in vain
    kCounters,
  };

  void Add(Counter counter, uint64_t n) { counters_.Add(counter, n); }
  uint64_t Sum(Counter counter) const { return counters_.Sum(counter); }

 private:
  base::StripedCounters<kCounters> counters_;
};

}  // namespace weft::table
