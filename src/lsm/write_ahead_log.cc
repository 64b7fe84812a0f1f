#include "lsm/write_ahead_log.h"

#include <utility>

namespace weft::lsm {

void WriteAheadLog::Begin(std::unique_ptr<WritableFile> file, uint64_t number, uint64_t bytes) {
  current_ = std::move(file);
  number_ = number;
  writer_ = std::make_unique<LogWriter>(current_.get(), bytes);
  base::MutexLock lock(&mutex_);
  unsynced_.push_back({current_, number});
  appended_.fetch_add(bytes, std::memory_order_release);  // as in Append
}

Status WriteAheadLog::Append(std::string_view record) {
  Status status = writer_->AddRecord(record);
  if (status.ok()) status = current_->Flush();
  if (!status.ok()) {
    base::MutexLock lock(&mutex_);
    if (broken_.ok()) broken_ = status;
    return status;
  }
  // Pairs with the acquire in appended(): who reads this count finds the bytes in the file.
  appended_.fetch_add(record.size(), std::memory_order_release);
  return status;
}

Status WriteAheadLog::SyncFiles(const std::deque<File>& files) {
  for (const File& each : files) {
    if (Status status = each.file->SyncFlushed(); !status.ok()) return status;
  }
  return {};
}

Status WriteAheadLog::SyncUpTo(Ticket ticket, bool* synced) {
  *synced = false;
  std::deque<File> files;  // may be the last to hold some of them: closed without the lock
  mutex_.Lock();
  while (broken_.ok() && synced_ < ticket) {
    if (syncing_) {
      sync_ended_.Wait(&mutex_);
      continue;
    }
    syncing_ = true;
    const Ticket target = appended();
    std::deque<File> before = std::exchange(files, unsynced_);
    mutex_.Unlock();
    before.clear();
    Status status = SyncFiles(files);
    *synced = true;
    mutex_.Lock();
    syncing_ = false;
    if (status.ok()) {
      synced_ = target;
      // Files before the last were whole when the sync began, and now are safe.
      const uint64_t last = files.back().number;
      while (unsynced_.front().number < last) unsynced_.pop_front();
    } else if (broken_.ok()) {
      broken_ = status;
    }
    sync_ended_.NotifyAll();
  }
  // What is on disk stays there, whatever became of what came later.
  Status status = synced_ >= ticket ? Status() : broken_;
  mutex_.Unlock();
  return status;
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
