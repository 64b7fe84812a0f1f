#include "cache/multi.h"

#include <algorithm>

#include "cache/entry.h"
#include "cache/lookup_views.h"
#include "cache/overwrite.h"
#include "cache/store.h"
#include "task/batch_tasks.h"

namespace weft::cache {
namespace {

bool IsBadKey(std::string_view key) { return key.empty() || key.size() > kKeyBytesMax; }

// Copies with whole overlapping words for the sizes that keys and small values mostly have;
// memcpy's call and dispatch cost as much as the copy there.
inline void CopyShort(void* to, const void* from, size_t bytes) {
  char* const out = static_cast<char*>(to);
  const char* const in = static_cast<const char*>(from);
  if (bytes - 32 <= 32) {
    std::memcpy(out, in, 32);
    std::memcpy(out + bytes - 32, in + bytes - 32, 32);
  } else if (bytes - 8 <= 8) {
    std::memcpy(out, in, 8);
    std::memcpy(out + bytes - 8, in + bytes - 8, 8);
  } else if (bytes != 0) {
    std::memcpy(out, in, bytes);
  }
}

// The columns of one group (task/columns.h). Keys stay where the caller has them: between Search,
// which asks for hashes alone, and the comparison of keys nothing else reads them.
struct Group {
  uint64_t hash[kGroupQueries];
  uint64_t word[kGroupQueries];
  uint64_t position[kGroupQueries];

