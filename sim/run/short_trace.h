// sim/run/short_trace.h: what to say of a source that has fewer operations than a run asks for, and
// which options mend it.
//
// Threads   pure, but for the source.
// Errors    those of the source.
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

// Of so many that are played, 0 being all of `left`.
int64_t WarmupOps(const RunOptions& options, int64_t left);

// kInvalidArgument: how many operations there are, how many come before the first that is measured,
// and which options leave some to be measured. REQUIRES: a run of `options` measured none of them
Status TooShort(const RunOptions& options, const std::vector<int64_t>& ops_by_core);

// Of a run that measured fewer operations than --ops asks for; otherwise empty.
std::string MissingOps(const RunOptions& options, const RunResult& run);

}  // namespace weft::sim
