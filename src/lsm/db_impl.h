// lsm/db_impl.h: the durable store itself: it keeps the promises of weft/db.h with its parts.
//
// One concern a file: db_open.cc (open, recovery, close); db_write.cc (the write path and making
// room); db_flush.cc and db_compact.cc (the background threads); db_read.cc (Get, MultiGet,
// iterators, snapshots); db_manual.cc (Flush, CompactRange); db_copy.cc (Checkpoint, Ingest);
// db_properties.cc (texts, sizes, statistics); db_files.cc (which files may go).
// docs/life-of-a-write.md leads through them.
//
// Threads   the calls of Db: any. One thread flushes, options.background_threads compact.
// Locks     write_mutex_ before mutex_. write_mutex_ orders writers, for the time of a log append;
//           mutex_ guards versions, memtable lists and background work. Reads take none.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/rate_limiter.h"
#include "compaction/job.h"
#include "lsm/compaction_picker.h"
#include "lsm/event_queue.h"
#include "lsm/flush_first.h"
#include "lsm/log_replay.h"
#include "lsm/lookup_key.h"
#include "lsm/memtable.h"
#include "lsm/patient_files.h"
#include "lsm/read_view.h"
#include "lsm/snapshot_list.h"
#include "lsm/statistics.h"
#include "lsm/version_set.h"
#include "lsm/write_ahead_log.h"
#include "lsm/write_throttle.h"
#include "weft/db.h"

namespace weft::lsm {

struct ForeignTable;

class DbImpl final : public Db {
 public:
  // Opens the store or says why not; nothing runs before it returns ok.
  static Result<std::unique_ptr<DbImpl>> Open(const DbOptions& options, const std::string& dir,
                                              bool read_only);
  ~DbImpl() override;

  Status Put(const WriteOptions& options, std::string_view key, std::string_view value) override;
  Status Delete(const WriteOptions& options, std::string_view key) override;
  Status Write(const WriteOptions& options, WriteBatch* batch) override;
  Status Get(const ReadOptions& options, std::string_view key, std::string* value) override;
  void MultiGet(const ReadOptions& options, std::span<DbLookup> lookups) override;
  std::unique_ptr<Iterator> NewIterator(const ReadOptions& options) override;
  const Snapshot* GetSnapshot() override;
  void ReleaseSnapshot(const Snapshot* snapshot) override;
  bool GetProperty(std::string_view name, std::string* value) override;
  DbStatistics Statistics() const override;
  void GetApproximateSizes(std::span<const KeyRange> ranges, std::span<uint64_t> bytes) override;
  using Db::CompactRange;
  Status CompactRange(const CompactRangeOptions& options, const std::string_view* begin,
                      const std::string_view* end) override;
  Status Flush() override;
  Status Checkpoint(const std::string& dir) override;
  Status Ingest(std::span<const std::string> paths, bool move) override;

 private:
  // Memtables that wait for their flush. Together with the active one, they bound the store's
  // memory. Fewer if a batch was larger than a memtable should be.
  static constexpr size_t kImmutableMax = 2;
  // Compactions in a row that fail with an I/O error before the store gives up writing.
  static constexpr int kCompactionFailuresMax = 5;
  // How long writers stand at level 0 while compactions find no descriptors; then the same.
  static constexpr uint64_t kWantNsMax = 5'000'000'000;

  struct Immutable {
    std::shared_ptr<MemTable> table;
    uint64_t log_number;         // the log that holds it
    table::SequenceNumber last;  // newest entry
  };
  struct SpareLog {
    std::unique_ptr<WritableFile> file;
    uint64_t number = 0;
  };
  // A CompactRange in progress, worked off by the compaction threads.
  struct ManualCompaction;
  // One compaction from pick to install.
  struct RunningCompaction;
  // A part of a split job, run by whichever compaction thread is free.
  struct JobPart;

  DbImpl(const DbOptions& options, const std::string& dir, bool read_only,
         std::unique_ptr<compaction::Executor> executor);

