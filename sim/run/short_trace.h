// sim/run/short_trace.h: the message for a source with fewer operations than a run asks for, with
// the options that mend it.
//
// Threads   pure, except for the source.
// Errors    the source's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/machine/run_result.h"
#include "sim/run/run_options.h"
#include "sim/trace/trace_source.h"
#include "weft/status.h"

namespace weft::sim {

// Operations that the source still has, by core.
Result<std::vector<int64_t>> CountOps(TraceSource& source);

// How many of a run's operations are warm-up; with --ops 0 it plays all of `left`.
int64_t WarmupOps(const RunOptions& options, int64_t left);

// kInvalidArgument: how many operations there are, how many come before the first that is measured,
// and which options leave some to measure. REQUIRES: a run of `options` measured none of them
Status TooShort(const RunOptions& options, const std::vector<int64_t>& ops_by_core);

// For a run that measured fewer operations than --ops asks for; otherwise empty.
std::string MissingOps(const RunOptions& options, const RunResult& run);

}  // namespace weft::sim
