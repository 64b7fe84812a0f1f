// sim/run/idle_options.h: options of a run that change nothing, since others make them so: what a
// unit does without one, what a generator does where a trace is played.
//
// Threads   pure.
// Errors    kInvalidArgument: an option was given and changes nothing; the message says why.
#pragma once

#include <string>
#include <vector>

#include "sim/given.h"
#include "sim/prefetch/prefetch_options.h"
#include "sim/run/run_options.h"
#include "weft/status.h"

namespace weft::sim {

struct IdleOption {
  std::string name;  // "t-insitu"
  std::string key;   // of ConfigOf(), where it has the option
  std::string why;
};

// Whether another seed makes another run: not where a recorded trace is replayed, unless its unit
// draws, as the oracle does whose accuracy is below 1.
bool DependsOnSeed(const RunOptions& run, const PrefetchOptions& prefetch);
inline constexpr const char* kReplayedTheSame =
    "a recorded trace is replayed the same each time, whatever the seed";

std::vector<IdleOption> IdleOptions(const RunOptions& run, const PrefetchOptions& prefetch);

struct RunWithUnit {
  RunOptions run;
  PrefetchOptions prefetch;
};
// An option that was given, and that changes nothing in any of the runs where it was, is an error:
// also where its value is the default.
Status RefuseIdle(const std::vector<RunWithUnit>& runs);
// Of a memory alone.
Status RefuseIdle(const MemoryOptions& memory, const Given& given);
// Of a trace that is written, for whatever plays it: with a unit, perhaps.
Status RefuseIdle(const WorkloadOptions& workload, const Given& given);

}  // namespace weft::sim
