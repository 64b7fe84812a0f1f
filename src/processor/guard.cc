#include "processor/guard.h"

#include <utility>

#include "base/for_ever.h"

namespace weft::processor {

Guard::Guard(std::unique_ptr<Processor> processor,
             std::function<void(const Description&, const Status&)> on_retired)
    : processor_(std::move(processor)), on_retired_(std::move(on_retired)) {}

// What a job that never ended may touch stays for as long as the process does.
Guard::~Guard() {
  if (has_left_jobs()) base::KeepForEver(std::shared_ptr<Processor>(std::move(processor_)));
}

void Guard::Leave(const Status& why) {
  has_left_jobs_.store(true, std::memory_order_release);
  NoteFailure(why);
  processor_->NoteLeft();
}

Status Guard::CatchUp() {
  if (has_left_jobs()) return {Code::kDeviceLost, description().name + " is retired"};
  return processor_->CatchUp();
}

Status Guard::Start(Job* job) {
  if (!usable()) return {Code::kDeviceLost, description().name + " is retired"};
  counters_.jobs.fetch_add(1, std::memory_order_relaxed);
  Status status = processor_->Start(job);
  if (!status.ok()) NoteFailure(status);
  return status;
}

void Guard::Note(const Job& job) {
  if (!job.status().ok()) return NoteFailure(job.status());
  counters_.queries.fetch_add(job.query.end - job.query.begin, std::memory_order_relaxed);
  base::MutexLock lock(&mutex_);
  failures_in_row_ = 0;
}

void Guard::NoteFailure(const Status& status) {
  counters_.failures.fetch_add(1, std::memory_order_relaxed);
  {
    base::MutexLock lock(&mutex_);
    last_failure_ = status.ToString();
    const bool lost = status.code() == Code::kDeviceLost;
    if (++failures_in_row_ < kFailuresInRowMax && !lost) return;
    if (retired_.exchange(true, std::memory_order_acq_rel)) return;
  }
  if (on_retired_) on_retired_(description(), status);
}

std::string Guard::last_failure() const {
  base::MutexLock lock(&mutex_);
  return last_failure_;
}

}  // namespace weft::processor