  // db_open.cc
  Status OpenFiles();
  Status OpenStoreLocked() WEFT_REQUIRES(write_mutex_, mutex_);
  Status FindLogsLocked(std::vector<uint64_t>* logs) WEFT_REQUIRES(mutex_);
  LogDamage LogDamageRule() const;
  Status KeepLog(uint64_t number);
  void UndoReplay(const LogReplay& replay, const VersionEdit& edit);
  Status KeepUnnamedTablesLocked() WEFT_REQUIRES(mutex_);
  Status ReplayBatchLocked(std::string_view contents, VersionEdit* edit) WEFT_REQUIRES(mutex_);
  Status FlushReplayedLocked(VersionEdit* edit) WEFT_REQUIRES(mutex_);
  void NoteDamage();
  std::string Found(const Status& status) const;
  std::string Shape() const;
  bool ReuseLog(uint64_t number, uint64_t whole_bytes) WEFT_REQUIRES(mutex_);
  Status BeginLogLocked(VersionEdit* edit) WEFT_REQUIRES(write_mutex_, mutex_);
  Status StartThreads();
  void StopThreads();
  void Close();
  Status LeaveMarkLocked() WEFT_REQUIRES(mutex_);

  // db_write.cc
  Status MakeRoom(bool force) WEFT_REQUIRES(write_mutex_) WEFT_EXCLUDES(mutex_);
  bool MustWaitLocked(bool* stopped) WEFT_REQUIRES(mutex_);
  bool HasImmutablesEnoughLocked() const WEFT_REQUIRES(mutex_);
  Status CheckNumbersLeft(uint64_t count) const WEFT_REQUIRES(write_mutex_);
  void SwitchMemTableLocked() WEFT_REQUIRES(write_mutex_, mutex_);
  bool Publish(table::SequenceNumber first, table::SequenceNumber last, bool succeeded);
  void ShowUpTo(table::SequenceNumber last);
  void WaitUntilPublished(table::SequenceNumber last) const;
  Status FailWrites(const Status& status) WEFT_EXCLUDES(mutex_);
  Status BackgroundError() WEFT_EXCLUDES(mutex_);
  void FailWritesLocked(const Status& status) WEFT_REQUIRES(mutex_);
  void UpdateThrottleLocked() WEFT_REQUIRES(mutex_);

  // db_flush.cc
  void FlushThread();
  void MakeSpareLogLocked() WEFT_REQUIRES(mutex_);
  void FlushOldestLocked() WEFT_REQUIRES(mutex_);
  void NoteFlushFailureLocked(const Status& status) WEFT_REQUIRES(mutex_);
  Status FlushToTableLocked(const MemTable& memtable, int deepest_level, VersionEdit* edit,
                            FlushEvent* event) WEFT_REQUIRES(mutex_);
  Status WriteTable(const MemTable& memtable, NewFile* table, FlushEvent* event)
      WEFT_EXCLUDES(mutex_);
  void NoteFlushLocked(const FlushEvent& event) WEFT_REQUIRES(mutex_);

  // db_compact.cc
  void CompactionThread();
  void WaitForCompactionLocked() WEFT_REQUIRES(mutex_);
  std::unique_ptr<RunningCompaction> PickLocked() WEFT_REQUIRES(mutex_);
  std::unique_ptr<RunningCompaction> PickAutomaticLocked() WEFT_REQUIRES(mutex_);
  std::unique_ptr<RunningCompaction> PickManualLocked() WEFT_REQUIRES(mutex_);
  void RunCompactionLocked(RunningCompaction* running) WEFT_REQUIRES(mutex_);
  Status MergeLocked(RunningCompaction* running, VersionEdit* edit) WEFT_REQUIRES(mutex_);
  void RunPartsLocked(RunningCompaction* running) WEFT_REQUIRES(mutex_);
  bool RunWaitingPartLocked() WEFT_REQUIRES(mutex_);
  void RunPartLocked(JobPart* part) WEFT_REQUIRES(mutex_);
  compaction::JobHost HostOf();
  Status TakeResultsLocked(RunningCompaction* running, VersionEdit* edit) WEFT_REQUIRES(mutex_);
  void FinishManualLocked(RunningCompaction* running) WEFT_REQUIRES(mutex_);
  void NoteCompactionLocked(const RunningCompaction& running) WEFT_REQUIRES(mutex_);
  void NoteFailureLocked(const Status& status) WEFT_REQUIRES(mutex_);

