// bench/drive/each_target.h: what all that measures targets begins with: the workloads that are
// asked for, and the targets in turn.
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

// In their order, with the sizes and the rate that are asked for. kInvalidArgument: what is wrong.
Result<std::vector<OperationMix>> MixesOf(const MeasureOptions& options);

// For what could not be run: a workload that the driver's target has no operations for is told and
// left out: OK. All else, a target that is not there at all too, is returned.
Status LeaveOutUnsupported(const Driver& driver, const OperationMix& mix, const Status& status);

// Measures the machine's idle power first, where there is a meter. Then `drive` with each target in
// turn, and again for each repetition: target by target, not run by
// run. A Driver ends with its turn. Goes on with the others where one fails; the first of these
// errors, but for kUnsupported, is returned then.
Status ForEachTarget(const MeasureOptions& options, const std::vector<OperationMix>& mixes,
                     RunLog* log, const std::function<Status(Driver*)>& drive);

}  // namespace weft::bench
