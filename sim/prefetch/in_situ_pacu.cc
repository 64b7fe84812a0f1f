#include "sim/prefetch/in_situ_pacu.h"

#include <algorithm>

namespace weft::sim {

InSituPacu::InSituPacu(const InSituOptions& options, UnitCounts* counts)
    : latency_(options.latency),
      counts_(counts),
      matcher_(options.pending_max, counts),
      free_at_(static_cast<size_t>(options.units), 0) {}

void InSituPacu::OnBucket(const BucketRead& read, std::vector<Choice>* choices) {
  const KeyMatcher::Kept kept = matcher_.OnBucket(read);
  if (kept.displaced) choices->push_back(Choice::Displaced(*kept.displaced, read.at));
  if (kept.key) choices->push_back(Decide(read, *kept.key, read.at));
}

void InSituPacu::OnKey(const Record& record, uint64_t bucket, int core, Time now,
                       std::vector<Choice>* choices) {
  const BucketKey key{.bucket = bucket, .core = core, .tag = record.tag, .slot = record.slot};
  const std::optional<BucketRead> read = matcher_.OnKey(key);
  if (read) choices->push_back(Decide(*read, key, now));
}

Choice InSituPacu::Decide(const BucketRead& read, const BucketKey& key, Time now) {
  Time& free_at = free_at_[next_unit_];
  next_unit_ = (next_unit_ + 1) % free_at_.size();
  if (free_at > now) {
    ++counts_->triggers_queued;
    counts_->queued_ps += free_at - now;
  }
  free_at = std::max(free_at, now) + latency_;

  Choice choice = Choice::Nothing(read, free_at);
  for (int slot = 0; slot < read.slots_count && choice.count == 0; ++slot) {
    if (read[slot].tag != key.tag) continue;
    choice.AddSlot(read, slot);
    if (choice.count == 1 && slot != key.slot) ++counts_->tag_collisions;
  }
  return choice;
}

}  // namespace weft::sim
