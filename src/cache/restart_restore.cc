// The start: what of a memory file may be believed, and its objects' way into the index.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/crew.h"
#include "cache/object_writer.h"
#include "cache/restart.h"
#include "cache/restart_meta.h"
#include "cache/saved_log.h"
#include "task/insert.h"

namespace weft::cache {
namespace {

constexpr size_t kEnteredAtOnce = 64;  // objects whose buckets are fetched together
// Of the slots of the table that objects are entered into, at most: below it no place is wanting.
constexpr double kLoadOfRestored = 0.7;

// Whether an object can begin at `object` with `left` bytes to the end of its segment.
bool IsWhole(const task::Object* object, uint64_t left) {
  if (left < sizeof(task::Object) || left < task::KeyOffset(object->shape)) return false;
  const uint32_t key_bytes = task::KeyBytes(object->shape);
  return key_bytes != 0 && key_bytes <= kKeyBytesMax && task::StoredBytes(object) <= left;
}

// By how much the store's seconds have moved against the date, beyond the time that has passed.
int64_t ClockShift(const RestartMeta& meta, const RestartBelow& below) {
  // Items on disk end by the date alone, and memory must agree with them.
  if (below.sequence != 0) return 0;
  const auto date_s = static_cast<int64_t>(std::time(nullptr));
  const auto then_s = static_cast<int64_t>(meta.date_s);
  // Of a date that went back nobody knows how long the server was away: nothing ages.
  const int64_t away_s = std::max<int64_t>(0, date_s - then_s);
  const int64_t shift =
      int64_t{base::NowSeconds()} - static_cast<int64_t>(meta.stopped_at_s) - away_s;
  // The two clocks are read one after the other, and may be of two seconds.
  return std::abs(shift) <= 1 ? 0 : shift;
}

// Enters the objects of one segment at a time.
class Reentry {
 public:
  Reentry(Store* store, int64_t shift_s) : store_(store), shift_s_(shift_s) {}

  void Enter(Session& session, const SegmentRecord& record, SegmentContents* contents) {
    *contents = {};
    if (!SavedLog::Populate(&store_->log(), record)) return;
    const uint64_t start = uint64_t{record.segment} * store_->log().segment_units();
    const auto* const bytes = reinterpret_cast<const char*>(session.ObjectAt(start));
    if (base::Crc32c(bytes, SavedLog::BytesOf(record)) != record.crc) return;
    if (!IsWalkable(session, start, record)) return;
    contents->is_sound = true;
    contents->first_expiry = UINT32_MAX;
    Places places;
    size_t count = 0;
    for (uint64_t at = 0; at < record.fill_units;) {
      task::Object* const object = session.ObjectAt(start + at);
      const uint64_t units = task::StoredBytes(object) / kLocationUnitBytes;
      if (Revive(session, object)) {
        places[count] = {start + at, store_->HashOf(KeyView(object)),
                         (object->access & kAccessRecencyMask) >> kAccessRecencyShift};
        count++;
      }
      at += units;
      if (count < kEnteredAtOnce && at < record.fill_units) continue;
      EnterThese(session, {places.data(), count}, contents);
      count = 0;
    }
  }

  uint64_t items() const { return items_.load(); }
  uint64_t refused() const { return refused_.load(); }

 private:
  struct Place {
    uint64_t location;
    uint64_t hash;
    uint64_t recency;
  };
  using Places = std::array<Place, kEnteredAtOnce>;

  // The sum is right, so this holds, unless somebody made a right sum for wrong bytes.
  bool IsWalkable(Session& session, uint64_t start, const SegmentRecord& record) const {
    uint64_t at = 0;
    while (at < record.fill_units) {
      const task::Object* const object = session.ObjectAt(start + at);
      if (!IsWhole(object, (record.fill_units - at) * kLocationUnitBytes)) return false;
      at += task::StoredBytes(object) / kLocationUnitBytes;
    }
    return true;
  }

  // Brings the object up to date. False: it has no entry, or has ended.
  bool Revive(Session& session, task::Object* object) const {
    const uint32_t access = object->access;
    if ((access & kAccessLive) != 0 && shift_s_ != 0) Shift(object);
    const uint32_t expiry = task::ExpiryOf(object);
    const bool is_live = (access & kAccessLive) != 0 && (expiry == 0 || expiry > session.now_s());
    if (!is_live) {
      object->access = (object->access & ~(kAccessLive | kAccessRecencyMask)) | kAccessDead;
      return false;
    }
    object->access &= ~(kAccessLive | kAccessDead | kAccessUnseen);
    return true;
  }

