// The flush thread: writes full memtables as tables, and makes the next log ahead of its need.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/thread.h"
#include "lsm/db_impl.h"
#include "lsm/file_names.h"
#include "lsm/within_memory.h"
#include "table/table_builder.h"

namespace weft::lsm {

namespace {

// Gives way to those that wait for an answer: on one processor with a writer it would else take
// half of its time, and every write of a flush's length would be late. Writers wait for it where
// they have to.
constexpr int kFlushNice = 5;
// What the system had no descriptor for is tried again for a second, and then given up: threads of
// a server that write stand still meanwhile, and the descriptors may be their connections'.
constexpr uint64_t kRetryAfterNs = 20'000'000;
constexpr int kRetriesMax = 50;
// The rate limiter is asked once for so many bytes written.
constexpr uint64_t kPaceBytes = 1u << 20;

}  // namespace

void DbImpl::FlushThread() {
  base::SetThreadName("weft-flush");
  base::LowerThreadPriority(kFlushNice);
  mutex_.Lock();
  while (!stopping_.load(std::memory_order_relaxed)) {
    if (background_error_.ok() && spare_.file == nullptr) {
      MakeSpareLogLocked();
    } else if (background_error_.ok() && !immutables_.empty()) {
      FlushOldestLocked();
    } else {
      flush_work_.Wait(&mutex_);
    }
  }
  mutex_.Unlock();
}

// The log that the next memtable will have: made and its name synced before it is needed, so that
// beginning it costs a writer nothing.
void DbImpl::MakeSpareLogLocked() {
  const uint64_t number = versions_->NewFileNumber();
  mutex_.Unlock();
  std::unique_ptr<WritableFile> file;
  const Status status = WithinMemory([&] {
    auto made = files_->NewWritableFile(LogFileName(dir_, number), FileUse::kLog);
    if (!made) return made.error();
    file = std::move(*made);
    Status synced = files_->SyncDir(dir_);
    if (!synced.ok()) {
      file.reset();  // what is tried again may need its descriptor
      (void)files_->RemoveFile(LogFileName(dir_, number));
    }
    return synced;
  });
  mutex_.Lock();
  if (!status.ok()) return NoteFlushFailureLocked(status);
  flush_retries_ = 0;
  spare_ = {std::move(file), number};
  room_.NotifyAll();
}

// Nothing was written where the system had no descriptor. Writers wait meanwhile, as for a flush
// that takes long.
void DbImpl::NoteFlushFailureLocked(const Status& status) {
  if (status.code() != Code::kRetryLater || flush_retries_ >= kRetriesMax)
    return FailWritesLocked(status);
  if (flush_retries_++ == 0) Log("trying a flush again: " + status.ToString());
  const uint64_t due_ns = base::NowNs() + kRetryAfterNs;
  while (!stopping_.load(std::memory_order_relaxed) && base::NowNs() < due_ns)
    flush_work_.WaitFor(&mutex_, static_cast<int>(kRetryAfterNs / 1'000'000));
}

void DbImpl::FlushOldestLocked() {
  Immutable oldest = immutables_.front();
  mutex_.Unlock();
  WaitUntilPublished(oldest.last);  // until then writers may still be adding to it
  mutex_.Lock();
  if (!background_error_.ok()) return;  // it may hold a write that failed, and is not shown
  const uint64_t job = versions_->BeginJob();
  VersionEdit edit;
  FlushEvent event;
  Status status = FlushToTableLocked(*oldest.table, kMemTableLevelMax, &edit, &event);
  bool may_try_again = true;
  if (status.ok()) {
    // From then on logs are needed from the next memtable's on.
    edit.log_number = immutables_.size() > 1 ? immutables_[1].log_number : active_log_;
    edit.prev_log_number = 0;
    edit.last_sequence = oldest.last;  // no more: what follows is only in logs
    placing_deep_ = event.level > 0;
    status = versions_->LogAndApply(&edit, &mutex_);
    may_try_again = versions_->may_delete_files();  // otherwise it may stand in the manifest
    placing_deep_ = false;
  }
  versions_->EndJob(job);
  event.status = status;
  std::vector<std::shared_ptr<WritableFile>> old_logs;
  if (status.ok()) {
    immutables_.pop_front();
    old_logs = log_.Forget(oldest.log_number);
    InstallViewLocked();
    NoteFlushLocked(event);
    flush_retries_ = 0;
  } else if (may_try_again) {
    NoteFlushFailureLocked(status);
  } else {
    FailWritesLocked(status);
  }
  events_.Tell([event](EventListener* listener) { listener->OnFlush(event); });
  room_.NotifyAll();
  compact_work_.NotifyAll();
  // Giving back its memory and its log's takes long: not while others wait for the mutex.
  mutex_.Unlock();
  oldest.table.reset();
  old_logs.clear();
  mutex_.Lock();
  RemoveObsoleteFilesLocked();
}

void DbImpl::NoteFlushLocked(const FlushEvent& event) {
  statistics_.Add(Statistics::kFlushes, 1);
  statistics_.Add(Statistics::kFlushBytes, event.bytes);
  Log("flushed " + std::to_string(event.keys) + " keys to table " +
      std::to_string(event.file_number) + " at level " + std::to_string(event.level) + ": " +
      std::to_string(event.bytes) + " bytes in " + std::to_string(event.us) + " us");
  UpdateThrottleLocked();
}

// Writes `memtable` as a table and adds that to *edit, as deep as it may go.
Status DbImpl::FlushToTableLocked(const MemTable& memtable, int deepest_level, VersionEdit* edit,
                                  FlushEvent* event) {
  const uint64_t begin = base::NowNs();
  NewFile table;
  table.number = versions_->NewFileNumber();
  mutex_.Unlock();
  Status status = WriteTable(memtable, &table, event);
  mutex_.Lock();
  event->us = (base::NowNs() - begin) / 1000;
  if (!status.ok() || table.bytes == 0) return status;
  event->file_number = table.number;
  event->bytes = table.bytes;
  if (deepest_level > 0) {
    table.level = picker_->LevelForMemTable(*versions_->current(), table::UserKey(table.smallest),
                                            table::UserKey(table.largest));
  }
  event->level = table.level;
  edit->new_files.push_back(std::move(table));
  return {};
}

// table->bytes stays 0, and no file is left, where the memtable is empty or the table failed.
Status DbImpl::WriteTable(const MemTable& memtable, NewFile* table, FlushEvent* event) {
  const std::unique_ptr<Iterator> entries = memtable.NewIterator();
  entries->SeekToFirst();
  if (!entries->Valid()) return entries->status();
  FlushFirst::Turn turn(&flush_first_);
  const std::string path = TableFileName(dir_, table->number);
  Result<std::unique_ptr<WritableFile>> file = files_->NewWritableFile(path, FileUse::kTable);
  if (!file) return file.error();
  table::TableBuilder builder(format_, file->get());
  table->smallest = entries->key();
  Status status;
  uint64_t paced = 0;
  for (; entries->Valid() && status.ok(); entries->Next()) {
    builder.Add(entries->key(), entries->value());
    table->largest.assign(entries->key());
    if (builder.flushed_bytes() - paced < kPaceBytes) continue;
    rate_limiter_.Request(builder.flushed_bytes() - paced, base::RateLimiter::Priority::kFlush);
    paced = builder.flushed_bytes();
    status = builder.status();
  }
  if (status.ok()) status = entries->status();
  if (status.ok()) {
    status = builder.Finish();
  } else {
    builder.Abandon();
  }
  turn.End();  // what follows waits for the disk
  if (status.ok()) status = (*file)->Sync();
  if (status.ok()) status = (*file)->Close();
  if (status.ok()) status = files_->SyncDir(dir_);
  if (status.ok()) {
    const FileMeta meta(table->number, builder.flushed_bytes(), table->smallest, table->largest);
    const auto found = tables_.FindShared(meta);  // finds it readable
    if (!found) status = found.error();
  }
  if (!status.ok()) {
    (void)files_->RemoveFile(path);
    return status;
  }
  table->bytes = builder.flushed_bytes();
  event->keys = builder.entries();
  events_.Tell([path, bytes = table->bytes](EventListener* listener) {
    listener->OnTableCreated(path, bytes);
  });
  return {};
}

}  // namespace weft::lsm
