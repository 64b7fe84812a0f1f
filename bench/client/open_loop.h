// bench/client/open_loop.h: a client that sends on schedule, whatever the server does, and counts
// each latency from the instant its request was due.
//
// A server that stalls is charged for every request that should have been sent meanwhile (no
// coordinated omission). A round that finds all connections busy waits in the client, its clock
// running. Each request of a round has the latency of the round's last reply.
//
// Threads   runs on the caller's thread, which polls and uses its core entirely.
#pragma once

#include <cstdint>

#include "base/histogram.h"
#include "bench/client/closed_loop.h"

namespace weft::bench {

struct OpenLoopOptions {
  uint16_t port = 0;
  size_t connections = 50;
  PayloadShape shape;
  double rounds_per_s = 1000;
  double seconds = 3;
  bool poisson = false;  // gaps: exponential (seeded), or all the same
  uint64_t seed = 0;
};

struct OpenLoopResult {
  ReplyCounts counts;
  base::Histogram latency_ns;   // one entry an operation
  base::Histogram send_lag_ns;  // how late rounds left, for want of a connection or of client CPU
  double wall_s = 0;
  uint64_t unsent = 0;  // rounds given up: more than the drain time behind the schedule
};

// Sends what `source` fills at the given rate and waits for all replies.
Result<OpenLoopResult> RunOpenLoop(const OpenLoopOptions& options, RoundSource& source);

}  // namespace weft::bench
