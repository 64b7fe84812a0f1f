// The stop: which objects have entries, what the log's segments hold, and who may believe it.
#include <sys/random.h>
#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/crew.h"
#include "cache/restart.h"
#include "cache/restart_meta.h"
#include "cache/saved_log.h"

namespace weft::cache {
namespace {

constexpr uint64_t kBucketsAtOnce = 4096;
constexpr size_t kMarkedAtOnce = 32;  // objects whose lines are asked for together

// Marks what has an entry, and counts it by the segment that it lies in.
class Marking {
 public:
  explicit Marking(Store* store)
      : store_(store),
        log_(store->log().Ref()),
        now_s_(base::NowSeconds()),
        live_(store->log().segment_count()) {}

  // In buckets [begin, end) of `table`.
  void Mark(task::TableRef table, uint64_t begin, uint64_t end) {
    uint64_t words[kMarkedAtOnce + kBucketSlots];
    size_t count = 0;
    for (uint64_t bucket = begin; bucket < end; bucket++) {
      for (const uint64_t& slot : table.buckets[bucket].slots) {
        const uint64_t word = task::LoadAcquire64(&slot);
        if (word == kSlotEmpty || task::SlotState(word) == kSlotTentative) continue;
        __builtin_prefetch(task::ObjectAt(log_, task::SlotLocation(word)), 1);
        words[count++] = word;
      }
      if (count < kMarkedAtOnce) continue;
      MarkThese({words, count});
      count = 0;
    }
    MarkThese({words, count});
  }

  uint64_t items() const { return items_.load(); }
  std::vector<uint32_t> live() const { return {live_.begin(), live_.end()}; }

 private:
  void MarkThese(std::span<const uint64_t> words) {
    uint64_t marked = 0;
    for (const uint64_t word : words) {
      const uint64_t location = task::SlotLocation(word);
      task::Object* const object = task::ObjectAt(log_, location);
      if (task::IsEnded(log_, location, object, now_s_)) continue;
      const uint64_t recency = std::min<uint64_t>(task::SlotRecency(word), kRecencyMax);
      const uint32_t bits = kAccessLive | static_cast<uint32_t>(recency << kAccessRecencyShift);
      if ((task::FetchOr32(&object->access, bits) & kAccessLive) != 0) continue;
      live_[store_->log().SegmentOf(location)].fetch_add(1, std::memory_order_relaxed);
      marked++;
    }
    items_.fetch_add(marked, std::memory_order_relaxed);
  }

  Store* const store_;
  const task::LogRef log_;
  const uint32_t now_s_;
  std::atomic<uint64_t> items_{0};
  std::vector<std::atomic<uint32_t>> live_;
};

void MarkTable(base::Crew* crew, Marking* marking, task::TableRef table) {
  if (table.buckets == nullptr) return;
  const uint64_t parts = (table.bucket_count + kBucketsAtOnce - 1) / kBucketsAtOnce;
  crew->ForEach(parts, [&](size_t part) {
    const uint64_t begin = part * kBucketsAtOnce;
    marking->Mark(table, begin, std::min(begin + kBucketsAtOnce, table.bucket_count));
  });
}

void SumSegments(base::Crew* crew, const ObjectLog& objects_log,
                 std::vector<SegmentRecord>* records) {
  const task::LogRef log = objects_log.Ref();
  const uint64_t units = uint64_t{1} << log.segment_shift;
  crew->ForEach(records->size(), [&](size_t i) {
    SegmentRecord& record = (*records)[i];
    const auto* const objects =
        reinterpret_cast<const char*>(task::ObjectAt(log, record.segment * units));
    record.crc = base::Crc32c(objects, SavedLog::BytesOf(record));
  });
}

RestartMeta MetaOf(Store* store, const RestartBelow& below) {
  ObjectLog& log = store->log();
  RestartMeta meta;
  meta.memory_bytes = store->options().memory_bytes;
  meta.object_bytes_max = store->options().object_bytes_max;
  meta.segment_bytes = log.geometry().segment_bytes;
  meta.segment_count = log.segment_count();
  meta.keeps_versions = store->keeps_versions() ? 1 : 0;
  meta.evicts = store->options().evict ? 1 : 0;
  meta.data_sequence = below.sequence;
  meta.data_folder = below.folder;
  meta.stopped_at_s = base::NowSeconds();
  meta.date_s = static_cast<uint64_t>(std::time(nullptr));
  meta.next_version = log.next_version();
  meta.shown_version = SavedLog::ShownVersion(log);
  meta.flush_at_s = store->flush_at_s();
  meta.young_units = SavedLog::YoungUnits(log);
  const task::IndexRef& index = store->index().current();
  meta.buckets = std::max(index.older.bucket_count, index.newer.bucket_count);
  meta.is_cuckoo = index.policy == kPolicyCuckoo ? 1 : 0;
  return meta;
}

Status DrawStopId(uint64_t* id) {
  *id = 0;
  while (*id == 0)
    if (getrandom(id, sizeof *id, 0) != static_cast<ssize_t>(sizeof *id))
      return Status::FromErrno("getrandom", errno);
  return {};
}

}  // namespace

Result<Saved> SaveStore(Store* store, MemoryFile* file, const RestartBelow& below,
                        const std::function<void(SaveStep)>& at_step) {
  // Whoever is in a batch may be about to write; a device that hangs is, for ever.
  if (store->epochs().Oldest() != UINT64_MAX || store->change_epochs().Oldest() != UINT64_MAX)
    return Status(Code::kRetryLater, "a batch has not ended");
  store->FlushIfDue(base::NowSeconds());
  at_step(SaveStep::kBegun);
  base::Crew crew(static_cast<int>(RestartThreads()) - 1, "weft-save");
  Marking marking(store);
  MarkTable(&crew, &marking, store->index().current().older);
  MarkTable(&crew, &marking, store->index().current().newer);
  at_step(SaveStep::kMarked);
  std::vector<SegmentRecord> records = SavedLog::Take(&store->log(), marking.live());
  SumSegments(&crew, store->log(), &records);
  at_step(SaveStep::kSummed);
  const std::string_view table(reinterpret_cast<const char*>(records.data()),
                               records.size() * sizeof(SegmentRecord));
  RestartMeta meta = MetaOf(store, below);
  meta.items = marking.items();
  meta.record_count = records.size();
  meta.table_crc = base::Crc32c(table);
  if (Status status = DrawStopId(&meta.stop_id); !status.ok()) return status;
  // Its room may be all that a full file system has for the table and for FILE.meta.
  store->log().Reclaim();
  SavedLog::ReleaseFree(&store->log());
  if (Status status = file->WriteTable(table); !status.ok()) return status;
  at_step(SaveStep::kTableWritten);
  if (Status status = file->Seal(meta.stop_id); !status.ok()) return status;
  at_step(SaveStep::kSealed);
  if (Status status = file->WriteMeta(EncodeRestartMeta(meta)); !status.ok()) return status;
  at_step(SaveStep::kDone);
  Saved saved;
  saved.items = meta.items;
  for (const SegmentRecord& record : records) saved.bytes += SavedLog::BytesOf(record);
  return saved;
}

}  // namespace weft::cache
