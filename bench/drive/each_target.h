// bench/drive/each_target.h: how everything that measures targets begins: the workloads asked for,
// and each target in turn.
//
// Threads   one at a time.
#pragma once

#include <functional>
#include <vector>

#include "bench/drive/driver.h"
#include "bench/drive/measure_options.h"
#include "bench/drive/run_log.h"
#include "bench/workload/mix.h"
#include "weft/status.h"

namespace weft::bench {

// In their order, with the sizes and the rate asked for. kInvalidArgument: what is wrong.
Result<std::vector<OperationMix>> MixesOf(const MeasureOptions& options);

// For failed runs: a workload for which the driver's target lacks operations is reported and left
// out: OK. Any other status, also that of a missing target, is returned.
Status LeaveOutUnsupported(const Driver& driver, const OperationMix& mix, const Status& status);

// Measures the machine's idle power first, if there is a meter. Then calls `drive` with each target
// in turn, and again for each repetition: target by target, not run by run. A Driver ends with its
// turn. If one fails, goes on with the others and then returns the first error other than
// kUnsupported.
Status ForEachTarget(const MeasureOptions& options, const std::vector<OperationMix>& mixes,
                     RunLog* log, const std::function<Status(Driver*)>& drive);

}  // namespace weft::bench
