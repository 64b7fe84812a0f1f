#include "cache/walk.h"

#include <algorithm>

namespace weft::cache {
namespace {

constexpr uint64_t kBucketsPerTable = Walk::kObjectsMax / kBucketSlots / 2;

// Adds what lies in buckets [begin, end), and asks for the objects.
void Collect(const Session& session, task::TableRef table, uint64_t begin, uint64_t end,
             Walk::Step* step) {
  for (uint64_t bucket = begin; bucket < end; ++bucket) {
    for (const uint64_t& slot : table.buckets[bucket].slots) {
      const uint64_t word = task::LoadAcquire64(&slot);
      if (word == kSlotEmpty || task::SlotState(word) == kSlotTentative) continue;
      const uint64_t location = task::SlotLocation(word);
      const task::Object* const object = session.ObjectAt(location);
      __builtin_prefetch(object);
      step->seen[step->count++] = {location, object};
    }
  }
}

}  // namespace

bool Walk::Next(const Session& session, Step* step) {
  step->count = 0;
  if (over_) return false;
  const task::IndexRef& index = session.index();
  // The larger table sets the pace; the smaller one's buckets are taken along.
  const uint64_t count = std::max(index.older.bucket_count, index.newer.bucket_count);
  const uint64_t first = task::MulHigh64(at_, count);
  const uint64_t next = std::min(count, first + kBucketsPerTable);
  over_ = next == count;
  // The least place that belongs to bucket `next`.
  const auto place =
      static_cast<uint64_t>(((static_cast<unsigned __int128>(next) << 64) + count - 1) / count);
  for (const task::TableRef& table : {index.older, index.newer}) {
    if (table.buckets == nullptr) continue;
    const uint64_t end = over_ ? table.bucket_count : task::MulHigh64(place, table.bucket_count);
    Collect(session, table, task::MulHigh64(at_, table.bucket_count), end, step);
  }
  at_ = place;
  step->looked = step->count;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < step->count; ++i) {
    const Seen& seen = step->seen[i];
    if (!task::IsEnded(session.log(), seen.location, seen.object, session.now_s()))
      step->seen[kept++] = seen;
  }
  step->count = kept;
  return true;
}

}  // namespace weft::cache
