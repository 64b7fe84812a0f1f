// protocol/counters.h: what one worker has done, in memcached's words (doc/protocol.txt, "General
// statistics"). Names are those of `stats`.
//
// Threads   one worker writes; any thread reads and sums.
// Source    which command counts what is memcached 1.6.18's, as observed
//           (tests/integration/counters_test.py compares them command by command).
#pragma once

#include "base/counter.h"
#include "protocol/reply.h"

namespace weft::protocol {

struct CommandCounters {
  // cmd_meta: of me alone; the other meta commands count as those that they are like.
  base::Counter cmd_get, cmd_set, cmd_flush, cmd_touch, cmd_meta;
  base::Counter get_hits, get_misses, get_expired, get_flushed;
  base::Counter delete_hits, delete_misses;
  base::Counter incr_hits, incr_misses, decr_hits, decr_misses;
  base::Counter cas_hits, cas_misses, cas_badval;
  base::Counter touch_hits, touch_misses;
  base::Counter store_too_large, store_no_memory;
  base::Counter auth_cmds, auth_errors;  // attempts to enter, and those that failed
  base::Counter total_items;  // items made: stores that took effect, and what creates or lengthens
  // get_expired: commands that found an object past its end; get_flushed: one a flush had emptied.
};

// Counts one answered command about a key. REQUIRES: a request about keys
void CountAnyReply(const Request& request, const cache::Reply& reply, CommandCounters* counters);
// The same; nearly all are hits of a get.
inline void CountReply(const Request& request, const cache::Reply& reply,
                       CommandCounters* counters) {
  if (!IsPlainHit(request, reply) || request.command.update_expiry)
    return CountAnyReply(request, reply, counters);
  counters->cmd_get.Add(1);
  counters->get_hits.Add(1);
}

// Counts a store or a log-in that was refused before it was carried out.
void CountRefused(Refused refused, CommandCounters* counters);

}  // namespace weft::protocol
