// lsm/version.h: the tables of a store at one moment, level by level.
//
// A version never changes; each change of the set of tables makes a new one (VersionSet). Readers
// hold the version they read from, and with it the files.
//
// Layout    level 0: newest table first, and they may overlap. Deeper levels: in order of keys, no
//           two overlap.
// Threads   every const call may be made from any thread at once.
// Errors    kCorruption names the table.
// Cost      Get: at most one table of each level, but in level 0 all whose ends enclose the key. To
//           find the table, eight-byte prefixes are compared if keys are ordered as bytes.
// Source    LevelDB's levels.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lsm/file_meta.h"
#include "lsm/limits.h"
#include "lsm/lookup_key.h"
#include "lsm/table_cache.h"
#include "lsm/value_budget.h"
#include "lsm/version_edit.h"
#include "table/internal_key.h"
#include "weft/db_options.h"
#include "weft/iterator.h"
#include "weft/status.h"

namespace weft::lsm {

// A table that a lookup searched in vain before another one; null: there was none.
struct SeekCharge {
  const FileMeta* file = nullptr;
  int level = 0;
};

// One key's answer within Version::MultiGet.
struct VersionLookup {
  std::string_view internal_key;  // a LookupKey's
  std::string* value = nullptr;   // set where status is ok
  Status status;                  // ok, kNotFound or an error
  SeekCharge charge;              // for Version::ChargeSeek
  bool must = false;              // answered even if the budget is used up
};

// User keys, both ends included; null: no bound.
struct UserKeyRange {
  const std::string_view* begin = nullptr;
  const std::string_view* end = nullptr;
};

// The tables of one level. Versions that have the same level share it.
class Level {
 public:
  // Puts the files in order. kCorruption if ends are the wrong way round or, below level 0, two
  // files overlap.
  static Result<std::shared_ptr<const Level>> Make(const table::InternalComparator& comparator,
                                                   int level, std::vector<FileRef> files);

  std::span<const FileRef> files() const { return files_; }
  uint64_t bytes() const { return bytes_; }
  bool empty() const { return files_.empty(); }
  size_t size() const { return files_.size(); }
  // Index of the first file whose largest key is not below `internal_key`; size() if there is none.
  // For levels below 0.
  size_t Find(const table::InternalComparator& comparator, std::string_view internal_key) const;

 private:
  Level() = default;
  size_t FindBetween(const table::InternalComparator& comparator, size_t low, size_t high,
                     std::string_view internal_key) const;

  std::vector<FileRef> files_;
  // For the largest user keys: first eight bytes, big-endian, zeros behind short ones. Only for
  // bytewise order, and in levels below 0.
  std::vector<uint64_t> prefixes_;
  uint64_t bytes_ = 0;
};

class Version : public std::enable_shared_from_this<Version> {
 public:
  // Has no table. What the pointers name must outlive the version and all versions made from it.
  static std::shared_ptr<const Version> MakeEmpty(const table::InternalComparator* comparator,
                                                  TableCache* tables);
  // This version after `edit`. A table that the edit moves stays the same FileMeta. Fails with
  // kCorruption if it removes a table that is not there, adds one that is, or makes tables overlap.
  Result<std::shared_ptr<const Version>> Apply(const VersionEdit& edit) const;

  // --- Reads ---

  // kNotFound if there is no entry, or a deletion. `charge` may be null.
  Status Get(const ReadOptions& options, std::string_view internal_key, std::string* value,
             SeekCharge* charge) const;
  // Answers all that the budget allows, level by level. Within a level, waits for memory and files
  // overlap.
  void MultiGet(const ReadOptions& options, std::span<VersionLookup> lookups,
                ValueBudget* budget) const;
  void MultiGet(const ReadOptions& options, std::span<VersionLookup> lookups) const {
    ValueBudget no_limit(0);
    MultiGet(options, lookups, &no_limit);
  }
  // One iterator for each table of level 0 and one for each deeper level that has any, the newest
  // first. They hold this version; tables are opened when they are reached.
  void AddIterators(const ReadOptions& options,
                    std::vector<std::unique_ptr<Iterator>>* iterators) const;

  // Counts a charge; true if its table has used up its allowance: compact it (seek_file).
  bool ChargeSeek(const SeekCharge& charge) const;
  // An iterator passes this key; charges the first table, if several may hold it. Returns as
  // ChargeSeek does.
  bool RecordReadSample(std::string_view internal_key) const;
  // The table that ChargeSeek wants compacted; null file: none.
  SeekCharge seek_file() const;

  // --- Shape ---

  const Level& level(int level) const { return *levels_[static_cast<size_t>(level)]; }
  // Deepest level that has tables; 0 if none has.
  int DeepestLevel() const;
  uint64_t TotalBytes() const;
  size_t TotalFiles() const;

  // Whether any table of the level holds keys of the range, by their ends.
  bool OverlapInLevel(int level, const UserKeyRange& range) const;
  // Tables that overlap the range; in level 0 also those that overlap these, and so on. In the
  // level's order.
  std::vector<FileRef> OverlappingInputs(int level, const UserKeyRange& range) const;
  // The deepest level for a memtable's table: not past a table that it overlaps, nor above too many
  // bytes of the next level.
  int LevelForMemTable(std::string_view smallest_user_key, std::string_view largest_user_key,
                       uint64_t file_bytes_max) const;
  // Bytes of tables before `internal_key`, about.
  uint64_t ApproximateOffsetOf(std::string_view internal_key) const;

  const table::InternalComparator& comparator() const { return *comparator_; }
  TableCache* tables() const { return tables_; }
  // "--- level 0 ---" and a line for each table, in LevelDB's form: its number, its bytes, and its
  // first and last key.
  std::string DebugString() const;

 private:
  Version(const table::InternalComparator* comparator, TableCache* tables)
      : comparator_(comparator), tables_(tables) {}

  // The meta of a table that `edit` adds: of the one it moves, or a new one.
  FileRef MetaFor(const NewFile& file, const VersionEdit& edit) const;
  // Calls `visit` for each table whose ends enclose the key, newest first, until it returns false.
  template <typename Visit>
  void ForEachEnclosing(std::string_view internal_key, Visit&& visit) const;
  // The one table of a level below 0 that may hold the key; null: none.
  const FileMeta* FileFor(int level, std::string_view internal_key) const;
  bool Encloses(const FileMeta& file, std::string_view user_key) const;
  // First file of a level below 0 that does not end before the range.
  size_t FirstInRange(int level, const UserKeyRange& range) const;
  bool EndsBefore(const FileMeta& file, const UserKeyRange& range) const;
  bool BeginsAfter(const FileMeta& file, const UserKeyRange& range) const;
  class Lookups;
  class SeekWatch;

  // Constant after construction.
  const table::InternalComparator* const comparator_;
  TableCache* const tables_;
  std::array<std::shared_ptr<const Level>, kLevels> levels_;

  // Any thread. Whoever sees the file sees its level, which is set first.
  mutable std::atomic<int> seek_level_{-1};
  mutable std::atomic<const FileMeta*> seek_file_{nullptr};
};

using VersionRef = std::shared_ptr<const Version>;

// Bytes of all files together.
uint64_t TotalBytes(std::span<const FileRef> files);

}  // namespace weft::lsm
