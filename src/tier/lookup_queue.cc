#include "tier/lookup_queue.h"

#include <algorithm>

namespace weft::tier {

void LookupQueue::Add(uint64_t id, std::unique_ptr<Lookup> lookup, Mailbox* home, uint64_t finish) {
  const uint64_t start = finish == 0 ? time_ + kUsualJob : std::max(time_, finish);
  const Place place{start, added_++};
  jobs_.emplace(place, Job{id, std::move(lookup), home, place.first});
  places_.emplace(std::pair{home, id}, place);
}

LookupQueue::Job LookupQueue::Take() {
  auto first = jobs_.extract(jobs_.begin());
  Job& job = first.mapped();
  places_.erase({job.home, job.id});
  time_ = std::max(time_, job.start);
  return std::move(job);
}

uint64_t LookupQueue::Ran(uint64_t start, uint64_t cost) {
  if (mean_ == 0) mean_ = std::max<uint64_t>(cost, 1);
  const uint64_t bounded = std::min(cost, kMeansMax * mean_);
  const uint64_t finish = start + std::max<uint64_t>(bounded * kUsualJob / mean_, 1);
  mean_ = (mean_ * (kMeanOf - 1) + bounded) / kMeanOf;
  return finish;
}

std::unique_ptr<Lookup> LookupQueue::Forget(uint64_t id, Mailbox* home) {
  const auto place = places_.find({home, id});
  if (place == places_.end()) return nullptr;
  const auto job = jobs_.find(place->second);
  std::unique_ptr<Lookup> lookup = std::move(job->second.lookup);
  jobs_.erase(job);
  places_.erase(place);
  return lookup;
}

}  // namespace weft::tier
