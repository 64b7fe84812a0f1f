#include "lsm/write_ahead_log.h"

#include <utility>

#include "lsm/within_memory.h"

namespace weft::lsm {

void WriteAheadLog::Begin(std::unique_ptr<WritableFile> file, uint64_t number, uint64_t bytes) {
  auto writer = std::make_unique<LogWriter>(file.get(), bytes);
  std::shared_ptr<WritableFile> current = std::move(file);
  {
    base::MutexLock lock(&mutex_);
    unsynced_.push_back({current, number});
  }
  // Nothing changed where one of these found no memory.
  current_ = std::move(current);
  number_ = number;
  writer_ = std::move(writer);
  appended_.fetch_add(bytes, std::memory_order_release);  // as in Append
}

Status WriteAheadLog::Append(std::string_view record) {
  const Status status = WithinMemory([&] {
    Status added = writer_->AddRecord(record);
    return added.ok() ? current_->Flush() : added;
  });
  if (!status.ok()) {
    base::MutexLock lock(&mutex_);
    BreakLocked(status);
    return broken_;
  }
  // Pairs with the acquire in appended(): who reads this count finds the bytes in the file.
  appended_.fetch_add(record.size(), std::memory_order_release);
  return {};
}

void WriteAheadLog::BreakLocked(const Status& why) {
  if (broken_.ok()) broken_ = WithinMemory([&why] { return why; });
}

Status WriteAheadLog::SyncFiles(const std::deque<File>& files) {
  for (const File& each : files) {
    if (Status status = each.file->SyncFlushed(); !status.ok()) return status;
  }
  return {};
}

Status WriteAheadLog::SyncUpTo(Ticket ticket, bool* synced) {
  *synced = false;
  for (;;) {
    std::deque<File> files;  // may be the last to hold some of them: closed without the lock
    Ticket target;
    {
      base::MutexLock lock(&mutex_);
      while (syncing_ && broken_.ok() && synced_ < ticket) sync_ended_.Wait(&mutex_);
      // What is on disk stays there, whatever became of what came later.
      if (synced_ >= ticket) return {};
      if (!broken_.ok()) return broken_;
      files = unsynced_;
      syncing_ = true;
      target = appended();
    }
    const Status status = WithinMemory([&] { return SyncFiles(files); });
    *synced = true;
    base::MutexLock lock(&mutex_);
    syncing_ = false;
    if (status.ok()) {
      synced_ = target;
      // Files before the last were whole when the sync began, and now are safe.
      const uint64_t last = files.back().number;
      while (unsynced_.front().number < last) unsynced_.pop_front();
    } else {
      BreakLocked(status);
    }
    sync_ended_.NotifyAll();
  }
}

std::vector<std::shared_ptr<WritableFile>> WriteAheadLog::Forget(uint64_t number) {
  std::vector<std::shared_ptr<WritableFile>> gone;
  base::MutexLock lock(&mutex_);
  while (unsynced_.size() > 1 && unsynced_.front().number <= number) {
    gone.push_back(std::move(unsynced_.front().file));
    unsynced_.pop_front();
  }
  return gone;
}

Result<uint64_t> WriteAheadLog::Close() {
  bool synced;
  Status status = SyncUpTo(appended(), &synced);
  if (!status.ok()) return status;
  {
    base::MutexLock lock(&mutex_);
    if (!broken_.ok()) return broken_;  // an append: the file holds more than is known
  }
  const uint64_t bytes = writer_->offset();
  if (status = current_->Close(); !status.ok()) return status;
  return bytes;
}

}  // namespace weft::lsm
