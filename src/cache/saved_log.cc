#include "cache/saved_log.h"

#include <algorithm>

#include "base/check.h"

namespace weft::cache {
namespace {

constexpr uint64_t kPageBytes = 4096;

bool IsTail(const SegmentRecord& record) { return (record.flags & SegmentRecord::kTail) != 0; }
bool IsRun(const SegmentRecord& record) { return (record.flags & SegmentRecord::kRun) != 0; }

}  // namespace

void SavedLog::AddRecords(const ObjectLog& log, uint32_t segment, std::vector<SegmentRecord>* to) {
  const ObjectLog::Segment& s = log.segments_[segment];
  SegmentRecord record;
  record.version_base = log.version_bases_[segment];
  record.segment = segment;
  record.run_segments = s.run_segments;
  record.fill_units = s.fill_units;
  record.whole_units = s.whole_units;
  record.group = static_cast<uint16_t>(s.group);
  record.generation = static_cast<uint8_t>(s.generation.load());
  record.flags = static_cast<uint8_t>((s.is_run ? SegmentRecord::kRun : 0) |
                                      (s.is_repacked ? SegmentRecord::kRepacked : 0));
  to->push_back(record);
  if (s.is_run) return;
  for (uint32_t i = segment + 1; i < segment + record.run_segments; i++) {
    SegmentRecord tail;
    tail.version_base = log.version_bases_[i];
    tail.segment = i;
    tail.flags = SegmentRecord::kTail;
    to->push_back(tail);
  }
}

std::vector<SegmentRecord> SavedLog::Take(ObjectLog* log, std::span<const uint32_t> live) {
  log->SealAll();
  std::vector<SegmentRecord> records;
  base::MutexLock lock(&log->mutex_);
  const auto add = [&](uint32_t segment) {
    if (live[segment] != 0) AddRecords(*log, segment, &records);
  };
  for (uint32_t generation = 0; generation < kGenerations; generation++) {
    // Those whose emptying was begun were the oldest.
    for (uint32_t i = 1; i < log->used_end_; i++) {
      const ObjectLog::Segment& s = log->segments_[i];
      if (s.state == ObjectLog::State::kEvicting &&
          static_cast<uint32_t>(s.generation.load()) == generation)
        add(i);
    }
    for (uint32_t i = log->queues_[generation].oldest; i != 0; i = log->segments_[i].newer) add(i);
  }
  return records;
}

void SavedLog::ReleaseFree(ObjectLog* log) {
  base::MutexLock lock(&log->mutex_);
  const uint64_t bytes = log->geometry_.segment_bytes;
  while (log->free_backed_.count() != 0) {
    const uint32_t segment = log->free_backed_.Lowest();
    log->pages_.Release(segment * bytes, bytes);
    log->free_backed_.Erase(segment);
    log->free_bare_.Insert(segment);
    log->backed_segments_--;
  }
  log->PublishCountsLocked();
}

std::string SavedLog::WhyWrong(const ObjectLog& log, std::span<const SegmentRecord> records,
                               uint64_t next_version) {
  std::vector<bool> taken(log.segment_count_);
  for (size_t i = 0; i < records.size(); i++) {
    const SegmentRecord& r = records[i];
    if (IsTail(r)) return "a segment belongs to none";
    const uint64_t end = uint64_t{r.segment} + r.run_segments;
    const uint64_t units = uint64_t{log.segment_units_} * r.run_segments;
    if (r.segment == 0 || r.run_segments == 0 || end > log.segment_count_)
      return "there are no such segments";
    if (r.fill_units == 0 || r.fill_units > units || r.fill_units <= units - log.segment_units_ ||
        r.whole_units > log.segment_units_ || r.generation >= kGenerations)
      return "a segment cannot be as it is described";
    for (uint32_t segment = r.segment; segment < end; segment++) {
      if (taken[segment]) return "two segments lie in one place";
      taken[segment] = true;
    }
    if (!IsRun(r) && records.size() - i < r.run_segments) return "the table is cut short";
    const size_t last = IsRun(r) ? i : i + r.run_segments - 1;
    for (size_t tail = i; tail <= last; tail++) {
      if (records[tail].segment != r.segment + (tail - i) || IsTail(records[tail]) != (tail != i))
        return "the segments of one are not side by side";
      const uint64_t base = records[tail].version_base;
      if (base == 0 || base >= next_version || next_version - base < log.versions_a_segment_)
        return "a version is too great";
    }
    i = last;
  }
  return {};
}

bool SavedLog::Populate(ObjectLog* log, const SegmentRecord& record) {
  const uint64_t bytes = (BytesOf(record) + kPageBytes - 1) / kPageBytes * kPageBytes;
  return log->pages_.Populate(uint64_t{record.segment} * log->geometry_.segment_bytes, bytes);
}

void SavedLog::AdoptOne(ObjectLog* log, std::span<const SegmentRecord> records, size_t number,
                        const SegmentContents& contents) {
  log->mutex_.AssertHeld();
  const SegmentRecord& r = records[number];
  const uint32_t end = r.segment + r.run_segments;
  for (uint32_t i = r.segment; i < end; i++) {
    ObjectLog::Segment& s = log->segments_[i];
    s.state = ObjectLog::State::kRunTail;
    s.first.store(r.segment, std::memory_order_relaxed);
    if (!IsRun(r)) log->version_bases_[i] = records[number + (i - r.segment)].version_base;
    log->free_bare_.Erase(i);
  }
  ObjectLog::Segment& s = log->segments_[r.segment];
  log->version_bases_[r.segment] = r.version_base;
  s.live_units = static_cast<uint32_t>(contents.live_units);
  s.last_expiry = contents.last_expiry;
  s.first_expiry = contents.first_expiry;
  s.generation = Generation(r.generation);
  s.group = r.group;
  s.fill_units = r.fill_units;
  s.whole_units = r.whole_units;
  s.run_segments = r.run_segments;
  s.is_run = IsRun(r);
  s.is_repacked = (r.flags & SegmentRecord::kRepacked) != 0;
  s.stamp = 0;
  log->SetPlacesLocked(r.segment,
                       r.group == 0 ? ObjectLog::Places::kFillable : ObjectLog::Places::kClosed);
  if (!s.is_run) log->longest_run_ = std::max(log->longest_run_, r.run_segments);
  log->backed_segments_ += r.run_segments;
  log->used_end_ = std::max(log->used_end_, end);
  log->reach_ = std::max(log->reach_.load(), end);
  log->EnqueueLocked(r.segment);
}

// All that holds nothing gives its memory back, a stretch at a time.
void SavedLog::ReleaseOthers(ObjectLog* log) {
  log->mutex_.AssertHeld();
  const uint64_t segment_bytes = log->geometry_.segment_bytes;
  uint32_t first = 0;
  for (uint32_t i = 0; i <= log->segment_count_; i++) {
    // The first segment is never used, and never free.
    const bool is_used = i == log->segment_count_ || (i != 0 && !log->free_bare_.Contains(i));
    if (!is_used) continue;
    if (first < i) log->pages_.Release(first * segment_bytes, (i - first) * segment_bytes);
    first = i + 1;
  }
}

void SavedLog::Adopt(ObjectLog* log, std::span<const SegmentRecord> records,
                     std::span<const SegmentContents> contents, uint64_t next_version) {
  base::MutexLock lock(&log->mutex_);
  WEFT_CHECK(log->used_end_ == 1 && !log->watched_);
  size_t seen = 0;
  for (size_t i = 0; i < records.size(); i++) {
    if (IsTail(records[i])) continue;
    const SegmentContents& found = contents[seen++];
    if (found.is_sound) AdoptOne(log, records, i, found);
  }
  ReleaseOthers(log);
  log->versions_ = std::max(log->versions_.load(), next_version);
  // What is above the budget goes as on the way to a lower one.
  log->budget_segments_ = std::max(log->budget_segments_, log->UsedLocked() + log->ReserveLocked());
  log->PublishCountsLocked();
}

}  // namespace weft::cache
