// bench/drive/load.h: a workload put on a target by several threads: what came of it.
//
// Threads   RunLoad starts its own and ends them.
// Errors    the first that a thread met (load_thread.h): there is no figure then.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "base/histogram.h"
#include "bench/drive/load_options.h"
#include "bench/drive/recorder.h"
#include "bench/drive/slice_board.h"
#include "bench/target/target.h"
#include "bench/workload/mix.h"
#include "bench/workload/record_space.h"
#include "weft/status.h"

namespace weft::bench {

struct LoadFigures {
  // That were counted; of an open loop until all that was due was done, which takes longer than was
  // asked for where the target can't keep up.
  double seconds = 0;
  uint64_t operations = 0;
  uint64_t records = 0;  // that were read
  OutcomeCounts outcomes;
  base::Histogram latency_ns;
  std::array<base::Histogram, kOperationKinds> by_kind;
  std::vector<SliceRow> slices;  // whole ones
  // The client's own.
  base::Histogram lag_ns;  // open loop: how late it began what it could have begun
  double cpu_s = 0;        // an embedded store's, too
  double busy = 0;         // of the busiest thread, the share of its time that it computed

  double OperationsPerSecond() const {
    return seconds > 0 ? static_cast<double>(operations) / seconds : 0;
  }
  // Was the client, not the store, the limit? Of an embedded store it can't be told: false.
  bool ClientSaturated(const Target& target, bool is_open_loop) const;
};

// What happens meanwhile, told by the thread that called RunLoad. Counting ends with the window, of
// an open loop with the last operation that was due in it.
struct LoadEvents {
  std::function<void()> counting_begins;
  std::function<void(const SliceRow&, const base::Histogram& latency_ns)> slice_ended;
  std::function<void()> counting_ends;
};

// Begins with the records that `space` has; `mix` is without a fault, and the target has its
// operations (Target::WhyNot).
Result<LoadFigures> RunLoad(Target* target, const OperationMix& mix, RecordSpace* space,
                            const LoadOptions& options, const LoadEvents& events = {});

}  // namespace weft::bench
