#include "pipeline/left_jobs.h"

#include <utility>

#include "base/for_ever.h"

namespace weft::pipeline {

LeftJobs::~LeftJobs() {
  Reclaim([](uint64_t) { return false; });
  // A device may write to the rest for as long as the process lives.
  if (!jobs_.empty()) base::KeepForEver(std::make_shared<std::vector<Left>>(std::move(jobs_)));
}

void LeftJobs::Add(std::unique_ptr<processor::Job> job, cache::Pages columns,
                   cache::Epochs::Slot* place, uint64_t turn) {
  if (place != nullptr) store_->DistrustDeadMarks();  // before the second run marks any
  jobs_.push_back({std::move(job), std::move(columns), place, turn});
}

bool LeftJobs::LetGo(Left* left) {
  if (left->place != nullptr) store_->epochs().Release(left->place);
  return true;
}

}  // namespace weft::pipeline