  // db_manual.cc
  Status RunManual(ManualCompaction* manual) WEFT_EXCLUDES(mutex_);

  // db_copy.cc
  Status RemoveUnfinished(const std::string& dir);
  Status FlushAllLocked() WEFT_REQUIRES(write_mutex_) WEFT_EXCLUDES(mutex_);
  Status IngestOpened(std::span<const ForeignTable> tables) noexcept
      WEFT_EXCLUDES(write_mutex_, mutex_);
  Status TakeTable(const std::string& path, const table::Table& source, const std::string& smallest,
                   const std::string& largest, table::SequenceNumber sequence, VersionEdit* edit)
      WEFT_EXCLUDES(mutex_);
  bool LiesApart(const Version& version, const VersionEdit& edit, const std::string& smallest,
                 const std::string& largest) const;
  Status WriteAnew(const table::Table& source, const std::string& to,
                   table::SequenceNumber sequence, uint64_t* bytes);
  void PlaceIngestedLocked(VersionEdit* edit) WEFT_REQUIRES(mutex_);

  // db_files.cc
  void RemoveObsoleteFilesLocked() WEFT_REQUIRES(mutex_);
  void OpenInfoLog();
  void Log(const std::string& line) const;

  // db_properties.cc
  bool FilesAtLevel(std::string_view digits, std::string* value) const;
  std::string LevelTable() const;
  uint64_t MemTableBytes() const;

  // db_read.cc
  table::SequenceNumber SequenceOf(const ReadOptions& options) const;
  void GetGroup(const ReadOptions& options, const ReadView& view, table::SequenceNumber sequence,
                std::span<DbLookup> lookups, bool is_first, ValueBudget* budget);
  void InstallViewLocked() WEFT_REQUIRES(mutex_);
  void WakeCompaction() WEFT_EXCLUDES(mutex_);
  table::SequenceNumber OldestSnapshotLocked() const WEFT_REQUIRES(mutex_);

  // Constant after construction.
  const DbOptions options_;  // checked, and filled in
  const std::string dir_;
  const bool read_only_;
  const bool charges_seeks_;  // lookups count the tables they pass through in vain
  FileSystem* const files_;
  const table::InternalComparator comparator_;
  const std::unique_ptr<const FilterPolicy> filter_;  // null: none
  const table::TableFormat format_;
  std::shared_ptr<Logger> info_log_;
  std::unique_ptr<FileLock> lock_;
  const std::unique_ptr<compaction::Executor> executor_;

  // Provide their own synchronization.
  mutable lsm::Statistics statistics_;
  WriteThrottle throttle_;
  base::RateLimiter rate_limiter_;
  FlushFirst flush_first_;
  ReadViews views_;
  EventQueue events_;
  WriteAheadLog log_;
  std::atomic<bool> stopping_{false};
  // The compactions' files.
  PatientFiles job_files_{options_.compaction_direct_io ? files_->Direct() : files_, &stopping_};
  // Every write up to this one has succeeded, and is in its memtable: reads may see it. Raised by
  // Publish.
  std::atomic<table::SequenceNumber> visible_{0};
  // Every write up to this one has ended, one way or the other. Those above visible_ failed, or
  // came behind one that failed.
  std::atomic<table::SequenceNumber> ended_{0};

  const std::shared_ptr<BlockPool> memtable_blocks_;

