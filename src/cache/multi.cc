#include "cache/multi.h"

#include <algorithm>

#include "cache/store.h"
#include "cache/entry.h"
#include "task/batch_tasks.h"

namespace weft::cache {
namespace {

bool IsBadKey(std::string_view key) { return key.empty() || key.size() > kKeyBytesMax; }

// Copies with whole overlapping words for the sizes that keys and small values mostly have;
// memcpy's call and dispatch cost as much as the copy there.
inline void CopyShort(void* to, const void* from, size_t bytes) {
  char* const out = static_cast<char*>(to);
  const char* const in = static_cast<const char*>(from);
  if (bytes - 8 <= 8) {
    std::memcpy(out, in, 8);
    std::memcpy(out + bytes - 8, in + bytes - 8, 8);
  } else if (bytes - 32 <= 96) {
    for (size_t i = 0; i + 32 < bytes; i += 32) std::memcpy(out + i, in + i, 32);
    std::memcpy(out + bytes - 32, in + bytes - 32, 32);
  } else if (bytes != 0) {
    std::memcpy(out, in, bytes);
  }
}

// The columns of one group (task/columns.h).
struct Group {
  uint64_t hash[kGroupQueries];
  uint32_t key_at[kGroupQueries];
  uint8_t key_bytes[kGroupQueries];
  uint64_t word[kGroupQueries];
  uint64_t position[kGroupQueries];
  uint8_t keys[kGroupQueries * kKeyBytesMax];
  uint32_t keys_end = 0;

  task::Columns columns() { return {hash, key_at, key_bytes, keys, word, position}; }

  // A bad key is entered as an empty one, which no object has.
  void Add(uint32_t i, const Store& store, std::string_view key) {
    if (IsBadKey(key)) key = {};
    hash[i] = store.HashOf(key);
    key_at[i] = keys_end;
    key_bytes[i] = static_cast<uint8_t>(key.size());
    CopyShort(keys + keys_end, key.data(), key.size());
    keys_end += static_cast<uint32_t>(key.size());
  }
};

void PrefetchBucket(const task::TableRef& table, uint64_t hash) {
  task::Prefetch(&table.buckets[task::FirstBucket(hash, table.bucket_count)]);
}

// The views of one group's epoch, by value: byte copies between the uses could otherwise change
// them for all the compiler knows.
struct Views {
  task::IndexRef index;
  task::LogRef log;
  uint32_t now_s;
};

// Task RD of one lookup. True where the access is to be noted.
inline bool Deliver(const Views& views, Cache::Lookup& lookup, const task::Columns& columns,
                    uint32_t i, uint32_t dice) {
  const uint64_t word = columns.word[i];
  if (word == 0) {
    lookup.outcome = IsBadKey(lookup.key) ? Outcome::kBadKey : Outcome::kMiss;
    return false;
  }
  const uint64_t location = task::SlotLocation(word);
  const task::Object* object = task::ObjectAt(views.log, location);
  if (task::IsEnded(views.log, location, object, views.now_s)) {
    lookup.outcome = Outcome::kMiss;
    return false;
  }
  const uint32_t bytes = task::ValueBytes(object);
  const uint32_t access = task::LoadRelaxed32(&object->access);
  const uint8_t* value = task::ValueOf(object);
  lookup.outcome = Outcome::kHit;
  lookup.value_bytes = bytes;
  CopyShort(lookup.value, value, std::min(bytes, lookup.capacity));
  return task::WantsAccessNote(word, dice) || task::WantsReadNote(access, views.now_s);
}

// Notes the accesses of the lookups in `noted`, bit i for lookup i.
void NoteAll(const Views& views, const task::Columns& columns, uint32_t noted, uint32_t dice) {
  for (; noted != 0; noted &= noted - 1) {
    const uint32_t i = task::LowestBit64(noted);
    const uint64_t word = columns.word[i];
    task::Object* object = task::ObjectAt(views.log, task::SlotLocation(word));
    if (task::WantsAccessNote(word, dice + i))
      task::NoteAccess(task::SlotAtPosition(views.index, columns.position[i]), word);
    if (task::WantsReadNote(task::LoadRelaxed32(&object->access), views.now_s))
      task::NoteRead(object, views.now_s);
  }
}

void ReadGroup(Session& session, std::span<Cache::Lookup> lookups) {
  const Store& store = session.store();
  const uint32_t count = static_cast<uint32_t>(lookups.size());
  const bool prefetch = store.options().prefetch;
  Group group;
  session.Begin();
  const Views views = {session.index(), session.log(), session.now_s()};
  for (uint32_t i = 0; i < count; i++) {
    group.Add(i, store, lookups[i].key);
    if (prefetch) PrefetchBucket(views.index.older, group.hash[i]);
  }
  const task::Columns columns = group.columns();
  task::Search(views.index, views.log, columns, 0, count,
               prefetch ? store.expected_object_bytes() : 0);
  const uint32_t dice = session.NextDice();
  uint32_t noted = 0;
  for (uint32_t i = 0; i < count; i++) {
    task::CompareOne(views.index, views.log, columns, i);
    noted |= static_cast<uint32_t>(Deliver(views, lookups[i], columns, i, dice + i)) << i;
  }
  NoteAll(views, columns, noted, dice);
  session.End();
}

// One store after the other, each as its own command: what comes before the call of a group has
// already asked for the lines.
Outcome StoreOne(Session& session, const Cache::Pair& pair, uint64_t hash) {
  Command command;
  command.verb = Verb::kStore;
  command.key = pair.key;
  command.value = pair.value;
  command.hash = hash;
  return ExecuteWithRoom(session, command).outcome;
}

void StoreGroup(Session& session, std::span<Cache::Pair> pairs) {
  Store& store = session.store();
  const uint32_t count = static_cast<uint32_t>(pairs.size());
  Group group;
  session.Begin();
  for (uint32_t i = 0; i < count; i++) {
    group.Add(i, store, pairs[i].key);
    if (store.options().prefetch) PrefetchBucket(session.index().older, group.hash[i]);
  }
  if (store.options().prefetch) {
    task::Search(session.index(), session.log(), group.columns(), 0, count,
                 store.expected_object_bytes());
  }
  for (uint32_t i = 0; i < count; i++)
    pairs[i].outcome =
        IsBadKey(pairs[i].key) ? Outcome::kBadKey : StoreOne(session, pairs[i], group.hash[i]);
  session.End();
  store.Maintain(session, count);
}

}  // namespace

void MultiRead(Session& session, std::span<Cache::Lookup> lookups) {
  for (size_t at = 0; at < lookups.size(); at += kGroupQueries)
    ReadGroup(session, lookups.subspan(at, std::min<size_t>(kGroupQueries, lookups.size() - at)));
  session.store().Maintain(session, 0);
}

void MultiStore(Session& session, std::span<Cache::Pair> pairs) {
  for (size_t at = 0; at < pairs.size(); at += kGroupQueries)
    StoreGroup(session, pairs.subspan(at, std::min<size_t>(kGroupQueries, pairs.size() - at)));
}

}  // namespace weft::cache
