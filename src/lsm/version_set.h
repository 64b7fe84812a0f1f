// lsm/version_set.h: the current version, how it changes, and the manifest that records it.
//
// Every change of the set of tables is one edit. LogAndApply writes it to the manifest, waits until
// it survives a power cut, and only then installs the version that it makes. Recover reads the
// manifest back.
//
// After an edit that failed half way nobody knows whether the manifest has it. The store goes on
// with the version from before the edit, and the next edit writes a fresh manifest with everything
// in it. Until that is in place, no file of either state may be deleted (may_delete_files).
//
// Threads   every call holds the store's mutex, unless it says "any thread". LogAndApply lets go of
//           it while it writes; several at once take turns.
// Files     writes MANIFEST-*, *.dbtmp, CURRENT; deletes only manifests that CURRENT never named.
// Errors    kCorruption names the file.
// Source    LevelDB's version set; docs/formats/manifest.md marks the checks that are ours.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "lsm/close_mark.h"
#include "lsm/file_names.h"
#include "lsm/limits.h"
#include "lsm/manifest.h"
#include "lsm/table_cache.h"
#include "lsm/version.h"
#include "lsm/version_edit.h"
#include "weft/db_options.h"
#include "weft/file_system.h"
#include "weft/logger.h"
#include "weft/status.h"

namespace weft::lsm {

// Where the next compaction of each level begins: behind this internal key; empty: at the first.
using CompactPointers = std::array<std::string, kLevels>;

class VersionSet {
 public:
  // All must outlive it; `options` are checked already. `logger` may be null.
  VersionSet(const DbOptions& options, std::string dir, const table::InternalComparator* comparator,
             TableCache* tables, base::Mutex* mutex, Logger* logger);
  ~VersionSet();
  VersionSet(const VersionSet&) = delete;
  VersionSet& operator=(const VersionSet&) = delete;

  // --- Opening; once, before anything else ---

  // Writes the first manifest of an empty store, and CURRENT. Call Recover then.
  Status CreateNew();
  // Takes the manifest's state. Changes no file. kNotFound: there is no CURRENT. kInvalidArgument:
  // another comparator's. kCorruption: the manifest is damaged (except for a torn last record), or
  // lacks what it held when the store was closed; names a missing table, or lets tables overlap; or
  // says that writes went to a log that does not exist (then its own end is lost).
  Status Recover();
  // The next edit begins a new manifest instead of going on with the one read. False with
  // reuse_logs, if that one is whole and not long.
  bool needs_new_manifest() const;
  // The manifest ended torn: an edit may have been lost with its end.
  bool manifest_was_torn() const { return manifest_was_torn_; }
  // How the store was left when it was closed; none if that is unknown.
  const std::optional<CloseMark>& close_mark() const { return close_mark_; }

  // --- Changing ---

  // Adds to *edit what every record has (log and file numbers, last sequence) and carries it out.
  // Without a log number or last sequence, or with a lower one, the current one stays. Fails with
  // kCorruption if it removes a table that is not there, or would make tables overlap: nothing is
  // written or changed then. The tables it names must be synced and closed. After another error
  // they must stay until ObsoleteFiles has them: the manifest may name them.
  Status LogAndApply(VersionEdit* edit, base::Mutex* mutex) WEFT_REQUIRES(mutex);

  VersionRef current() const;
  // Set by a compaction's pick; kept by the next edit.
  CompactPointers* compact_pointers();

  // --- Numbers ---

  // Never returned before. Any thread.
  uint64_t NewFileNumber() { return next_file_number_.fetch_add(1, std::memory_order_relaxed); }
  // `number` is used by a file of the store: it is not given out again. Any thread.
  void MarkFileNumberUsed(uint64_t number);
  // The same for a name in the folder. False if the number is too high to be the store's: it is not
  // counted. Call it after Recover.
  bool CountName(uint64_t number);
  uint64_t next_file_number() const { return next_file_number_.load(std::memory_order_relaxed); }
  // Logs with lower numbers are in tables. 0: none was named yet.
  uint64_t log_number() const;
  uint64_t prev_log_number() const;
  uint64_t manifest_number() const;
  // Fills in the mark's part about the manifest. False if its contents are unknown. REQUIRES: no
  // edit is being written
  bool DescribeManifest(CloseMark* mark) const;

