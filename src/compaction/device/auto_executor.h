// compaction/device/auto_executor.h: gives each job to the CPU or to a device, whichever would take
// less time with what the machine has to spare.
//
// Threads   as compaction/job.h says.
// Errors    as the device's executor: what that can't do, the CPU does.
#pragma once

#include <memory>

#include "base/idle_cpus.h"
#include "base/mutex.h"
#include "compaction/device/job_costs.h"
#include "compaction/job.h"

namespace weft::compaction::device {

class AutoExecutor final : public Executor {
 public:
  explicit AutoExecutor(std::unique_ptr<Executor> device);

  const char* Name() const override { return "auto"; }
  bool WantsWhole(const Job& job, int threads) const override;
  base::BufferMemory* memory() override { return device_->memory(); }
  // A part of a job that was divided is the CPU's.
  JobResult Run(const Job& job, const JobHost& host) override;

 private:
  bool IsForDeviceLocked(const Job& job, const JobMeans& means) const WEFT_REQUIRES(mutex_);

  // So many jobs in a row that the device has left to the CPU, and it is asked only now and then.
  static constexpr int kLeftMax = 3;
  static constexpr int kAskedEvery = 32;

  const std::unique_ptr<Executor> device_;
  const std::unique_ptr<Executor> cpu_;
  base::IdleCpus idle_cpus_;
  mutable base::Mutex mutex_;
  JobCosts costs_ WEFT_GUARDED_BY(mutex_);
  int device_jobs_ WEFT_GUARDED_BY(mutex_) = 0;
  int left_in_a_row_ WEFT_GUARDED_BY(mutex_) = 0;
  int jobs_since_ WEFT_GUARDED_BY(mutex_) = 0;  // the device was asked
};

}  // namespace weft::compaction::device
