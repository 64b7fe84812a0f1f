// planner/job_feeder.h: keeps jobs of reads in front of a device, for calibration.
//
// Jobs are made ahead, so that nobody makes them while the device is measured, and are many more
// than are under way: the same few again and again would be of few keys.
//
// Threads   one at a time.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "pipeline/batch.h"
#include "planner/synthetic_server.h"
#include "processor/guard.h"

namespace weft::planner {

struct JobTraffic {
  processor::Guard* device = nullptr;
  uint32_t tasks = 0;       // kRunSearch, and kRunCompare and kRunRead behind it
  uint32_t queries = 1024;  // of a job
  uint32_t feeders = 1;     // threads
  uint32_t jobs = 4;        // of each, under way at once
  double seconds = 0.1;
  // A device that ends no job in so long is lost, as for pipeline::PlanRunner.
  uint32_t job_ms_max = 10'000;
  // Null: nobody stops it. When it becomes true, no job begins, and those under way are waited for
  // but shortly.
  const std::atomic<bool>* stop = nullptr;
};

class JobFeeder {
 public:
  // kNoMemory: the store can have no more sessions, or the device has too little memory. What it is
  // given must outlive it.
  static Result<std::unique_ptr<JobFeeder>> Create(const SyntheticStore* at,
                                                   const JobTraffic& traffic, uint32_t number);
  // Jobs that were left, and what they may touch, are kept for ever; so must the store be then.
  ~JobFeeder();

  // Until base::NowNs is `until_ns`, a job at least. *figures: queries, jobs, job_ns and wall_ns.
  // What the device says where a job fails. kDeviceLost: jobs did not end in time, and were left:
  // the device is retired, and it feeds no more. kRetryLater: it was stopped.
  Status Feed(uint64_t until_ns, LoadFigures* figures);

 private:
  struct Slot {
    std::unique_ptr<pipeline::Batch> batch;
    std::unique_ptr<processor::Job> job;  // after what it points at: it ends first
    uint64_t started = 0;                 // ticks; 0: not under way
  };

  JobFeeder(const SyntheticStore* at, const JobTraffic& traffic) : at_(at), traffic_(traffic) {}
  Status AddSlots(uint32_t number);
  uint32_t SlotCount() const;
  Status Start(Slot* slot);
  Status End(Slot* slot, LoadFigures* figures);
  Status EndDone(LoadFigures* figures);
  bool IsToStop() const { return traffic_.stop != nullptr && traffic_.stop->load(); }
  bool IsOverdue();
  Status LeaveJobs(LoadFigures* figures);

  const SyntheticStore* const at_;
  const JobTraffic traffic_;
  std::unique_ptr<cache::Session> session_;
  std::vector<Slot> slots_;  // begun in their order, over and over
  std::deque<Slot*> under_way_;
  size_t next_ = 0;
  uint64_t looked_ns_ = 0;  // at the jobs under way
  uint64_t waited_ns_ = 0;  // since one of them has ended
};

}  // namespace weft::planner
