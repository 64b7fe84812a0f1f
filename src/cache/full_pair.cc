#include "cache/full_pair.h"

#include "cache/store.h"
#include "task/delete.h"

namespace weft::cache {
namespace {

// Counted as those are that end with their segment (cache/emptying.cc).
bool DropIfEnded(Session& session, uint64_t* slot) {
  const uint64_t word = task::LoadAcquire64(slot);
  if (word == kSlotEmpty || task::SlotState(word) != kSlotLive) return false;
  const uint64_t location = task::SlotLocation(word);
  task::Object* const object = session.ObjectAt(location);
  if (!task::IsEnded(session.log(), location, object, session.now_s())) return false;
  task::MarkSlot(session.index_to_change(), slot);
  if (!task::Delete(session.log(), {slot, word})) return false;
  session.ReleaseObject(location);
  session.AddItems(-1);
  session.NoteEnded(object);
  return true;
}

}  // namespace

bool DropEnded(Session& session, uint64_t hash) {
  const task::IndexRef& index = session.index();
  const task::TableRef table = task::InsertTable(index);
  uint64_t bucket = task::FirstBucket(hash, table.bucket_count);
  bool did = false;
  for (int side = 0; side < 2; side++) {
    for (uint64_t& slot : table.buckets[bucket].slots) did |= DropIfEnded(session, &slot);
    bucket = task::OtherBucket(index.policy, bucket, task::TagOfHash(hash), table.bucket_count);
  }
  return did;
}

}  // namespace weft::cache
