// bench/meter/gpu_meter.h: how busy a GPU is, what memory it holds and what energy it has used, as
// its driver says (NVML).
//
// Threads   one at a time.
// Errors    kUnsupported, with the reason: no driver, no such GPU.
// Source    NVML's reference: nvmlDeviceGetUtilizationRates is the share of the last sample period
//           (a sixth of a second to a second) in which a kernel ran. GPUs older than Volta have no
//           counter of energy: their power is sampled.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bench/meter/energy_source.h"
#include "bench/meter/meter.h"
#include "bench/meter/nvml.h"

namespace weft::bench {

class GpuMeter {
 public:
  // `nvml` null: the driver's.
  static Result<std::unique_ptr<GpuMeter>> Open(int number, const Nvml* nvml = nullptr);

  const std::string& name() const { return name_; }  // "NVIDIA H200"
  // Percent of the time; none if the driver does not say.
  std::optional<double> BusyPercent() const;
  // Held by all programs; likewise.
  std::optional<double> MemoryBytes() const;
  // Since the driver was loaded; likewise.
  std::optional<Joules> Energy() const;
  // At present; likewise.
  std::optional<Watts> Power() const;

 private:
  GpuMeter(const Nvml& nvml, void* device, std::string name)
      : nvml_(nvml), device_(device), name_(std::move(name)) {}

  const Nvml& nvml_;
  void* const device_;
  const std::string name_;
};

// The energy of that GPU alone: from its counter, or from samples of its power, as Name says.
// `interval`: between samples; `gap_max`: as PowerSampler's.
Result<std::unique_ptr<EnergySource>> GpuEnergy(int number, const Nvml* nvml = nullptr,
                                                Seconds interval = Seconds(0.1),
                                                Seconds gap_max = Seconds(0));

// The same as a meter of a run. Readings: gpu_energy_j; gpu_busy, the mean share over the samples;
// gpu_memory_bytes, the most that was seen.
class GpuRunMeter : public Meter {
 public:
  explicit GpuRunMeter(int number, const Nvml* nvml = nullptr);

  void Start(const std::vector<pid_t>& pids) override;
  void Sample() override;
  Readings Stop() override;
  // Percent at the last sample.
  std::optional<double> busy_percent() const { return last_busy_percent_; }

 private:
  std::unique_ptr<GpuMeter> gpu_;
  std::unique_ptr<EnergySource> energy_;
  std::string why_not_;        // there is no GPU
  std::string why_no_energy_;  // nor its energy
  std::optional<double> last_busy_percent_;
  double busy_percent_sum_ = 0;
  int busy_samples_ = 0;
  std::optional<double> memory_bytes_max_;
};

}  // namespace weft::bench
