// protocol/counters.h: what one worker has done, in memcached's words (doc/protocol.txt, "General
// statistics"). Names are those of `stats`.
//
// Threads   one worker writes; any thread reads and sums.
#pragma once

#include "base/counter.h"
#include "cache/command.h"

namespace weft::protocol {

struct CommandCounters {
  base::Counter cmd_get, cmd_set, cmd_flush, cmd_touch, cmd_meta;
  base::Counter get_hits, get_misses, get_expired, get_flushed;
  base::Counter delete_hits, delete_misses;
  base::Counter incr_hits, incr_misses, decr_hits, decr_misses;
  base::Counter cas_hits, cas_misses, cas_badval;
  base::Counter touch_hits, touch_misses;
  base::Counter store_too_large, store_no_memory;
  base::Counter total_items;  // stores that took effect
  // get_expired: reads that found an object past its end; get_flushed: one a flush had emptied.
};

// Counts one answered command about a key.
void CountReply(const cache::Command& command, const cache::Reply& reply,
                CommandCounters* counters);

}  // namespace weft::protocol
