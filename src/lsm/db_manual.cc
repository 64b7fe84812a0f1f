// What a user asks of the background: Flush and CompactRange.
#include <algorithm>
#include <string>

#include "lsm/db_impl.h"
#include "lsm/running_compaction.h"

namespace weft::lsm {

Status DbImpl::Flush() {
  if (read_only_) return {};
  table::SequenceNumber last;
  {
    base::MutexLock write_lock(&write_mutex_);
    last = assigned_;
    if (active_->entries() > 0 || last > visible_.load(std::memory_order_acquire)) {
      if (Status status = MakeRoom(true); !status.ok()) return status;
    }
  }
  base::MutexLock lock(&mutex_);
  while (background_error_.ok() && !immutables_.empty() && immutables_.front().last <= last) {
    room_.Wait(&mutex_);
  }
  return background_error_;
}

// Level by level down to the deepest that holds keys of the range. What nothing was merged into
// there is written anew in place: it may hold entries that a snapshot kept, or that came there in a
// table that was flushed or moved to it.
Status DbImpl::CompactRange(const CompactRangeOptions& options, const std::string_view* begin,
                            const std::string_view* end) {
  if (read_only_) return {Code::kInvalidArgument, dir_ + " is open only for reading"};
  if (Status status = Flush(); !status.ok()) return status;
  const UserKeyRange range{begin, end};
  int deepest = 1;
  uint64_t old_below;
  {
    base::MutexLock lock(&mutex_);
    // What runs already may keep what a snapshot saw that is gone by now, in tables that would then
    // count as written for this call.
    const uint64_t begun = compactions_begun_;
    while (!compactions_running_.empty() && *compactions_running_.begin() < begun) {
      compact_done_.Wait(&mutex_);
    }
    const VersionRef version = versions_->current();
    for (int level = 1; level < kLevels; level++) {
      if (version->OverlapInLevel(level, range)) deepest = level;
    }
    old_below = versions_->next_file_number();
  }
  ManualCompaction whole;
  if (begin != nullptr) whole.begin = *begin;
  if (end != nullptr) whole.end = *end;
  for (int level = 0; level < deepest; level++) {
    ManualCompaction manual = whole;
    manual.level = level;
    if (Status status = RunManual(&manual); !status.ok()) return status;
  }
  if (!options.rewrite_deepest) return {};
  // Deeper than `deepest`, too: a table may have been moved there meanwhile.
  for (int level = deepest; level < kLevels; level++) {
    ManualCompaction manual = whole;
    manual.level = level;
    manual.rewrite_below = old_below;
    if (Status status = RunManual(&manual); !status.ok()) return status;
  }
  return {};
}

// Hands it to the compaction threads, piece by piece, and waits.
Status DbImpl::RunManual(ManualCompaction* manual) {
  base::MutexLock lock(&mutex_);
  manual_.push_back(manual);
  compact_work_.NotifyAll();
  while (!manual->done && background_error_.ok()) compact_done_.Wait(&mutex_);
  while (manual->running) compact_done_.Wait(&mutex_);
  if (manual->done) return manual->status;
  std::erase(manual_, manual);
  return background_error_;
}

}  // namespace weft::lsm
