// compaction/device/job_costs.h: how long the CPU and a device would take for a job, by what jobs
// have taken so far: what `auto` chooses by.
//
// The CPU's threads take as long as the CPUs that are idle let them. A device has one job after the
// other, in the mean, and needs CPUs, too, to read, to write and to check: whichever is slower.
//
// Units     seconds, bytes of a job's tables.
// Threads   one at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "compaction/job.h"

namespace weft::compaction::device {

// What there is for a job at present.
struct JobMeans {
  int cpu_threads = 1;   // that would share it where the CPU does it
  int host_threads = 1;  // that read and write for the device
  double idle_cpus = 1;
  int device_jobs = 0;  // that the device has already
};

class JobCosts {
 public:
  double CpuSeconds(uint64_t bytes, const JobMeans& means) const {
    return static_cast<double>(bytes) * cpu_s_per_byte_ / CpusFor(means.cpu_threads, means);
  }
  double DeviceSeconds(uint64_t bytes, const JobMeans& means) const {
    const auto size = static_cast<double>(bytes);
    const double on_device = size * device_s_per_byte_ * (means.device_jobs + 1);
    const double on_cpus =
        size * device_cpu_s_per_byte_ / CpusFor(std::max(means.host_threads, 2), means);
    return kDeviceStartS + std::max(on_device, on_cpus);
  }
  bool IsForDevice(uint64_t bytes, const JobMeans& means) const {
    return DeviceSeconds(bytes, means) < CpuSeconds(bytes, means);
  }

  // What a job took. Small ones say little. Of a part of a job only what it has read is its own.
  void LearnCpu(const JobResult& result) {
    if (result.bytes_read < kLearnBytesMin) return;
    Learn(static_cast<double>(result.cpu_us) * 1e-6 / static_cast<double>(result.bytes_read),
          &cpu_s_per_byte_);
  }
  // jobs: that the device had, with this one. Of which only a part is its own time where it waited
  // for CPUs, so a loaded machine makes a device look slow: no more than it is then.
  void LearnDevice(uint64_t bytes, double wall_s, double cpu_s, int jobs) {
    if (bytes < kLearnBytesMin) return;
    const auto size = static_cast<double>(bytes);
    Learn(cpu_s / size, &device_cpu_s_per_byte_);
    Learn(std::max(wall_s - kDeviceStartS, 0.0) / size / jobs, &device_s_per_byte_);
  }

  static constexpr double kDeviceStartS = 0.003;
  static constexpr uint64_t kLearnBytesMin = 4u << 20;

 private:
  // A thread gets something of busy CPUs, too.
  static double CpusFor(int threads, const JobMeans& means) {
    return std::clamp(means.idle_cpus, 0.25, static_cast<double>(threads));
  }
  // A figure that is far off is not a job's but the machine's: its weight is that of one within
  // four times.
  static void Learn(double measured, double* figure) {
    constexpr double kWeight = 0.25, kFar = 4;
    *figure += kWeight * (std::clamp(measured, *figure / kFar, *figure * kFar) - *figure);
  }

  // Until jobs have said: one H200, 256-byte values, files in memory (docs/measured/0004).
  double cpu_s_per_byte_ = 1 / 1.2e9;         // CPU time of the CPU's executor
  double device_cpu_s_per_byte_ = 1 / 1.5e9;  // and of what the host does for a device
  double device_s_per_byte_ = 1 / 4e9;
};

}  // namespace weft::compaction::device
