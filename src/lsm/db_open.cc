// Opening: find the store, take its state from the manifest, replay its logs, begin a new log.
// Closing: stop the threads, sync the log, leave a mark of its length.
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/thread.h"
#include "compaction/device/executors.h"
#include "lsm/checked_options.h"
#include "lsm/close_mark.h"
#include "lsm/db_impl.h"
#include "lsm/file_names.h"
#include "lsm/foreign_store.h"
#include "lsm/log_replay.h"
#include "lsm/lost_current.h"
#include "lsm/lost_files.h"
#include "lsm/own_files.h"
#include "lsm/store_copy.h"
#include "lsm/within_memory.h"
#include "lsm/write_batch_internal.h"

namespace weft::lsm {

namespace {

table::TableFormat FormatOf(const DbOptions& options, const table::InternalComparator* comparator,
                            const FilterPolicy* filter) {
  table::TableFormat format;
  format.comparator = comparator;
  format.filter = filter;
  format.block_size = options.block_size;
  format.block_restart_interval = options.block_restart_interval;
  format.compression = options.compression;
  format.zstd_level = options.zstd_compression_level;
  return format;
}

table::TableReadOptions ReadOptionsOf(const DbOptions& options,
                                      const table::InternalComparator* comparator,
                                      const FilterPolicy* filter, table::ReadCounters* counters) {
  table::TableReadOptions read;
  read.order = comparator;
  read.filter = filter;
  read.cache = options.block_cache.get();
  read.verify = options.paranoid_checks;
  read.copies = options.copy_indexes;
  read.counters = counters;
  return read;
}

std::unique_ptr<const FilterPolicy> FilterOf(const DbOptions& options) {
  if (options.filter_policy == nullptr) return nullptr;
  return std::make_unique<const table::InternalFilterPolicy>(options.filter_policy);
}

Status DoesNotExist(FileSystem* files, const std::string& dir) {
  Status lost = CheckCurrentIsNotLost(files, dir);
  if (!lost.ok()) return lost;
  return {Code::kInvalidArgument, dir + ": does not exist (create_if_missing is false)"};
}

// Keeps a file of the store in `lost`, for who wants to look into it: in the store's folder it
// goes, or may go. Numbers from `number` on are free.
Status KeepInLost(FileSystem* files, const std::string& dir, const std::string& name,
                  uint64_t number) {
  LostFiles lost(files, dir);
  std::string kept;
  Status status = lost.Count(&number);
  if (status.ok()) status = lost.Keep(name, &number, &kept);
  return status.ok() ? lost.Sync() : status;
}

// Of opening for reading, beside somebody who writes.
constexpr int kReadOnlyTriesMax = 100;
constexpr std::chrono::milliseconds kReadOnlyPause{1};

// Those of two memtables: where a flush was late, both that waited are given back while the next
// one fills, and the one behind it must not find too few.
size_t BlocksKeptFor(const DbOptions& options) {
  return 2 * (options.write_buffer_size / BlockPool::kBlockBytes + 1);
}

}  // namespace

DbImpl::DbImpl(const DbOptions& options, const std::string& dir, bool read_only,
               std::unique_ptr<compaction::Executor> executor)
    : options_(options),
      dir_(dir),
      read_only_(read_only),
      charges_seeks_(options.seek_compaction && !read_only),
      files_(options.file_system),
      comparator_(options.comparator),
      filter_(FilterOf(options)),
      format_(FormatOf(options, &comparator_, filter_.get())),
      executor_(std::move(executor)),
      rate_limiter_(options.background_bytes_per_second),
      flush_first_(options.background_threads,
                   static_cast<int>(std::thread::hardware_concurrency()),
                   options.background_bytes_per_second > 0),
      events_(options.listeners),
      memtable_blocks_(std::make_shared<BlockPool>(BlocksKeptFor(options))),
      active_(std::make_shared<MemTable>(comparator_, memtable_blocks_)),
      tables_(files_, dir_,
              ReadOptionsOf(options_, &comparator_, filter_.get(), statistics_.reads()),
              options.max_open_files, read_only) {
  (void)NoMemoryForAWrite();  // made while there is some
}

DbImpl::~DbImpl() { Close(); }

Result<std::unique_ptr<DbImpl>> DbImpl::Open(const DbOptions& options, const std::string& dir,
                                             bool read_only) {
  Result<DbOptions> checked = CheckedOptions(options);
  if (!checked) return checked.error();
  std::string found_before;
  for (int tries = 1;; tries++) {
    // The constructor is private. Owned at once.
    Result<std::unique_ptr<compaction::Executor>> executor =
        compaction::device::NewExecutorOn(read_only ? "cpu" : checked->compaction_device);
    if (!executor) return executor.error();
    std::unique_ptr<DbImpl> db(new DbImpl(*checked, dir, read_only, std::move(*executor)));
    Status status = db->events_.Start();
    if (status.ok()) status = db->OpenFiles();
    if (!status.ok()) db->Log("open failed: " + status.ToString());
    std::string found = read_only ? db->Found(status) : "";
    if (found.empty() || found == found_before || tries == kReadOnlyTriesMax) {
      if (status.ok()) db->NoteDamage();
      if (status.ok() && !read_only) status = db->StartThreads();
      if (!status.ok()) return status;
      return db;
    }
    found_before = std::move(found);
    std::this_thread::sleep_for(kReadOnlyPause);
  }
}

// What an opening for reading found that somebody who writes to the store meanwhile may have made
// it see: files that went since they were named, a record that was half written when it was read,
// the end of one log before that of the next. It is true where the next try finds the same, in
// files that are the same. Empty: nothing of the kind.
std::string DbImpl::Found(const Status& status) const {
  if (!status.ok() && status.code() != Code::kCorruption && !file_went_) return "";
  std::string found(status.message());
  for (const LogReplay::Damage& damage : damages_) found += damage.what.ToString() + "; ";
  return found.empty() ? found : found + Shape();
}

// Names of the files, and the manifest's length.
std::string DbImpl::Shape() const {
  std::vector<std::string> names;
  if (!files_->GetChildren(dir_, &names).ok()) return "";
  std::ranges::sort(names);
  std::string shape;
  for (const std::string& name : names) {
    shape += name + "\n";
    if (!name.starts_with("MANIFEST")) continue;
    auto bytes = files_->GetFileSize(dir_ + "/" + name);
    if (bytes) shape += std::to_string(*bytes) + "\n";
  }
  return shape;
}

Status DbImpl::OpenFiles() {
  if (Status status = CheckIsNotRocksDb(files_, dir_); !status.ok()) return status;
  if (!read_only_) {
    // Whether the store is there is decided by the file CURRENT: a program's files may know no
    // folders.
    const bool missing = !files_->FileExists(CurrentFileName(dir_));
    if (missing && !options_.create_if_missing) return DoesNotExist(files_, dir_);
    if (Status status = files_->CreateDir(dir_); !status.ok()) return status;
    // Also where the folder is there: an opening that failed may have left its name unsynced.
    if (missing) {
      if (Status status = files_->SyncDir(ParentOf(dir_)); !status.ok()) return status;
    }
    Result<std::unique_ptr<FileLock>> lock = files_->LockFile(LockFileName(dir_));
    if (!lock) return lock.error();
    lock_ = std::move(*lock);
  }
  OpenInfoLog();
  base::MutexLock write_lock(&write_mutex_);
  base::MutexLock lock(&mutex_);
  versions_ = std::make_unique<VersionSet>(options_, dir_, &comparator_, &tables_, &mutex_,
                                           info_log_.get());
  Status status = OpenStoreLocked();
  file_went_ = status.code() == Code::kNotFound;
  if (!status.ok()) return OwnFileError(status);
  InstallViewLocked();
  if (!read_only_) {
    RemoveObsoleteFilesLocked();
    UpdateThrottleLocked();
  }
  opened_ = true;
  return {};
}

Status DbImpl::OpenStoreLocked() {
  if (!files_->FileExists(CurrentFileName(dir_))) {
    if (!options_.create_if_missing || read_only_) {
      return DoesNotExist(files_, dir_);
    }
    if (Status status = CheckCurrentIsNotLost(files_, dir_); !status.ok()) return status;
    const std::string mark = CloseMarkFileName(dir_);  // of a store that was here
    if (files_->FileExists(mark)) (void)files_->RemoveFile(mark);
    if (Status status = versions_->CreateNew(); !status.ok()) return status;
  } else if (options_.error_if_exists) {
    return {Code::kInvalidArgument, dir_ + ": exists (error_if_exists is true)"};
  }
  if (Status status = versions_->Recover(); !status.ok()) return status;
  if (Status status = KeepUnnamedTablesLocked(); !status.ok()) return status;
  picker_ = std::make_unique<CompactionPicker>(options_, versions_->compact_pointers());

  std::vector<uint64_t> logs;
  if (Status status = FindLogsLocked(&logs); !status.ok()) return status;
  LogReplay replay(files_, dir_, LogDamageRule(), versions_->last_sequence());
  replay.SetMark(versions_->close_mark());
  VersionEdit edit;
  // The mutex is held, as it is here.
  const auto apply = [&](std::string_view contents) WEFT_NO_THREAD_SAFETY_ANALYSIS {
    return ReplayBatchLocked(contents, &edit);
  };
  Status status = replay.Run(logs, apply);
  if (!status.ok()) {
    UndoReplay(replay, edit);
    return status;
  }
  damages_ = replay.damages();
  assigned_ = std::max(versions_->last_sequence(), replay.last_sequence());
  ShowUpTo(assigned_);
  if (read_only_) return {};
  for (const uint64_t log : replay.logs_with_losses()) {
    if (Status kept = KeepLog(log); !kept.ok()) return kept;
  }
  // Of several logs none is gone on with: a sync would have to cover those before it, too.
  const bool reuse = options_.reuse_logs && logs.size() == 1 && edit.new_files.empty() &&
                     replay.logs_with_losses().empty() && replay.whole_bytes_of_last();
  if (reuse && ReuseLog(logs.back(), *replay.whole_bytes_of_last())) {
    return versions_->needs_new_manifest() ? versions_->LogAndApply(&edit, &mutex_) : Status();
  }
  return BeginLogLocked(&edit);
}

LogDamage DbImpl::LogDamageRule() const {
  if (options_.paranoid_checks || !options_.ignore_damaged_logs) return LogDamage::kRefuse;
  return read_only_ ? LogDamage::kPassOverEven : LogDamage::kPassOver;
}

Status DbImpl::KeepLog(uint64_t number) {
  return KeepInLost(files_, dir_, LogFileName("", number).substr(1), versions_->next_file_number());
}

// The store does not open: what is damaged is kept for who wants to look into it, whatever is tried
// next, and tables that were made of the logs before go.
void DbImpl::UndoReplay(const LogReplay& replay, const VersionEdit& edit) {
  if (read_only_) return;
  for (const uint64_t log : replay.logs_with_losses()) {
    if (!files_->FileExists(LogFileName(dir_, log))) continue;
    Status kept = KeepLog(log);
    if (!kept.ok()) Log("could not keep a damaged log: " + kept.ToString());
  }
  for (const NewFile& table : edit.new_files) {
    (void)files_->RemoveFile(TableFileName(dir_, table.number));
  }
}

// The edit that was lost with a manifest's end may have brought tables whose entries are in no log.
// Mostly it was never acknowledged, and they are a compaction's; nobody can tell.
Status DbImpl::KeepUnnamedTablesLocked() {
  if (read_only_ || !versions_->manifest_was_torn()) return {};
  std::vector<std::string> names;
  if (Status status = files_->GetChildren(dir_, &names); !status.ok()) return status;
  for (const std::string& name : versions_->ObsoleteFiles(names)) {
    ParsedFileName parsed;
    if (!ParseFileName(name, &parsed) || parsed.type != FileType::kTable) continue;
    Status status = KeepInLost(files_, dir_, name, versions_->next_file_number());
    if (!status.ok()) return status;
    Log(name + " is kept in lost/: the manifest's torn end may have named it");
  }
  return {};
}

// All logs that tables do not hold yet, in order.
Status DbImpl::FindLogsLocked(std::vector<uint64_t>* logs) {
  std::vector<std::string> names;
  if (Status status = files_->GetChildren(dir_, &names); !status.ok()) return status;
  const uint64_t previous = versions_->prev_log_number();  // 0: there is none
  for (const std::string& name : names) {
    ParsedFileName parsed;
    if (!ParseFileName(name, &parsed)) continue;
    const bool counts =
        versions_->CountName(parsed.number) || parsed.number == versions_->log_number();
    if (counts && parsed.type == FileType::kLog &&
        (parsed.number >= versions_->log_number() ||
         (previous != 0 && parsed.number == previous))) {
      logs->push_back(parsed.number);
    }
  }
  std::ranges::sort(*logs);
  // Whoever writes to a store that is open for reading flushes, and deletes what was flushed.
  const uint64_t first = versions_->log_number();
  if (read_only_ && first != 0 && (logs->empty() || logs->front() > first)) {
    return {Code::kCorruption, LogFileName(dir_, first) + ", which the manifest names, is missing"};
  }
  return {};
}

Status DbImpl::ReplayBatchLocked(std::string_view contents, VersionEdit* edit) {
  if (Status status = WriteBatchInternal::InsertInto(contents, active_.get()); !status.ok()) {
    return status;
  }
  if (read_only_ || active_->MemoryUsage() <= options_.write_buffer_size) return {};
  return FlushReplayedLocked(edit);
}

Status DbImpl::FlushReplayedLocked(VersionEdit* edit) {
  FlushEvent event;
  Status status = FlushToTableLocked(*active_, 0, edit, &event);
  if (status.ok()) active_ = std::make_shared<MemTable>(comparator_, memtable_blocks_);
  return status;
}

void DbImpl::NoteDamage() {
  for (const LogReplay::Damage& damage : damages_) {
    Log("skipped " + std::to_string(damage.bytes) + " bytes: " + damage.what.ToString());
    events_.Tell([damage](EventListener* listener) {
      listener->OnDamage(damage.file, damage.bytes, damage.what);
    });
  }
}

// Goes on in the last log; false where that cannot be: a new one is begun then.
bool DbImpl::ReuseLog(uint64_t number, uint64_t whole_bytes) {
  const std::string path = LogFileName(dir_, number);
  if (!files_->Truncate(path, whole_bytes).ok()) return false;
  auto file = files_->NewAppendableFile(path, FileUse::kLog);
  if (!file) return false;
  active_log_ = number;
  log_.Begin(std::move(*file), number, whole_bytes);
  return true;
}

// What was replayed becomes a table, and the store goes on with a new log.
Status DbImpl::BeginLogLocked(VersionEdit* edit) {
  if (active_->entries() > 0) {
    if (Status status = FlushReplayedLocked(edit); !status.ok()) return status;
  }
  const uint64_t number = versions_->NewFileNumber();
  auto file = files_->NewWritableFile(LogFileName(dir_, number), FileUse::kLog);
  if (!file) return file.error();
  if (Status status = files_->SyncDir(dir_); !status.ok()) return status;
  active_log_ = number;
  log_.Begin(std::move(*file), number);
  edit->log_number = number;
  edit->prev_log_number = 0;
  edit->last_sequence = assigned_;  // all in tables
  return versions_->LogAndApply(edit, &mutex_);
}

Status DbImpl::StartThreads() {
  {
    base::MutexLock lock(&mutex_);
    active_since_ns_ = base::NowNs();
  }
  for (int i = 0; i <= options_.background_threads; i++) {
    Result<std::thread> thread =
        base::StartThread([this, i] { i == 0 ? FlushThread() : CompactionThread(); });
    if (!thread) return thread.error();
    threads_.push_back(std::move(*thread));
  }
  return {};
}

void DbImpl::StopThreads() {
  {
    base::MutexLock lock(&mutex_);
    stopping_.store(true, std::memory_order_relaxed);
    rate_limiter_.SetRate(0);  // nobody waits for it any more
    flush_work_.NotifyAll();
    compact_work_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void DbImpl::Close() {
  StopThreads();
  bool healthy;
  {
    // A listener that is still to be told may use the store, but nobody would make room for it.
    base::MutexLock lock(&mutex_);
    healthy = background_error_.ok();
    if (healthy) background_error_ = Status(Code::kRetryLater, dir_ + " is being closed");
    writes_failed_.store(true, std::memory_order_release);
    room_.NotifyAll();
    compact_done_.NotifyAll();
  }
  events_.Finish();
  if (read_only_ || !opened_) return;
  base::MutexLock lock(&mutex_);
  if (spare_.file != nullptr) {
    (void)spare_.file->Close();
    (void)files_->RemoveFile(LogFileName(dir_, spare_.number));
  }
  if (!healthy) return;
  if (Status status = LeaveMarkLocked(); !status.ok()) Log("closing: " + status.ToString());
}

Status DbImpl::LeaveMarkLocked() {
  Result<uint64_t> bytes = log_.Close();
  if (!bytes) return bytes.error();
  CloseMark mark{active_log_, *bytes, HeadOfLog(files_, dir_, active_log_)};
  return versions_->DescribeManifest(&mark) ? mark.Write(files_, dir_) : Status();
}

}  // namespace weft::lsm
