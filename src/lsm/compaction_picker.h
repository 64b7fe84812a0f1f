// lsm/compaction_picker.h: decides what is compacted next, and keeps compactions out of each
// other's way.
//
// Several compactions run at once if they share no table and their outputs in one level cannot
// overlap. The inputs of a pick are marked until Release.
//
// Threads   every call holds the store's mutex, unless it says otherwise.
// Source    LevelDB's picking; docs/design/0005-compaction-picking.md has what differs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compaction/job.h"
#include "lsm/level_targets.h"
#include "lsm/version.h"
#include "lsm/version_edit.h"
#include "lsm/version_set.h"
#include "weft/db_options.h"
#include "weft/status.h"

namespace weft::lsm {

enum class CompactionReason : uint8_t { kSize, kSeeks, kManual };

// Inputs of a compaction and where they go.
struct Compaction {
  CompactionReason reason = CompactionReason::kSize;
  int level = 0;
  int output_level = 1;  // level + 1; or `level`, if a last level is rewritten in place
  std::array<std::vector<FileRef>, 2> inputs;  // of `level`, of `output_level`
  std::vector<FileRef> grandparents;           // of output_level + 1: those that the inputs overlap
  bool trivial_move = false;                   // the one input may be moved as it is
  VersionRef version;                          // the version it was picked from
  // User keys of all inputs.
  std::string smallest;
  std::string largest;
  std::string pointer;  // where the level's next compaction begins

  uint64_t InputBytes() const { return TotalBytes(inputs[0]) + TotalBytes(inputs[1]); }
  // Removes the inputs and keeps the pointer; a trivial move also adds its table below. The caller
  // adds outputs.
  void AddTo(VersionEdit* edit) const;
  // Needs no mutex. files: the file system that the job uses.
  compaction::Job ToJob(FileSystem* files, const DbOptions& options,
                        const table::TableFormat& format,
                        table::SequenceNumber oldest_snapshot) const;
};

class CompactionPicker {
 public:
  // `pointers` (VersionSet's) and `options` must outlive it.
  CompactionPicker(const DbOptions& options, CompactPointers* pointers);

  // The most urgent compaction that can run beside the running ones; null: none, for now. Release
  // it when its edit was installed or it failed.
  std::unique_ptr<Compaction> Pick(const VersionRef& version);
  // Whether calling Pick is worth it: some level is over its target, or a table was searched in
  // vain too often.
  bool NeedsCompaction(const Version& version) const;

  // A step of a manual compaction.
  struct ManualPick {
    std::unique_ptr<Compaction> compaction;  // null: see busy
    bool busy = false;                       // tables of the range are being compacted: wait
    // Go on behind this user key once the compaction is done; none: the level is done.
    std::optional<std::string> next_begin;
  };
  // Tables of `level` in the range, down to the next level: about as much as one automatic
  // compaction may take. Null and not busy: there is none.
  ManualPick PickRange(const VersionRef& version, int level, const UserKeyRange& range);
  // As PickRange, but rewrites tables of the level in place, if their number is below `number_end`:
  // to drop entries that a compaction into them could not.
  ManualPick PickRewrite(const VersionRef& version, int level, const UserKeyRange& range,
                         uint64_t number_end);

  // Level for a table of a memtable, or an ingested one. As Version::LevelForMemTable, but 0 if the
  // table might lie among the outputs of a running compaction (in a gap between that one's inputs).
  // A level below 0 holds only until a compaction is picked or another table placed: keep both off
  // until the table's edit is done.
  int LevelForMemTable(const Version& version, std::string_view smallest_user_key,
                       std::string_view largest_user_key) const;

  // The compaction is over: its tables are free, and so is its range. REQUIRES: it was picked here
  // and is not released yet
  void Release(const Compaction& compaction);
  size_t running() const { return running_.size(); }

  const LevelTargets& targets() const { return targets_; }
  // By level; see LevelTargets::Score.
  std::array<double, kLevels> Scores(const Version& version) const;

 private:
  std::unique_ptr<Compaction> PickLevel0(const VersionRef& version);
  std::unique_ptr<Compaction> PickDeeper(const VersionRef& version, int level);
  std::unique_ptr<Compaction> PickSeek(const VersionRef& version);
  // The compaction of these inputs and all that must go with them; null if it cannot run now.
  std::unique_ptr<Compaction> Make(const VersionRef& version, int level,
                                   std::vector<FileRef> inputs, CompactionReason reason);
  void Grow(Compaction* compaction) const;
  // Hull, grandparents, pointer: all that follows from the inputs.
  void Complete(Compaction* compaction) const;
  bool CanRun(const Compaction& compaction) const;
  void Start(Compaction* compaction);

  // Constant after construction.
  const DbOptions& options_;
  const LevelTargets targets_;
  CompactPointers* const pointers_;

  std::vector<const Compaction*> running_;
};

}  // namespace weft::lsm