  // The number that the manifest records. An edit may raise it only as far as its tables, and those
  // before, hold all writes: the writes above it are in the logs from log_number on, and replay
  // relies on that (lsm/log_replay.h).
  table::SequenceNumber last_sequence() const;

  // --- Files that may go ---

  // Between these, no file whose number was given since BeginJob is obsolete.
  uint64_t BeginJob();
  void EndJob(uint64_t job);
  // False while a failed edit may be in the manifest.
  bool may_delete_files() const;
  // Those of `names` (read from the folder before the call or after) that no live version, log, job
  // or manifest needs. Empty unless may_delete_files.
  std::vector<std::string> ObsoleteFiles(const std::vector<std::string>& names) const;
  // Numbers of all tables in versions that anybody still holds, in order.
  std::vector<uint64_t> LiveTables() const;

 private:
  Status CheckManifest(const ManifestState& state, const std::string& path) const;
  Status CheckFilesPresent(const ManifestState& state, const std::string& path);
  void TakeState(const ManifestState& state, uint64_t manifest_number, VersionRef version);
  void Install(VersionRef version);
  void CompleteEdit(VersionEdit* edit);

  // State that an edit works with while the mutex is free.
  struct Turn {
    VersionRef before;
    CompactPointers pointers;
    uint64_t manifest_number;
    bool names_files;  // it names new files
    bool in_doubt;
  };
  Status Write(VersionEdit* edit, Turn* turn);
  bool ManifestIsLong() const;
  void ReopenManifest(uint64_t number);
  Status BeginManifest(VersionEdit* edit, Turn* turn);
  // Tables and pointers, as a manifest's first record has them.
  VersionEdit Snapshot(const Turn& turn) const;

  bool IsNeeded(const ParsedFileName& file, const std::vector<uint64_t>& live) const;
  void Log(const std::string& line) const {
    if (logger_ != nullptr) logger_->Log(line);
  }

  // Constant after construction.
  const DbOptions& options_;
  FileSystem* const files_;
  const std::string dir_;
  const table::InternalComparator* const comparator_;
  TableCache* const tables_;
  base::Mutex* const mutex_;
  Logger* const logger_;

  // Any thread.
  std::atomic<uint64_t> next_file_number_{2};
  uint64_t counted_max_ = CountedFileNumberMax(0);  // constant after Recover

  // Guarded by *mutex_.
  VersionRef current_ WEFT_GUARDED_BY(*mutex_);
  std::list<std::weak_ptr<const Version>> versions_ WEFT_GUARDED_BY(*mutex_);
  CompactPointers compact_pointers_ WEFT_GUARDED_BY(*mutex_);
  uint64_t log_number_ WEFT_GUARDED_BY(*mutex_) = 0;
  uint64_t prev_log_number_ WEFT_GUARDED_BY(*mutex_) = 0;
  table::SequenceNumber last_sequence_ WEFT_GUARDED_BY(*mutex_) = 0;
  uint64_t manifest_number_ WEFT_GUARDED_BY(*mutex_) = 0;  // named by CURRENT, as far as we know;
  bool writing_ WEFT_GUARDED_BY(*mutex_) = false;          // an edit is being written
  bool in_doubt_ WEFT_GUARDED_BY(*mutex_) = false;         // a failed edit may be in the manifest
  std::multiset<uint64_t> jobs_ WEFT_GUARDED_BY(*mutex_);  // their first possible file numbers
  base::CondVar write_ended_;

  // Owned by the edit that is being written (writing_).
  OpenManifest manifest_;        // without a file: the next edit begins a new one
  uint64_t reusable_bytes_ = 0;  // of the recovered manifest, if the next edit goes on with it

  // Set by Recover.
  std::optional<CloseMark> close_mark_;
  bool manifest_was_torn_ = false;
};

}  // namespace weft::lsm
