// lsm/repair.h: makes what is whole of a damaged store openable again: weft::RepairDb.
//
// What is kept: every table that reads whole, as it is; of damaged tables, their whole blocks; of
// logs, every whole record. A manifest that reads says which tables count and where they belong;
// tables it does not name are leftovers and must not come back. Without one, all tables count, and
// those that overlap are merged by sequence number, for file numbers do not tell which is newer.
// Files that were given up, or whose contents were taken into others, are moved to the folder lost.
//
// Threads   one; the store must not be open.
// Errors    of the files; damage is none. kInvalidArgument: another comparator's store.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lsm/memtable.h"
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
  uint64_t tables_lost = 0;
  uint64_t table_bytes_dropped = 0;
  uint64_t tables_merged = 0;
  bool manifest_read = false;
  table::SequenceNumber last_sequence = 0;
};

class Repair {
 public:
  // `progress` (may be null) gets a line for each step that takes time.
  Repair(const DbOptions& checked, std::string dir,
         std::function<void(const std::string& line)> progress);

  Status Run();
  const RepairReport& report() const { return report_; }

 private:
  // A table that will be the store's.
  struct Kept {
    NewFile file;
    std::string path;
    table::SequenceNumber newest = 0;
  };

  Status Find();
  Status ReadManifest();
  Status TakeLog(uint64_t number);
  Status WriteMemTable(const MemTable& memtable);
  Status TakeTable(uint64_t number, int level);
  Status TakeDamagedTable(const std::string& path, int level);
  Status Measure(const std::string& path, Kept* kept);
  Status MergeOverlapping();
  Status MergeCluster(std::vector<Kept> cluster, int level, std::vector<Kept>* merged);
  int LevelFor(uint64_t bytes) const;
  bool LevelsOverlap() const;
  bool Level0OutOfOrder() const;
  Status WriteManifest();
  void GiveUp(const std::string& name);
  std::string PathOf(const std::string& name) const { return dir_ + "/" + name; }
  std::string PathOfTable(uint64_t number) const;
  void Say(const std::string& line) const;

  const DbOptions options_;
  const std::string dir_;
  FileSystem* const files_;
  const std::function<void(const std::string&)> progress_;
  const table::InternalComparator comparator_;
  const std::unique_ptr<const FilterPolicy> filter_;
  table::TableFormat format_;

  uint64_t next_file_ = 1;
  std::vector<uint64_t> logs_;
  std::set<uint64_t> tables_;
  std::vector<std::string> manifests_;
  std::optional<VersionEdit> state_;  // of a manifest that reads; its new_files are the tables
  std::vector<Kept> kept_;
  std::vector<std::string> to_give_up_;  // once the new manifest is in place
  RepairReport report_;
};

}  // namespace weft::lsm
