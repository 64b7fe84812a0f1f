#include "compaction/device/auto_executor.h"

#include <utility>

#include "compaction/key_bounds.h"

namespace weft::compaction::device {

AutoExecutor::AutoExecutor(std::unique_ptr<Executor> device)
    : device_(std::move(device)), cpu_(NewCpuExecutor()) {}

bool AutoExecutor::IsForDeviceLocked(const Job& job, const JobMeans& means) const {
  if (job.is_part || !device_->WantsWhole(job, means.cpu_threads)) return false;
  if (left_in_a_row_ >= kLeftMax && jobs_since_ < kAskedEvery) return false;
  return costs_.IsForDevice(BytesOfJob(job), means);
}

// Its caller may hold a store up: how idle CPUs are is what the last job has found.
bool AutoExecutor::WantsWhole(const Job& job, int threads) const {
  base::MutexLock lock(&mutex_);
  return IsForDeviceLocked(job, {.cpu_threads = threads,
                                 .host_threads = threads,
                                 .idle_cpus = idle_cpus_.last(),
                                 .device_jobs = device_jobs_});
}

JobResult AutoExecutor::Run(const Job& job, const JobHost& host) {
  const uint64_t bytes = BytesOfJob(job);
  const double idle_cpus = idle_cpus_.Count();
  mutex_.Lock();
  // Here the CPU would do it by one thread.
  const bool is_for_device = IsForDeviceLocked(job, {.cpu_threads = 1,
                                                     .host_threads = host.threads,
                                                     .idle_cpus = idle_cpus,
                                                     .device_jobs = device_jobs_});
  jobs_since_ = is_for_device ? 0 : jobs_since_ + 1;
  if (is_for_device) device_jobs_++;
  const int jobs = device_jobs_;
  mutex_.Unlock();

  JobResult result = is_for_device ? device_->Run(job, host) : cpu_->Run(job, host);

  base::MutexLock lock(&mutex_);
  if (!is_for_device) {
    if (result.status.ok()) costs_.LearnCpu(result);
    return result;
  }
  device_jobs_--;
  left_in_a_row_ = result.left_to_cpu.empty() ? 0 : left_in_a_row_ + 1;
  if (result.status.ok() && result.left_to_cpu.empty())
    costs_.LearnDevice(bytes, static_cast<double>(result.wall_us) * 1e-6,
                       static_cast<double>(result.cpu_us) * 1e-6, jobs);
  return result;
}

}  // namespace weft::compaction::device
