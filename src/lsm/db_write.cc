// The write path: let in, append to the log, add to the memtable, sync, publish.
//
// Only the log append is done one writer at a time. Writers add to the memtable side by side, and
// publish in the order of their sequence numbers, so that a reader sees a prefix of the writes.
#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "lsm/db_impl.h"
#include "lsm/limits.h"
#include "lsm/own_files.h"
#include "lsm/within_memory.h"
#include "lsm/write_batch_internal.h"

namespace weft::lsm {

namespace {

// An append takes a fraction of a microsecond, a trip through the kernel several: try for a while.
constexpr int kTriesBeforeWaiting = 20;
// A thread keeps the batch of its last Put, so that the next one allocates nothing; not a huge one.
constexpr size_t kBatchBytesKept = 64 << 10;

class WEFT_TSA(scoped_lockable) WriteLock {
 public:
  explicit WriteLock(base::Mutex* mutex) WEFT_ACQUIRE(mutex) : mutex_(mutex) { Take(); }
  ~WriteLock() WEFT_RELEASE() { mutex_->Unlock(); }
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;

 private:
  void Take() WEFT_NO_THREAD_SAFETY_ANALYSIS {
    for (int i = 0; i < kTriesBeforeWaiting; i++) {
      if (mutex_->TryLock()) return;
      std::this_thread::yield();
    }
    mutex_->Lock();
  }
  base::Mutex* const mutex_;
};

}  // namespace

Status DbImpl::Put(const WriteOptions& options, std::string_view key, std::string_view value) {
  thread_local WriteBatch batch;
  batch.Clear();
  batch.Put(key, value);
  Status status = Write(options, &batch);
  if (batch.ApproximateSize() > kBatchBytesKept) batch = WriteBatch();
  return status;
}

Status DbImpl::Delete(const WriteOptions& options, std::string_view key) {
  WriteBatch batch;
  batch.Delete(key);
  return Write(options, &batch);
}

Status DbImpl::Write(const WriteOptions& options, WriteBatch* batch) {
  if (batch == nullptr) return {Code::kInvalidArgument, "the batch is null"};
  if (read_only_) return {Code::kInvalidArgument, dir_ + " is open only for reading"};
  const uint32_t count = batch->Count();
  const size_t bytes = batch->ApproximateSize();
  // Lengths in it have 32 bits, so one that holds a longer key or value is longer, too.
  if (bytes > kChangesBytesMax)
    return {Code::kInvalidArgument, "a batch must be smaller than 4 GiB - 64 MiB"};
  if (const uint64_t us = throttle_.Admit(bytes); us > 0) {
    statistics_.Add(Statistics::kSlowdowns, 1);
    statistics_.Add(Statistics::kSlowdownUs, us);
  }

  table::SequenceNumber first;
  WriteAheadLog::Ticket ticket;
  MemTable* memtable;
  {
    WriteLock lock(&write_mutex_);
    if (Status status = MakeRoom(false); !status.ok()) return status;
    if (Status status = CheckNumbersLeft(count); !status.ok()) return status;
    first = assigned_ + 1;
    WriteBatchInternal::SetSequence(batch, first);
    const Status status = WithinMemory([&] { return log_.Append(batch->contents()); });
    if (!status.ok()) return FailWrites(status);
    assigned_ += count;
    active_bytes_ += bytes;
    ticket = log_.appended();
    memtable = active_.get();  // not flushed, so not freed, before what we add is published
  }
  Status status;
  if (count > 0) {
    status = WithinMemory([&] { return WriteBatchInternal::InsertInto(*batch, memtable); });
    // SetContents lets in nothing else.
    WEFT_CHECK(status.ok() || status.code() == Code::kIoError);
    if (!status.ok()) status = FailWrites(status);
  }
  if (options.sync && status.ok()) {
    bool synced = false;
    status = WithinMemory([&] { return log_.SyncUpTo(ticket, &synced); });
    if (synced) statistics_.Add(Statistics::kLogSyncs, 1);
    if (!status.ok()) status = FailWrites(status);
  }
  // Behind the sync: what is not known to be safe, and perhaps never will be, nobody sees.
  if (count > 0 && !Publish(first, first + count - 1, status.ok())) return BackgroundError();
  if (!status.ok()) return status;
  statistics_.Add(Statistics::kWrites, 1);
  statistics_.Add(Statistics::kKeysWritten, count);
  statistics_.Add(Statistics::kBytesWritten, bytes);
  return {};
}

// Only a store whose files were made up gets as far.
Status DbImpl::CheckNumbersLeft(uint64_t count) const {
  if (assigned_ < table::kSequenceMax - count) return {};
  return {Code::kNoMemory, dir_ + ": all sequence numbers are used up"};
}

// False where it is not shown: it failed (FailWrites was called), or one before it did.
bool DbImpl::Publish(table::SequenceNumber first, table::SequenceNumber last, bool succeeded) {
  WaitUntilPublished(first - 1);
  // Whose turn it is reads what its predecessor wrote: one that failed left a gap between the two.
  const bool shown = succeeded && visible_.load(std::memory_order_relaxed) == first - 1;
  // Pairs with the acquire of readers: what they see covers all entries up to `last`.
  if (shown) visible_.store(last, std::memory_order_release);
  // Pairs with the acquire in WaitUntilPublished.
  ended_.store(last, std::memory_order_release);
  ended_.notify_all();
  return shown;
}

// Where no write is under way.
void DbImpl::ShowUpTo(table::SequenceNumber last) {
  visible_.store(last, std::memory_order_release);  // as in Publish
  ended_.store(last, std::memory_order_release);
  ended_.notify_all();
}

void DbImpl::WaitUntilPublished(table::SequenceNumber last) const {
  for (int i = 0;; i++) {
    // Pairs with the release in Publish.
    const table::SequenceNumber seen = ended_.load(std::memory_order_acquire);
    if (seen >= last) return;
    if (i < kTriesBeforeWaiting) {
      std::this_thread::yield();
    } else {
      ended_.wait(seen, std::memory_order_acquire);
    }
  }
}

// Makes sure that the active memtable takes another write: as it is, or a new one in its place.
// `force`: a new one in any case. Waits while the background is too far behind.
Status DbImpl::MakeRoom(bool force) {
  if (writes_failed_.load(std::memory_order_acquire)) return BackgroundError();
  if (!force && std::max(active_->MemoryUsage(), active_bytes_) <= options_.write_buffer_size)
    return {};
  base::MutexLock lock(&mutex_);
  const uint64_t begin = base::NowNs();
  bool waited = false;
  bool stopped = false;
  while (background_error_.ok() && MustWaitLocked(&stopped)) {
    waited = true;
    flush_work_.NotifyOne();
    compact_work_.NotifyAll();
    room_.Wait(&mutex_);
  }
  if (waited) {
    statistics_.Add(Statistics::kStops, 1);
    statistics_.Add(Statistics::kStopUs, (base::NowNs() - begin) / 1000);
  }
  if (!background_error_.ok()) return background_error_;
  try {
    SwitchMemTableLocked();
  } catch (const std::bad_alloc&) {
    // What was written stays where it is read; where the next write would go nobody knows.
    FailWritesLocked(NoMemoryForAWrite());
  }
  return background_error_;
}

// True while no new memtable may be begun.
bool DbImpl::MustWaitLocked(bool* stopped) {
  if (spare_.file == nullptr) return true;  // on its way
  const int level0 = static_cast<int>(versions_->current()->level(0).size());
  const bool full = HasImmutablesEnoughLocked() || level0 >= options_.level0_stop_trigger;
  if (full && !*stopped) {
    *stopped = true;
    UpdateThrottleLocked();
  }
  return full;
}

// By their number, and by their bytes: each holds the write buffer and one batch, of any size.
bool DbImpl::HasImmutablesEnoughLocked() const {
  size_t bytes = 0;
  for (const Immutable& immutable : immutables_) bytes += immutable.table->MemoryUsage();
  return immutables_.size() >= kImmutableMax ||
         bytes > 2 * kImmutableMax * options_.write_buffer_size;
}

void DbImpl::SwitchMemTableLocked() {
  auto next = std::make_shared<MemTable>(comparator_, memtable_blocks_);  // may find no memory
  const uint64_t now = base::NowNs();
  const double seconds = static_cast<double>(now - active_since_ns_) * 1e-9;
  fill_rate_ = static_cast<double>(active_->MemoryUsage()) / std::max(seconds, 1e-6);
  active_since_ns_ = now;
  immutables_.push_back({active_, active_log_, assigned_});
  active_log_ = spare_.number;
  log_.Begin(std::move(spare_.file), spare_.number);
  spare_ = {};
  active_ = std::move(next);
  active_bytes_ = 0;
  InstallViewLocked();
  UpdateThrottleLocked();
  flush_work_.NotifyOne();
}

// The error that every write gets from now on.
Status DbImpl::FailWrites(const Status& status) {
  {
    base::MutexLock lock(&mutex_);
    FailWritesLocked(status);
  }
  return BackgroundError();
}

Status DbImpl::BackgroundError() {
  return WithinMemory([this] {
    base::MutexLock lock(&mutex_);
    return background_error_;
  });
}

void DbImpl::FailWritesLocked(const Status& why) {
  if (!background_error_.ok()) return;
  background_error_ = WithinMemory([&why] { return WriteError(why); });
  writes_failed_.store(true, std::memory_order_release);
  room_.NotifyAll();
  compact_done_.NotifyAll();
  try {
    const Status status = background_error_;
    Log("no more writes: " + status.ToString());
    events_.Tell([status](EventListener* listener) { listener->OnBackgroundError(status); });
  } catch (const std::bad_alloc&) {
    // Every write says it from now on.
  }
}

void DbImpl::UpdateThrottleLocked() {
  WriteLag lag;
  lag.level0_tables = static_cast<int>(versions_->current()->level(0).size());
  lag.level0_slowdown_trigger = options_.level0_slowdown_trigger;
  lag.level0_stop_trigger = options_.level0_stop_trigger;
  lag.immutable_memtables = static_cast<int>(immutables_.size());
  lag.immutable_memtables_max = kImmutableMax;
  lag.debt_bytes = picker_->targets().DebtBytes(*versions_->current());
  lag.store_bytes = versions_->current()->TotalBytes();
  lag.level1_bytes = picker_->targets().TargetBytes(1);
  const double pressure = WritePressure(lag);
  throttle_.Set(WriteRate(pressure, drain_rate_ > 0 ? drain_rate_ : fill_rate_));
  const bool full = HasImmutablesEnoughLocked() || lag.level0_tables >= lag.level0_stop_trigger;
  const WriteState state = full && active_->MemoryUsage() > options_.write_buffer_size
                               ? WriteState::kStopped
                           : pressure > 0 ? WriteState::kSlowed
                                          : WriteState::kFree;
  if (state == write_state_) return;
  write_state_ = state;
  events_.Tell([state](EventListener* listener) { listener->OnWriteState(state); });
}

}  // namespace weft::lsm
