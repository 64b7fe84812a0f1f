// bench/play/play_target.h: a trace played against a store or a server, look-aside: each get that
// misses is followed by a set.
//
// Order     each connection has a thread, which takes the next request of the trace whenever it has
//           the answer to the one before. So with one connection the order is the trace's. With
//           several it is nearly so, and for each key it is exactly so: a request that followed an
//           answer there does not come before it. So a burst of one key is no burst of misses.
// Time      the trace's times count only if it is paced. Otherwise nothing stored expires.
// Threads   one call at a time for each target.
// Errors    the target's. kCorruption: an answer that can't be, with what was wrong.
#pragma once

#include <atomic>
#include <cstdint>

#include "bench/play/tally.h"
#include "bench/target/target.h"
#include "bench/trace/trace.h"
#include "bench/workload/record.h"

namespace weft::bench {

struct TracePlayOptions {
  int connections = 1;
  double rate = 0;  // requests a second, of all connections; 0: as fast as they are answered
  double pace = 0;  // seconds of the trace in a second; 0: see above
};

// Of records whose keys and values have the trace's sizes: a version is a size.
Result<RecordFormat> FormatOf(const Trace& trace);

// `target` must be open with FormatOf(trace). `*played` counts the requests, for whoever waits.
Result<TraceTally> PlayTarget(const Trace& trace, Target* target, const TracePlayOptions& options,
                              std::atomic<uint64_t>* played);

}  // namespace weft::bench
