// lsm/repair_source.h: which manifest a repair goes by, and which tables and logs count for it.
//
// The manifest that CURRENT names, if it gives a state. But if files of that state are missing, and
// a later manifest gives a whole one, the later one. Without CURRENT, the latest that gives a state
// whose files are all there; otherwise the latest that gives one. If none does, the readable parts
// of one.
//
// The tables that it names count, and no others: a leftover brings back deleted keys. But where
// records may be lost, tables that they added are named nowhere. Then these count too
//   - if they hold something newer than what was recorded before the loss, or ingested entries;
//   - if tables are missing, because a lost record may have merged those into these;
// and never one that a record has removed.
//
// Threads   one.
// Errors    no memory; unreadable files are reported, and passed over. kInvalidArgument: a store of
//           another comparator, or of RocksDB.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lsm/manifest_salvage.h"
#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::lsm {

// Numbers of the files of a store's folder, in order.
struct StoreFiles {
  std::vector<uint64_t> logs;
  std::vector<uint64_t> manifests;
  std::set<uint64_t> tables;
};

class RepairSource {
 public:
  using Say = std::function<void(const std::string& line)>;

  // `comparator`: its name.
  static Result<RepairSource> Choose(FileSystem* files, const std::string& dir,
                                     const std::string& comparator, const StoreFiles& found,
                                     const Say& say);

  // Some manifest lists tables, so not every table counts.
  bool has_manifest() const { return manifest_.has_beginning; }
  // The same, and nothing is lost of it or of the files that it names.
  bool is_whole() const { return has_manifest() && !lost_end_ && !lacks_tables_ && !lacks_log_; }
  const VersionEdit& edit() const { return manifest_.edit; }

  // For a table that the manifest names.
  std::optional<int> LevelOf(uint64_t number) const;
  std::optional<uint64_t> BytesOf(uint64_t number) const;
  enum class Verdict : uint8_t { kCounts, kOut, kIfNewer };
  Verdict JudgeTable(uint64_t number) const;
  // For a table of verdict kIfNewer. `newest`: the highest of its sequence numbers. A table
  // ingested unchanged has 0.
  bool IsNewer(table::SequenceNumber newest) const;
  bool LogCounts(uint64_t number) const;

 private:
  struct Candidate {
    uint64_t number = 0;
    SalvagedManifest manifest;
    bool lacks_tables = false;  // some that it names
    bool lacks_log = false;
    bool TellsAState() const { return manifest.has_beginning && manifest.has_numbers(); }
    bool IsWhole() const { return TellsAState() && !lacks_tables && !lacks_log; }
  };
  // `current`: the number that CURRENT names, or 0.
  static Result<std::vector<Candidate>> ReadAll(FileSystem* files, const std::string& dir,
                                                const std::vector<uint64_t>& numbers,
                                                uint64_t current, const StoreFiles& found,
                                                const Say& say);
  static bool IsLater(const Candidate& a, const Candidate& b);
  static const Candidate* Best(const std::vector<Candidate>& candidates, uint64_t current);

  uint64_t number_ = 0;  // of the manifest
  SalvagedManifest manifest_;
  struct Named {
    int level = 0;
    uint64_t bytes = 0;
  };
  std::map<uint64_t, Named> named_;  // tables
  bool lacks_tables_ = false;
  bool lacks_log_ = false;
  bool lost_end_ = true;  // later records, or some before, may be lost.
};

}  // namespace weft::lsm