  base::Mutex write_mutex_;
  table::SequenceNumber assigned_ WEFT_GUARDED_BY(write_mutex_) = 0;
  // Bytes of the batches that go to the active memtable, including those still being added to it.
  size_t active_bytes_ WEFT_GUARDED_BY(write_mutex_) = 0;
  // Changed with both mutexes held, read with either.
  std::shared_ptr<MemTable> active_;
  std::atomic<bool> writes_failed_{false};  // background_error_ is set

  base::Mutex checkpoint_mutex_;  // one Checkpoint at a time, with its I/O; before all others

  mutable base::Mutex mutex_;
  base::CondVar room_;          // writers and Flush wait for a flush, a compaction, or an error;
  base::CondVar flush_work_;    // the flush thread waits
  base::CondVar compact_work_;  // the compaction threads wait
  base::CondVar compact_done_;  // CompactRange, split jobs and the destructor wait
  TableCache tables_;           // provides its own synchronization
  std::unique_ptr<VersionSet> versions_;  // guarded by mutex_, except its numbers
  std::unique_ptr<CompactionPicker> picker_ WEFT_GUARDED_BY(mutex_);
  std::deque<Immutable> immutables_ WEFT_GUARDED_BY(mutex_);  // oldest first
  SpareLog spare_ WEFT_GUARDED_BY(mutex_);
  uint64_t active_log_ WEFT_GUARDED_BY(mutex_) = 0;  // the number of the active memtable's log
  // A flushed table is on its way below level 0: nothing may be picked that could overlap it.
  bool placing_deep_ WEFT_GUARDED_BY(mutex_) = false;
  // Tables are being ingested: no snapshot that would see them may be made before they are there.
  bool ingesting_ WEFT_GUARDED_BY(mutex_) = false;
  SnapshotList snapshots_ WEFT_GUARDED_BY(mutex_);
  Status background_error_ WEFT_GUARDED_BY(mutex_);
  std::deque<ManualCompaction*> manual_ WEFT_GUARDED_BY(mutex_);
  bool manual_waited_ WEFT_GUARDED_BY(mutex_) = false;  // for the last pick: now it is its turn
  uint64_t compactions_begun_ WEFT_GUARDED_BY(mutex_) = 0;
  std::set<uint64_t> compactions_running_ WEFT_GUARDED_BY(mutex_);  // by their number, from 0
  std::deque<JobPart*> waiting_parts_ WEFT_GUARDED_BY(mutex_);
  int threads_idle_ WEFT_GUARDED_BY(mutex_) = 0;   // of the compacting ones
  int flush_retries_ WEFT_GUARDED_BY(mutex_) = 0;  // in a row
  int compaction_failures_in_row_ WEFT_GUARDED_BY(mutex_) = 0;
  // The first time in a row that a compaction found no descriptor while writers stood; or 0.
  uint64_t want_since_ns_ WEFT_GUARDED_BY(mutex_) = 0;
  uint64_t retry_compaction_at_ns_ WEFT_GUARDED_BY(mutex_) = 0;
  struct LevelStatistics {
    uint64_t us = 0;
    uint64_t bytes_read = 0;
    uint64_t bytes_written = 0;
  };
  std::array<LevelStatistics, kLevels> level_statistics_ WEFT_GUARDED_BY(mutex_);
  uint64_t level0_drained_at_ns_ WEFT_GUARDED_BY(mutex_) = 0;
  double drain_rate_ WEFT_GUARDED_BY(mutex_) = 0;  // bytes/s that leave level 0, smoothed
  double fill_rate_ WEFT_GUARDED_BY(mutex_) = 0;   // bytes/s at which the last memtable was filled
  uint64_t active_since_ns_ WEFT_GUARDED_BY(mutex_) = 0;
  WriteState write_state_ WEFT_GUARDED_BY(mutex_) = WriteState::kFree;

  std::vector<LogReplay::Damage> damages_;  // those that the opening passed over
  bool file_went_ = false;                  // a file that the opening had found is gone
  bool opened_ = false;                     // set once, before any other thread
  std::vector<std::thread> threads_;
};

}  // namespace weft::lsm
