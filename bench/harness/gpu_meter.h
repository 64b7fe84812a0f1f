// bench/harness/gpu_meter.h: how busy a GPU is, as its driver says (NVML).
//
// Threads   one at a time.
// Errors    kUnsupported, with the reason: no driver, no such GPU.
// Source    NVML's reference: nvmlDeviceGetUtilizationRates is the share of the last sample period
//           (a sixth of a second to a second) in which a kernel ran.
#pragma once

#include <memory>
#include <optional>

#include "weft/status.h"

namespace weft::bench {

class GpuMeter {
 public:
  static Result<std::unique_ptr<GpuMeter>> Open(int number);

  // Percent of the time; none where the driver does not say.
  std::optional<double> BusyPercent() const;
  // Joules since the driver was loaded; likewise.
  std::optional<double> Joules() const;

 private:
  struct Library;
  GpuMeter(const Library* library, void* device) : library_(*library), device_(device) {}

  const Library& library_;
  void* const device_;
};

}  // namespace weft::bench
