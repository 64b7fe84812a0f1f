// sim/machine/run_result.h: what a run of the machine found: the figures of the part after the
// warm-up.
//
// A core's figures leave out its own first operations, so that runs of a trace compare the same
// accesses. The figures of memory and L2, and operations a second, begin when as many operations
// are over as all warm-ups have. They end when the last core is done.
//
// Units     as the names say. Latencies of accesses are core cycles, of the controller clocks.
// Threads   values.
// Source    the simulator's specification, sections 3.7 and 3.8.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/base/time.h"
#include "sim/cache/l2_cache.h"
#include "sim/core/core.h"
#include "sim/dram/energy.h"
#include "sim/machine/memory_port.h"

namespace weft::sim {

// Of lines that units asked for. A line asked for before the warm-up ends may have its outcome
// after it: those are `carried`. asked + carried = sum of the outcomes.
struct PrefetchFigures {
  int64_t asked = 0;
  int64_t carried = 0;
  std::array<int64_t, kPrefetchOutcomes> outcomes{};

  int64_t of(PrefetchOutcome outcome) const { return outcomes[static_cast<size_t>(outcome)]; }
  int64_t useful() const { return of(PrefetchOutcome::kTimely) + of(PrefetchOutcome::kLate); }
  // Of the lines that weren't there already, the part that cores asked for.
  double accuracy() const;
  // Of the useful ones, the part that came in time.
  double timeliness() const;
};

// Of all channels, over an epoch.
struct EpochFigures {
  Clock clock = 0;  // at its end
  int64_t ops = 0;
  int64_t reads = 0;
  int64_t writes = 0;
  int64_t row_hits = 0;
  int64_t prefetches_asked = 0;
  double bus_utilization = 0;
  std::optional<double> demand_latency_clocks = {};  // none: no demand read was answered
  double queued = 0;                                 // requests of a channel, on average
};

struct RunResult {
  CoreFigures cores;  // of all; kv_latencies empty, they are in by_core
  std::vector<CoreFigures> by_core;
  int64_t ops = 0;
  Time time = 0;        // measured
  Time warmup_end = 0;  // when the measuring began
  L2Counts l2;
  std::vector<PortFigures> channels;
  std::vector<std::optional<Energy>> energy;  // by channel; none: no currents are known
  PrefetchFigures prefetch;
  std::vector<EpochFigures> epochs;
  Time mesh_waited = 0;

  int64_t requests = 0;  // of DRAM, of the whole run
  double tck_ns = 0;
  int burst_clocks = 0;
  double wall_s = 0;

  double seconds() const { return static_cast<double>(time) * 1e-12; }
  double ops_per_second() const;               // M5
  uint32_t OpCycles(double percentile) const;  // M4; 0 without operations
  double op_cycles_mean() const;
  double instructions_per_cycle() const;  // of a core
  PortFigures AllChannels() const;        // clocks: the sum
  double BusUtilization(const PortFigures& channel) const;
  std::optional<Energy> AllEnergy() const;
  double requests_per_wall_second() const;
};

// Of two runs of a trace.
struct Comparison {
  double m1_gain;  // 1 - L/L0
  double m2_gain;
  double m3_gain;
  double coverage;  // useful prefetches for each line of an object that L2 missed in the baseline
  // M3d: of reads and prefetches for index and objects that memory served in the baseline, both
  // runs' mean. Both 0 unless both runs kept them.
  double paired_cycles_baseline;
  double paired_cycles;
};
Comparison Compare(const RunResult& baseline, const RunResult& run);

}  // namespace weft::sim