  void Shift(task::Object* object) const {
    const uint32_t access = object->access;
    const auto used_s = static_cast<uint32_t>(int64_t{task::AccessTime(access)} + shift_s_);
    object->access = task::WithAccessTime(access, used_s);
    const uint32_t expiry = task::ExpiryOf(object);
    if (expiry == 0) return;
    const auto end_s =
        static_cast<uint32_t>(std::clamp<int64_t>(expiry + shift_s_, 1, UINT32_MAX - 1));
    std::memcpy(reinterpret_cast<uint8_t*>(object) + task::ExpiryOffset(object->shape), &end_s,
                sizeof end_s);
  }

  // Loads that do not depend on each other wait side by side, as many as the processor looks ahead
  // to: so nothing stands between them. Of prefetches it would drop many: few pages of a table that
  // nobody has used yet are in its TLB.
  static void FetchBuckets(Session& session, std::span<const Place> places) {
    const task::TableRef& table = session.index().older;
    std::array<const uint64_t*, 2 * kEnteredAtOnce> slots;
    size_t count = 0;
    for (const Place& place : places) {
      const uint64_t first = task::FirstBucket(place.hash, table.bucket_count);
      const uint64_t second = task::OtherBucket(session.index().policy, first,
                                                task::TagOfHash(place.hash), table.bucket_count);
      slots[count++] = &table.buckets[first].slots[0];
      slots[count++] = &table.buckets[second].slots[0];
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) sum += task::LoadAcquire64(slots[i]);
    asm volatile("" : : "r"(sum));  // so that the compiler keeps the loads
  }

  void EnterThese(Session& session, std::span<const Place> places, SegmentContents* contents) {
    uint64_t entered = 0;
    FetchBuckets(session, places);
    for (const Place& place : places) {
      task::Object* const object = session.ObjectAt(place.location);
      object->access &= ~kAccessRecencyMask;
      if (!EnterOne(session, place, object)) {
        object->access |= kAccessDead;
        continue;
      }
      entered++;
      const uint64_t bytes = task::StoredBytes(object);
      contents->live_units += bytes / kLocationUnitBytes;
      const uint32_t expiry = task::ExpiryOf(object);
      const uint32_t end = expiry == kNeverExpires ? UINT32_MAX : expiry;
      contents->last_expiry = std::max(contents->last_expiry, end);
      contents->first_expiry = std::min(contents->first_expiry, end);
      store_->NoteStoredBytes(place.location,
                              static_cast<uint32_t>(std::min<uint64_t>(bytes, UINT32_MAX)));
    }
    session.AddItems(static_cast<int64_t>(entered));
    items_.fetch_add(entered, std::memory_order_relaxed);
    refused_.fetch_add(places.size() - entered, std::memory_order_relaxed);
  }

  // As task::Insert, with the entry's recency. A second object of a key is refused.
  static bool EnterOne(Session& session, const Place& place, const task::Object* object) {
    const task::IndexRef index = session.index_to_change();
    const uint64_t word =
        task::MakeSlot(task::TagOfHash(place.hash), kSlotTentative, kByCpu, place.location);
    uint64_t victim = 0;
    uint64_t* const slot =
        task::PlaceWord(index, index.older, session.log(), place.hash, word, false, &victim);
    const std::string_view key = KeyView(object);
    if (slot == nullptr || task::SettleInsert(index, session.log(), TaskKey(key, place.hash), slot,
                                              word) != kInsertDone)
      return false;
    const uint64_t live = task::WithState(task::WithRecency(word, 0), kSlotLive);
    if (place.recency != 0)
      task::CompareAndSwap64(slot, live, task::WithRecency(live, place.recency));
    return true;
  }

