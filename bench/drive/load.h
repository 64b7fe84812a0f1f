// bench/drive/load.h: puts a workload on a target by several threads, and says what came of it.
//
// Threads   RunLoad starts its own and ends them.
// Errors    the first that a thread met (load_thread.h): then there is no figure.
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
  // The time counted. An open loop counts until all that was due is done, which takes longer than
  // asked for if the target can't keep up.
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
  double busy = 0;         // share of its time that the busiest thread computed

  double OperationsPerSecond() const {
    return seconds > 0 ? static_cast<double>(operations) / seconds : 0;
  }
  // Was the client, not the store, the limit? For an embedded store nobody can tell: false.
  bool ClientSaturated(const Target& target, bool is_open_loop) const;
};

// What happens meanwhile, called by the thread that called RunLoad. Counting ends with the window;
// in an open loop, with the last operation that was due in it.
struct LoadEvents {
  std::function<void()> counting_begins = {};
  std::function<void(const SliceRow&, const base::Histogram& latency_ns)> slice_ended = {};
  std::function<void()> counting_ends = {};
  std::function<void()> meanwhile = {};  // every 5 ms or so, and in the end
};

// Begins with the records that `space` has. `mix` must be valid, and the target must have its
// operations (Target::WhyNot).
Result<LoadFigures> RunLoad(Target* target, const OperationMix& mix, RecordSpace* space,
                            const LoadOptions& options, const LoadEvents& events = {});

}  // namespace weft::bench
