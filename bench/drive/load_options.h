// bench/drive/load_options.h: how a workload is put on a target.
//
// Closed loop   each session has up to `depth` operations under way, and begins more as soon as
//               `batch` of them have ended. It shows what a store can do, but its latencies leave
//               out what waited because the store was slow.
// Open loop     with a rate: operations are due on a schedule, whatever the store does, and their
//               latency counts from then (no coordinated omission). An operation that finds every
//               session full waits in the client, its clock running.
//
// Units     seconds, operations.
// Threads   a value.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/workload/rate_schedule.h"

namespace weft::bench {

struct LoadOptions {
  int threads = 1;
  int sessions = 1;       // of each thread
  int more_sessions = 0;  // so many threads have one more, the first ones
  int depth = 1;          // of each session
  int batch = 0;          // submitted at once; 0: depth. Open loop: whatever is due
  // Open loop: so many are due at one instant, on one session, and each is as late as the last of
  // them. The rate is that of bursts. 1, or the depth
  int burst = 1;
  std::optional<RateSchedule> rate = std::nullopt;
  double warmup_s = 0;            // carried out, not counted
  double seconds = 0;             // 0: until the workload is over, as a fill is
  uint64_t operations = 0;        // closed loop: of all threads, at most; 0: no limit
  double slice_s = 1;             // of the time series
  double patience_s = 10;         // without any answer: then the run fails
  bool missing_is_wrong = false;  // the store may lose nothing: it is no cache
  uint64_t seed = 1;
  std::vector<int> cpus = {};  // of the threads, in their order; empty: any
};

}  // namespace weft::bench