  task::Columns columns() { return {hash, nullptr, nullptr, nullptr, word, position}; }
};

// A bad key is looked up as an empty one, which no object has.
std::string_view GoodKey(std::string_view key) { return IsBadKey(key) ? std::string_view() : key; }

void PrefetchBucket(const task::TableRef& table, uint64_t hash) {
  task::Prefetch(&table.buckets[task::FirstBucket(hash, table.bucket_count)]);
}

void SetValue(Cache::Lookup* lookup, const uint8_t* value, uint32_t bytes) {
  lookup->outcome = Outcome::kHit;
  lookup->value_bytes = bytes;
  CopyShort(lookup->value, value, std::min(bytes, lookup->capacity));
}
void SetValue(Cache::View* view, const uint8_t* value, uint32_t bytes) {
  view->outcome = Outcome::kHit;
  view->value = {reinterpret_cast<const char*>(value), bytes};
}

// Tasks KC and RD of a lookup whose candidate is no plain hit. True where the access is to be
// noted, at columns.position[i].
template <typename Answer>
__attribute__((noinline)) bool DeliverAny(const LookupViews& views, const task::Columns& columns,
                                          uint32_t i, uint32_t dice, Answer* lookup) {
  const std::string_view key = lookup->key;
  lookup->outcome = IsBadKey(key) ? Outcome::kBadKey : Outcome::kMiss;
  if (IsBadKey(key)) return false;
  const task::Object* const object =
      LiveObject(views, columns, i, KeyData(key), static_cast<uint32_t>(key.size()));
  if (object == nullptr) return false;
  SetValue(lookup, task::ValueOf(object), task::ValueBytes(object));
  return task::WantsNote(columns.word[i], object, views.now_s, dice);
}

// The same of any. The word of a candidate was read within this epoch, and that was the instant of
// the lookup.
template <typename Answer>
inline bool Deliver(const LookupViews& views, const task::Columns& columns, uint32_t i,
                    uint32_t dice, Answer* lookup) {
  const std::string_view key = lookup->key;
  const uint64_t word = columns.word[i];
  const task::Object* const object =
      IsBadKey(key) ? nullptr
                    : PlainHit(views, word, KeyData(key), static_cast<uint32_t>(key.size()));
  if (WEFT_UNLIKELY(object == nullptr)) return DeliverAny(views, columns, i, dice, lookup);
  SetValue(lookup, task::PlainValue(object), object->shape & kShapeValueMask);
  return task::WantsNote(word, object, views.now_s, dice);
}

// Notes the accesses of the lookups in `noted`, bit i for lookup i.
void NoteAll(const LookupViews& views, const task::Columns& columns, uint32_t noted,
             uint32_t dice) {
  for (; noted != 0; noted &= noted - 1) {
    const uint32_t i = task::LowestBit64(noted);
    task::NoteHit(views.index, views.log, columns, i, views.now_s, dice + i);
  }
}

// `use` is called while what was delivered stands.
template <typename Answer, typename Use>
void ReadGroup(Session& session, std::span<Answer> lookups, const Use& use) {
  const Store& store = session.store();
  const uint32_t count = static_cast<uint32_t>(lookups.size());
  const bool prefetch = store.options().prefetch;
  Group group;
  const InBatch batch(session);
  const LookupViews views(session);
  for (uint32_t i = 0; i < count; i++) {
    group.hash[i] = store.HashOf(GoodKey(lookups[i].key));
    if (prefetch) PrefetchBucket(views.index.older, group.hash[i]);
  }
  const task::Columns columns = group.columns();
  const uint32_t prefetch_bytes = prefetch ? store.expected_object_bytes() : 0;
  const uint32_t dice = session.NextDice();
  uint32_t noted = 0;
  const auto deliver = [&](uint32_t i) {
    noted |= uint32_t{Deliver(views, columns, i, dice + i, &lookups[i])} << i;
  };
  // The first half is delivered while the second half's objects are on their way.
  const uint32_t half = count / 2;
  const uint32_t second = count - half;
  task::Search(views.index, views.log, columns, 0, second, prefetch_bytes);
  for (uint32_t i = 0; i < half; i++) {
    task::SearchFirstOne(views.index, views.log, columns, second + i, prefetch_bytes);
    deliver(i);
  }
  for (uint32_t i = second; i < count; i++)
    task::SearchSecondOne(views.index, views.log, columns, i, prefetch_bytes);
  for (uint32_t i = half; i < count; i++) deliver(i);
  NoteAll(views, columns, noted, dice);
  if (Session::CountsHit(dice) && lookups[0].outcome == Outcome::kHit)
    session.CountHit(task::SlotLocation(columns.word[0]));
  use();
}

Command StoreOf(const Cache::Pair& pair, uint64_t hash) {
  Command command;
  command.verb = Verb::kStore;
  command.key = pair.key;
  command.value = pair.value;
  command.hash = hash;
  return command;
}

// One store after the other: what comes before the call of a group has already asked for the
// lines.
void StoreGroup(Session& session, std::span<Cache::Pair> pairs) {
  Store& store = session.store();
  const uint32_t count = static_cast<uint32_t>(pairs.size());
  Group group;
  const InBatch batch(session);
  const LookupViews views(session);
  const task::Columns columns = group.columns();
  for (uint32_t i = 0; i < count; i++) {
    group.hash[i] = store.HashOf(GoodKey(pairs[i].key));
    if (!store.options().prefetch) continue;
    PrefetchBucket(session.index().older, group.hash[i]);
    store.ghosts().Prefetch(group.hash[i]);
  }
  if (store.options().prefetch) {
    task::Search(session.index(), session.log(), columns, 0, count, store.expected_object_bytes());
  }
  bool has_searched = store.options().prefetch && store.is_filling();
  for (uint32_t i = 0; i < count; i++) {
    pairs[i].outcome = Outcome::kBadKey;
    if (IsBadKey(pairs[i].key)) continue;
    const Command command = StoreOf(pairs[i], group.hash[i]);
    pairs[i].outcome = Outcome::kStored;
    if (has_searched && OverwriteCandidate(session, views, columns, i, command) != 0) continue;
    const Reply reply = ExecuteWithRoom(session, command);
    pairs[i].outcome = reply.outcome;
    // What was found, and the views, are of the epoch that was left.
    if (reply.made_room) has_searched = false;
  }
}

}  // namespace

void MultiRead(Session& session, std::span<Cache::Lookup> lookups) {
  for (size_t at = 0; at < lookups.size(); at += kGroupQueries)
    ReadGroup(session, lookups.subspan(at, std::min<size_t>(kGroupQueries, lookups.size() - at)),
              [] {});
  session.store().Maintain(session, 0, session.now_s());
}

// Views have values in between alone, also where the caller throws: behind it they may be gone.
class ShownValues {
 public:
  explicit ShownValues(std::span<Cache::View> views) : views_(views) { Clear(); }
  ~ShownValues() { Clear(); }
  ShownValues(const ShownValues&) = delete;
  ShownValues& operator=(const ShownValues&) = delete;

 private:
  void Clear() {
    for (Cache::View& view : views_) view.value = {};
  }
  const std::span<Cache::View> views_;
};

void MultiView(Session& session, std::span<Cache::View> views, const Cache::ViewUse& use) {
  for (size_t at = 0; at < views.size(); at += kGroupQueries) {
    const auto group = views.subspan(at, std::min<size_t>(kGroupQueries, views.size() - at));
    const ShownValues shown(group);
    ReadGroup(session, group, [&] { use(group); });
  }
  session.store().Maintain(session, 0, session.now_s());
}

void MultiStore(Session& session, std::span<Cache::Pair> pairs) {
  for (size_t at = 0; at < pairs.size(); at += kGroupQueries) {
    const size_t count = std::min<size_t>(kGroupQueries, pairs.size() - at);
    StoreGroup(session, pairs.subspan(at, count));
    session.store().Maintain(session, static_cast<uint32_t>(count), session.now_s());
  }
}

}  // namespace weft::cache
