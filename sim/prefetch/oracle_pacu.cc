#include "sim/prefetch/oracle_pacu.h"

#include <array>

#include "base/hash.h"

namespace weft::sim {

OraclePacu::OraclePacu(double accuracy, int pending_max, uint64_t seed, int controller,
                       const TableImage* table, UnitCounts* counts)
    : accuracy_(accuracy),
      seed_(seed),
      controller_(controller),
      table_(table),
      matcher_(pending_max, counts) {}

void OraclePacu::OnBucket(const BucketRead& read, std::vector<Choice>* choices) {
  const KeyMatcher::Kept kept = matcher_.OnBucket(read);
  if (kept.displaced) choices->push_back(Choice::Displaced(*kept.displaced, read.at));
  if (kept.key) choices->push_back(Decide(read, *kept.key, read.at));
}

void OraclePacu::OnKey(const Record& record, uint64_t bucket, int core, Time now,
                       std::vector<Choice>* choices) {
  const auto index = static_cast<size_t>(core);
  if (keys_.size() <= index) keys_.resize(index + 1);
  const BucketKey key{.bucket = bucket,
                      .core = core,
                      .tag = record.tag,
                      .slot = record.slot,
                      .ordinal = keys_[index]++};
  const std::optional<BucketRead> read = matcher_.OnKey(key);
  if (read) choices->push_back(Decide(*read, key, now));
}

Choice OraclePacu::Decide(const BucketRead& read, const BucketKey& key, Time now) const {
  Choice choice = Choice::Nothing(read, now);
  const double unit = static_cast<double>(Draw(key, Purpose::kIsRight) >> 11) * 0x1p-53;
  if (unit < accuracy_) {
    if (key.slot < read.slots_count) choice.AddSlot(read, key.slot);
    return choice;
  }
  std::array<int, kBucketSlotsMax> others{};
  uint64_t count = 0;
  for (int slot = 0; slot < read.slots_count; ++slot) {
    if (slot != key.slot && read[slot].has_object()) others[count++] = slot;
  }
  if (count == 0) {
    AddStranger(key, &choice);
  } else {
    choice.AddSlot(read, others[Below(count, Draw(key, Purpose::kSlot))]);
  }
  return choice;
}

void OraclePacu::AddStranger(const BucketKey& key, Choice* choice) const {
  const uint64_t buckets = table_->buckets();
  if (buckets < 2) return;
  // From a drawn bucket on, so that a sparse index ends the search too. Never the key's own.
  const uint64_t start = Below(buckets - 1, Draw(key, Purpose::kBucket));
  for (uint64_t i = 0; i < buckets - 1; ++i) {
    const uint64_t bucket = (key.bucket + 1 + (start + i) % (buckets - 1)) % buckets;
    for (int slot = 0; slot < table_->slots_per_bucket(); ++slot) {
      const TableSlot& object = table_->At(bucket, slot);
      if (object.has_object()) return choice->Add(object, kNoSlot);
    }
  }
}

uint64_t OraclePacu::Draw(const BucketKey& key, Purpose purpose) const {
  const std::array<uint64_t, 5> words = {seed_, static_cast<uint64_t>(controller_),
                                         static_cast<uint64_t>(key.core), key.ordinal,
                                         static_cast<uint64_t>(purpose)};
  return base::HashBytes(words.data(), sizeof(words));
}

uint64_t OraclePacu::Below(uint64_t n, uint64_t drawn) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(drawn) * n >> 64);
}

}  // namespace weft::sim
