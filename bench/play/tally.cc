#include "bench/play/tally.h"

namespace weft::bench {

void TraceCounts::Add(const TraceCounts& other) {
  gets += other.gets;
  misses += other.misses;
  get_bytes += other.get_bytes;
  missed_bytes += other.missed_bytes;
  sets += other.sets;
  refused += other.refused;
  deletes += other.deletes;
}

nlohmann::json TraceCounts::ToJson() const {
  return {{"gets", gets},           {"misses", misses},
          {"get_bytes", get_bytes}, {"missed_bytes", missed_bytes},
          {"sets", sets},           {"refused", refused},
          {"deletes", deletes}};
}

void TraceTally::Get(uint64_t request, uint32_t value_bytes, bool is_hit) {
  TraceCounts& slice = SliceOf(request);
  slice.gets++;
  slice.get_bytes += value_bytes;
  if (is_hit) return;
  slice.misses++;
  slice.missed_bytes += value_bytes;
}

void TraceTally::Set(uint64_t request, bool is_stored) {
  TraceCounts& slice = SliceOf(request);
  slice.sets++;
  if (!is_stored) slice.refused++;
}

void TraceTally::Add(const TraceTally& other) {
  for (size_t i = 0; i < kSlices; i++) slices_[i].Add(other.slices_[i]);
}

TraceCounts TraceTally::Total() const {
  TraceCounts total;
  for (const TraceCounts& slice : slices_) total.Add(slice);
  return total;
}

}  // namespace weft::bench
