// lsm/version_set.h: the current version, how it changes, and the manifest that remembers it.
//
// Every change of the set of tables is one edit: LogAndApply writes it to the manifest, waits until
// it survives a power cut, and only then installs the version that it makes. Recover reads the
// manifest back.
//
// After an edit that failed half way nobody knows whether the manifest has it. The store goes on
// with the version from before the edit, and the next edit writes a fresh manifest with everything
// in it; until that is in place no file of either state may be deleted (may_delete_files).
//
// Threads   every call holds the store's mutex, unless it says "any thread". LogAndApply lets go of
//           it while it writes; several at once take turns.
// Files     writes MANIFEST-*, *.dbtmp and CURRENT; deletes only manifests that CURRENT never
// named. Errors    kCorruption names the file. Source    LevelDB's version set; the checks marked
// ours in docs/formats/manifest.md.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "lsm/limits.h"
#include "lsm/log_writer.h"
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

  // Writes the first manifest of an empty store, and CURRENT.
  Status CreateNew();
  // Takes the state that the manifest tells. Changes no file. kNotFound: there is no CURRENT.
  // kInvalidArgument: another comparator's. kCorruption: the manifest is damaged (but a torn last
  // record is passed over), names a table that is missing, lets tables overlap, or says that writes
  // went to a log that is not there (then its own end is lost).
  Status Recover();
  // The next edit must be made even where it is empty: the manifest is not to be gone on with.
  bool needs_new_manifest() const;

  // --- Changing ---

  // Adds to *edit what every record has (log and file numbers, last sequence) and carries it out.
  // An edit that names no log number keeps the current one. kCorruption where it removes a table
  // that is not there, or would make tables overlap: nothing is written then. The tables it names
  // must be synced and closed.
  Status LogAndApply(VersionEdit* edit, base::Mutex* mutex) WEFT_REQUIRES(mutex);

  VersionRef current() const;
  // Set by a compaction's pick; kept by the next edit.
  CompactPointers* compact_pointers();

  // --- Numbers ---

  // Never given before. Any thread.
  uint64_t NewFileNumber() { return next_file_number_.fetch_add(1, std::memory_order_relaxed); }
  // `number` occurs in the folder: it is not given again. Any thread.
  void MarkFileNumberUsed(uint64_t number);
  uint64_t next_file_number() const { return next_file_number_.load(std::memory_order_relaxed); }
  // Logs below it are in tables. 0: none was named yet.
  uint64_t log_number() const;
  uint64_t prev_log_number() const;
  uint64_t manifest_number() const;

  // Of the last write that readers may see. Any thread; one at a time sets it, never backwards.
  // What was written before it was set is seen by who reads it.
  table::SequenceNumber last_sequence() const {
    return last_sequence_.load(std::memory_order_acquire);
  }
  void set_last_sequence(table::SequenceNumber sequence) {
    last_sequence_.store(sequence, std::memory_order_release);
  }

  // --- Files that may go ---

  // Between these, no file whose number was given since BeginJob is obsolete.
  uint64_t BeginJob();
  void EndJob(uint64_t job);
  // False while a failed edit may be in the manifest.
  bool may_delete_files() const;
  // Of `names` (of the folder, read before the call or after), those that no live version, log,
  // job or manifest needs. Empty unless may_delete_files.
  std::vector<std::string> ObsoleteFiles(const std::vector<std::string>& names);
  // Numbers of all tables of versions that anybody still holds.
  std::set<uint64_t> LiveTables();

 private:
  struct State;

  Status ReadManifest(uint64_t number, State* state);
  Status CheckFilesPresent(const State& state, uint64_t manifest_number);
  void Install(VersionRef version) WEFT_REQUIRES(*mutex_);
  void CompleteEdit(VersionEdit* edit) WEFT_REQUIRES(*mutex_);
  VersionEdit Snapshot(const Version& version) const WEFT_REQUIRES(*mutex_);
  Status WriteEdit(const std::string& record, bool sync_dir);
  Status WriteNewManifest(uint64_t number, const std::string& snapshot, const std::string& record);
  Status ReopenManifest();
  void Log(const std::string& line) const;

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
  std::atomic<table::SequenceNumber> last_sequence_{0};

  // Guarded by *mutex_.
  VersionRef current_ WEFT_GUARDED_BY(*mutex_);
  std::list<std::weak_ptr<const Version>> versions_ WEFT_GUARDED_BY(*mutex_);
  CompactPointers compact_pointers_ WEFT_GUARDED_BY(*mutex_);
  uint64_t log_number_ WEFT_GUARDED_BY(*mutex_) = 0;
  uint64_t prev_log_number_ WEFT_GUARDED_BY(*mutex_) = 0;
  uint64_t manifest_number_ WEFT_GUARDED_BY(*mutex_) = 0;  // that CURRENT names, as far as we know
  bool writing_ WEFT_GUARDED_BY(*mutex_) = false;          // an edit is being written
  bool in_doubt_ WEFT_GUARDED_BY(*mutex_) = false;         // a failed edit may be in the manifest
  std::multiset<uint64_t> jobs_ WEFT_GUARDED_BY(*mutex_);  // their first possible file numbers
  base::CondVar write_ended_;

  // Owned by the edit that is being written.
  std::unique_ptr<WritableFile> manifest_file_;
  std::unique_ptr<LogWriter> manifest_;
  uint64_t reusable_bytes_ = 0;  // of the recovered manifest, if it is to be gone on with
};

}  // namespace weft::lsm
