#include "compaction/device/auto_executor.h"

#include <utility>

#include "compaction/key_bounds.h"

namespace weft::compaction::device {

AutoExecutor::AutoExecutor(std::unique_ptr<Executor> device)
    : device_(std::move(device)), cpu_(NewCpuExecutor()) {}

bool AutoExecutor::IsForDeviceLocked(const Job& job, int threads) const {
  if (job.is_part || !device_->WantsWhole(job, threads)) return false;
  return costs_.IsForDevice(
      BytesOfJob(job),
      {.threads = threads, .idle_cpus = idle_cpus_.Count(), .device_jobs = device_jobs_});
}

bool AutoExecutor::WantsWhole(const Job& job, int threads) const {
  base::MutexLock lock(&mutex_);
  return IsForDeviceLocked(job, threads);
}

JobResult AutoExecutor::Run(const Job& job, const JobHost& host) {
  const uint64_t bytes = BytesOfJob(job);
  mutex_.Lock();
  const bool is_for_device = IsForDeviceLocked(job, host.threads);
  if (is_for_device) device_jobs_++;
  const int jobs = device_jobs_;
  mutex_.Unlock();

  JobResult result = is_for_device ? device_->Run(job, host) : cpu_->Run(job, host);

  base::MutexLock lock(&mutex_);
  if (is_for_device) device_jobs_--;
  // What the device has left to the CPU says nothing of either.
  if (!result.status.ok() || !result.left_to_cpu.empty()) return result;
  const double cpu_s = static_cast<double>(result.cpu_us) * 1e-6;
  if (is_for_device) {
    costs_.LearnDevice(bytes, static_cast<double>(result.wall_us) * 1e-6, cpu_s, jobs);
  } else {
    costs_.LearnCpu(bytes, cpu_s);
  }
  return result;
}

}  // namespace weft::compaction::device
