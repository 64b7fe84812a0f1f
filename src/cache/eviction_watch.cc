#include "cache/eviction_watch.h"

#include <algorithm>

#include "cache/command.h"
#include "cache/session.h"
#include "task/object.h"

namespace weft::cache {

void TellEviction(const Session& session, uint64_t location) {
  EvictionWatch* const watch = session.eviction_watch();
  if (watch == nullptr || !watch->WatchesEvictions()) return;
  const task::Object* const object = session.ObjectAt(location);
  const uint32_t access = task::LoadRelaxed32(&object->access);
  const uint32_t expiry = task::ExpiryOf(object);
  const uint32_t now_s = session.now_s();
  Evicted evicted;
  evicted.key = {reinterpret_cast<const char*>(task::KeyOf(object)), task::KeyBytes(object->shape)};
  evicted.value_bytes = task::ValueBytes(object);
  evicted.was_read = (access & kAccessFetched) != 0;
  if (expiry != kNeverExpires) evicted.ttl_s = expiry - std::min(expiry, now_s);
  evicted.idle_s = std::min(now_s, task::SecondsSinceAccess(access, now_s));
  watch->Note(evicted);
}

}  // namespace weft::cache