  Store* const store_;
  const int64_t shift_s_;
  std::atomic<uint64_t> items_{0};
  std::atomic<uint64_t> refused_{0};
};

// Why what is written down is of no use to this store; empty: it is.
std::string WhyOther(const RestartMeta& meta, Store& store, const MemoryFile& file,
                     const RestartBelow& below) {
  const CacheOptions& options = store.options();
  const ObjectLog& log = store.log();
  if (meta.memory_bytes != options.memory_bytes) return "-m was another one";
  if (meta.object_bytes_max != options.object_bytes_max) return "-I was another one";
  if ((meta.evicts != 0) != options.evict) return "-M was given to only one of the two servers";
  if ((meta.data_sequence != 0) != (below.sequence != 0))
    return "--data was given to only one of the two servers";
  if (meta.data_folder != below.folder) return "--data was another folder";
  if (meta.data_sequence != below.sequence)
    return "the durable store was changed since, or lost changes";
  if ((meta.keeps_versions != 0) != store.keeps_versions()) return "versions were kept otherwise";
  if (meta.segment_bytes != log.geometry().segment_bytes ||
      meta.segment_count != log.segment_count() || !file.fits())
    return "the memory was divided otherwise";
  if (!file.IsOf(meta.stop_id)) return "FILE.meta belongs to another file";
  return {};
}

// The records, or why there are none to be believed.
Result<std::vector<SegmentRecord>> ReadRecords(const RestartMeta& meta, const ObjectLog& log,
                                               const MemoryFile& file) {
  if (meta.record_count > meta.segment_count)
    return Status(Code::kCorruption, "its table of segments is too long");
  auto table = file.ReadTable(meta.record_count * sizeof(SegmentRecord));
  if (!table) return table.error();
  if (base::Crc32c(*table) != meta.table_crc)
    return Status(Code::kCorruption, "its table of segments is damaged");
  std::vector<SegmentRecord> records(meta.record_count);
  std::memcpy(records.data(), table->data(), table->size());
  std::string wrong = SavedLog::WhyWrong(log, records, meta.next_version);
  if (!wrong.empty()) return Status(Code::kCorruption, "its table is wrong: " + wrong);
  return records;
}

// So many that all find a place, and as many as there were, if memory allows that.
uint64_t BucketsFor(const RestartMeta& meta, const Store& store) {
  const uint64_t most = store.options().memory_bytes / 2 / sizeof(task::Bucket);
  const bool is_cuckoo = store.options().index_policy == IndexPolicy::kCuckoo;
  const auto needed = static_cast<uint64_t>(static_cast<double>(std::min(meta.items, most * 8)) /
                                            (kBucketSlots * kLoadOfRestored)) +
                      1;
  const bool is_same = (meta.is_cuckoo != 0) == is_cuckoo && meta.buckets <= most;
  return std::min(most, std::max(needed, is_same ? meta.buckets : 0));
}

Result<Restored> Fill(Store* store, const RestartMeta& meta, const RestartBelow& below,
                      const std::vector<SegmentRecord>& records) {
  if (Status status = store->ResizeEmptyIndex(BucketsFor(meta, *store)); !status.ok())
    return status;
  std::vector<const SegmentRecord*> heads;
  for (const SegmentRecord& record : records)
    if ((record.flags & SegmentRecord::kTail) == 0) heads.push_back(&record);
  std::vector<SegmentContents> contents(heads.size());
  const int64_t shift_s = ClockShift(meta, below);
  Reentry reentry(store, shift_s);
  std::atomic<size_t> next{0};
  const uint32_t threads = RestartThreads();
  base::Crew crew(static_cast<int>(threads) - 1, "weft-restore");
  crew.ForEach(threads, [&](size_t) {
    const auto session = store->NewSession();
    if (session == nullptr) return;
    for (size_t i = next.fetch_add(1); i < heads.size(); i = next.fetch_add(1)) {
      const InBatch batch(*session);
      reentry.Enter(*session, *heads[i], &contents[i]);
    }
  });
  SavedLog::Adopt(&store->log(), records, contents, meta.next_version);
  SavedLog::SetShownAndYoung(&store->log(), std::min(meta.shown_version, meta.next_version - 1),
                             meta.young_units);
  if (meta.flush_at_s != 0) {
    const int64_t at_s = static_cast<int64_t>(meta.flush_at_s) + shift_s;
    store->SetFlushAt(static_cast<uint32_t>(std::clamp<int64_t>(at_s, 2, UINT32_MAX)));
  }
  Restored restored;
  restored.items = reentry.items();
  restored.refused = reentry.refused();
  for (size_t i = 0; i < heads.size(); i++) {
    restored.damaged_segments += contents[i].is_sound ? 0 : 1;
    restored.bytes += contents[i].is_sound ? SavedLog::BytesOf(*heads[i]) : 0;
  }
  return restored;
}

}  // namespace

uint32_t RestartThreads() {
  return std::clamp(std::thread::hardware_concurrency(), 1u, kRestartThreadsMax);
}

Result<Restored> RestoreStore(Store* store, MemoryFile* file, const RestartBelow& below) {
  auto text = file->TakeMeta();
  if (!text) return text.error();
  const auto empty = [&](std::string why) -> Result<Restored> {
    if (Status status = file->Clear(); !status.ok()) return status;
    Restored restored;
    restored.why_empty = std::move(why);
    return restored;
  };
  if (!*text) return empty("no server has stopped cleanly with it");
  auto meta = ParseRestartMeta(**text);
  if (!meta && meta.error().code() == Code::kUnsupported)
    return empty(std::string(meta.error().message()));
  if (!meta)
    return Status(Code::kCorruption,
                  file->path() + ".meta: " + std::string(meta.error().message()));
  if (std::string why = WhyOther(*meta, *store, *file, below); !why.empty()) return empty(why);
  auto records = ReadRecords(*meta, store->log(), *file);
  if (!records) return empty(std::string(records.error().message()));
  if (Status status = file->MarkInUse(); !status.ok()) return status;
  return Fill(store, *meta, below, *records);
}

}  // namespace weft::cache
