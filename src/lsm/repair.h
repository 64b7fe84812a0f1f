// lsm/repair.h: makes the whole parts of a damaged store openable again: weft::RepairDb.
//
// A repair keeps every whole table, as `weft db verify` sees it (lsm/table_check.h), unchanged. Of
// damaged tables it keeps the whole blocks. Of logs it keeps every whole record except some between
// two damaged ones of a block (docs/formats/log.md). The readable part of a manifest says which
// tables count and where they belong (lsm/repair_source.h). Without one, all tables count. If
// nothing says which of two tables is newer, they are merged by sequence number, because file
// numbers do not say it. Files that were given up, or whose contents were taken into others, go to
// the folder lost.
//
// The store changes in one step, the last (lsm/repair_commit.cc). A repair that fails before it
// leaves the store as it was; one that is interrupted anywhere may be run again.
//
// A file, or a place in one, that the disk does not give counts as damaged, no more. A file that
// only this user may not read, or that can't be read for want of something, ends the repair.
//
// Threads   one; the store must not be open.
// Errors    of writing, of listing and of the lock; of reading, those that are not the file's
//           (base::IsOfTheFile). Damage is no error. kNotFound: there is no file of a store.
//           kInvalidArgument: a store of another comparator, or of RocksDB: it is left as it is.
//           kRetryLater: it is open.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/read_around.h"
#include "lsm/lost_files.h"
#include "lsm/memtable.h"
#include "lsm/repair_source.h"
#include "lsm/version_edit.h"
#include "table/internal_key.h"
#include "table/table_builder.h"
#include "weft/db_options.h"
#include "weft/status.h"

namespace weft::lsm {

// What a repair found and did.
struct RepairReport {
  uint64_t logs = 0;
  uint64_t log_bytes_dropped = 0;
  uint64_t tables_whole = 0;
  uint64_t tables_salvaged = 0;  // something of them was kept
  uint64_t tables_lost = 0;      // nothing of them was kept
  uint64_t tables_missing = 0;   // the manifest names them
  uint64_t table_bytes_dropped = 0;
  // Blocks that are damaged or do not fit the others; entries that do not fit.
  uint64_t table_blocks_dropped = 0;
  uint64_t table_entries_dropped = 0;
  uint64_t tables_merged = 0;
  uint64_t unreadable_bytes = 0;  // of tables and logs; files that don't open are not counted
  bool manifest_read = false;     // it says which tables count
  bool manifest_whole = false;    // and neither it nor a file it names was lost
  table::SequenceNumber last_sequence = 0;
};

class Repair {
 public:
  // `progress` (may be null) gets a line for each step that takes time.
  Repair(const DbOptions& checked, std::string dir,
         std::function<void(const std::string& line)> progress);
  ~Repair();

  // Once. Locks the store until this object goes.
  Status Run();
  const RepairReport& report() const { return report_; }

 private:
  // A table that the store will have.
  struct Kept {
    NewFile file;
    std::string path;
    table::SequenceNumber newest = 0;
  };

  Status TakeAll();
  Status Find();
  Status CountNumbers();
  Status Renumber(Kept* kept);
  void GiveUpName(const std::string& name);
  Status FindStore(std::vector<std::string>* names) const;
  Status CheckTablesAreOurs() const;
  void OpenInfoLog();
  Status TakeTables();
  Status TakeLog(uint64_t number);
  Status WriteMemTable(const MemTable& memtable);
  Status TakeTable(uint64_t number);
  // Copies the whole parts of it into a new table; if there are none, `number` of *kept stays 0.
  Status Salvage(const std::string& path, Kept* kept);
  Status Measure(const std::string& path, Kept* kept);
  Status MergeOverlapping();
  Status MergeCluster(std::vector<Kept> cluster, int level, std::vector<Kept>* merged);
  int LevelFor(uint64_t bytes) const;
  bool LevelsOverlap() const;
  bool Level0OutOfOrder() const;
  Status Commit();
  Status WriteManifest();
  void MoveNames(LostFiles* lost);
  void RemoveOldFiles();
  void RemoveNewFiles();
  // A new file, which RemoveNewFiles knows.
  Result<std::unique_ptr<WritableFile>> Make(const std::string& path, FileUse use);
  void GiveUpTable(const std::string& path);
  std::string PathOf(const std::string& name) const { return dir_ + "/" + name; }
  std::string PathOfTable(uint64_t number) const;
  void NoteUnreadable(const base::Unreadable& unreadable, const std::string& path);
  void Say(const std::string& line);

  const DbOptions options_;
  const std::string dir_;
  FileSystem* const files_;
  const std::function<void(const std::string&)> progress_;
  const table::InternalComparator comparator_;
  const std::unique_ptr<const FilterPolicy> filter_;
  table::TableFormat format_;
  std::shared_ptr<Logger> info_log_;  // set once the store is known to be ours
  std::vector<std::string> said_early_;
  std::unique_ptr<FileLock> lock_;

  uint64_t next_file_ = 1;
  uint64_t first_new_ = 1;  // the first of these
  StoreFiles found_;
  std::set<uint64_t> numbers_;  // of all files found
  RepairSource source_;
  std::vector<Kept> kept_;
  table::SequenceNumber newest_of_tables_ = 0;
  // The number that the next log's numbers follow; known if nothing before it is lost.
  std::optional<table::SequenceNumber> before_log_;
  bool unplaced_ = false;                 // of some kept tables nothing says what they may hide
  std::vector<std::string> to_give_up_;   // names; to lost, once CURRENT names the new manifest
  std::set<std::string> made_;            // paths of the files that this run has made
  std::vector<std::string> names_alone_;  // as to_give_up_, but not files
  std::vector<std::string> superseded_;   // of to_give_up_: those whose contents went into others
  uint64_t manifest_number_ = 0;          // of the new one
  bool in_doubt_ = false;                 // CURRENT may name it
  RepairReport report_;
};

}  // namespace weft::lsm
