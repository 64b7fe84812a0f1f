// sim/run/idle_options.h: options of a run that change nothing because of others: a unit's without
// a unit, a generator's where a trace is played.
//
// Threads   pure.
// Errors    kInvalidArgument: an option was given and changes nothing; the message says why.
#pragma once

#include <string>
#include <vector>

#include "sim/base/given.h"
#include "sim/prefetch/prefetch_options.h"
#include "sim/run/run_options.h"
#include "weft/status.h"

namespace weft::sim {

struct IdleOption {
  std::string name;  // "t-insitu"
  std::string key;   // of ConfigOf(), if it has the option
  std::string why;
};

// Whether another seed makes another run. It does not where a recorded trace is replayed, unless
// its unit draws, as does an oracle whose accuracy is below 1.
bool DependsOnSeed(const RunOptions& run, const PrefetchOptions& prefetch);
inline constexpr const char* kReplayedTheSame =
    "a recorded trace is replayed the same way with any seed";

std::vector<IdleOption> IdleOptions(const RunOptions& run, const PrefetchOptions& prefetch);

struct RunWithUnit {
  RunOptions run;
  PrefetchOptions prefetch;
};
// A given option that changes nothing in any of its runs is an error, even if its value is the
// default.
Status RefuseIdle(const std::vector<RunWithUnit>& runs);
// Of a memory alone.
Status RefuseIdle(const MemoryOptions& memory, const Given& given);
// Of a trace that is written, for whatever plays it, perhaps with a unit.
Status RefuseIdle(const WorkloadOptions& workload, const Given& given);

}  // namespace weft::sim
