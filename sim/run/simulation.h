// sim/run/simulation.h: one run: the records of a source on the machine, with its units.
//
// Threads   one owner; runs share nothing, so others may go on beside it.
// Errors    those of run_options.h, prefetch_options.h and of the source. kInvalidArgument: options
//           that don't go together, or no operation is left to measure (short_trace.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/machine/run_result.h"
#include "sim/prefetch/prefetch_options.h"
#include "sim/run/run_options.h"
#include "sim/trace/trace_source.h"
#include "weft/status.h"

namespace weft::sim {

struct UnitFigures {
  UnitCounts counts;
  uint64_t hit_table_bytes = 0;  // of all channels; 0: there is none
};
nlohmann::ordered_json ToJson(const UnitFigures& figures);

// Where a run's records come from, and the units that watch it.
struct RunParts {
  // Called again to count the operations, if all are played.
  std::function<Result<std::unique_ptr<TraceSource>>()> make_source;
  // None, or one a channel; empty: none. The table must outlive them.
  std::function<Result<std::vector<std::unique_ptr<Prefetcher>>>(const StoreShape&,
                                                                 const TableImage&)>
      make_units;
  nlohmann::ordered_json config;  // of theirs, added to the report's
  // What the units counted, after the run; may be empty.
  std::function<UnitFigures()> unit_figures = {};
};

// The units of `prefetch`, for a run of `options`. Both must outlive the run.
void AddUnits(const RunOptions& options, const PrefetchOptions& prefetch, RunParts* parts);
// The workload of `options`, with the units of `prefetch`. All must outlive the run. `maker` makes
// the source; null: it is made anew.
Result<RunParts> PartsOf(const RunOptions& options, const PrefetchOptions& prefetch,
                         SourceMaker* maker = nullptr);

// A run's reports while it goes on; both may be empty.
struct RunListener {
  std::function<void(int64_t ops)> on_progress = {};
  std::function<void(int channel, const IssuedCommand&)> on_command = {};
};

Result<RunResult> Simulate(const RunOptions& options, const RunParts& parts,
                           const RunListener& listener = {});

}  // namespace weft::sim
