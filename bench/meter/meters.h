// bench/meter/meters.h: all meters of a run together: chosen once, started and stopped around it,
// and sampled each slice.
//
// Readings  those of each meter's header, and client_cpu_s, memory_bandwidth_bytes_per_s and
//           idle_power_w (where options have them) and meter_cpu_s: what the sampling itself took.
// Threads   one owner; a slice may be taken by another thread as long as calls do not overlap.
// Cost      Sample: /proc's files of each thread under measurement, and what the energy's source
//           costs. For a store of some ten threads that is below a millisecond: ten slices a second
//           take less than a hundredth of one CPU. meter_cpu_s has it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/meter/energy_meter.h"
#include "bench/meter/energy_spec.h"
#include "bench/meter/gpu_meter.h"
#include "bench/meter/perf_meter.h"
#include "bench/meter/process_meter.h"
#include "bench/meter/triad.h"

namespace weft::bench {

struct MeterOptions {
  std::string energy = "auto";  // bench/meter/energy_spec.h
  int gpu = 0;
  bool by_cpu = false;  // counters of the whole machine, CPU by CPU
  std::optional<TriadOptions> bandwidth = std::nullopt;  // measured once, in MeterSet::Make
  // Processes of this program that are not measured, such as a hog beside it; they were started
  // before. Energy and a GPU are the machine's, theirs included.
  std::vector<pid_t> without = {};
  // Known from before the run (bench/meter/idle_power.h): idle_power_w of each run.
  std::optional<Reading> idle_power = std::nullopt;
  EnergyPlaces places = {};
};

// What a slice of a run took.
struct MeterSlice {
  double at_s = 0;  // its begin, since Start
  double seconds = 0;
  std::optional<double> cpu_percent;  // of one CPU, by the processes: 200 for two
  std::optional<Watts> power;
  std::optional<double> gpu_busy_percent;
};
// {"at_s": 1.0, "seconds": 1.0, "cpu_percent": 173.2, "power_w": 85.1}, without missing ones.
nlohmann::json ToJson(const MeterSlice& slice);

class MeterSet {
 public:
  // kInvalidArgument if the options mean nothing. What the machine lacks is no error.
  static Result<std::unique_ptr<MeterSet>> Make(const MeterOptions& options);

  // `pids`: the store's processes (Target::Processes).
  void Start(const std::vector<pid_t>& pids);
  // The slice since the last call, or since Start.
  MeterSlice Sample();
  Readings Stop();

 private:
  MeterSet(const MeterOptions& options, PerfMeter::Options perf,
           Result<std::vector<std::unique_ptr<EnergySource>>> energy);
  Reading ClientCpu() const;

  ProcessMeter processes_;
  ProcessMeter client_;
  PerfMeter perf_;
  GpuRunMeter gpu_;
  EnergyMeter energy_;
  std::optional<Reading> bandwidth_;
  std::optional<Reading> idle_power_;
  bool is_embedded_ = false;  // the store is this process
  double begin_s_ = 0;
  double last_s_ = 0;
  std::optional<Seconds> last_cpu_;
  double meter_cpu_s_ = 0;
};

}  // namespace weft::bench
