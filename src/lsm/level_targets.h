// lsm/level_targets.h: how large each level should be, and how far a version is from that.
//
// Why level 1 follows the write buffer: docs/design/0005-compaction-picking.md.
//
// Units     bytes.
// Threads   pure.
// Source    LevelDB's scores.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lsm/limits.h"
#include "lsm/version.h"
#include "weft/db_options.h"

namespace weft::lsm {

class LevelTargets {
 public:
  explicit LevelTargets(const DbOptions& options);

  // REQUIRES: 1 <= level < kLevels
  uint64_t TargetBytes(int level) const { return targets_[static_cast<size_t>(level)]; }
  int level0_trigger() const { return level0_trigger_; }

  // 1 and above: the level wants to be compacted. `busy`: of its tables, those that are being
  // compacted, which do not count. The last level: 0, there is nowhere to go.
  struct Busy {
    size_t tables = 0;
    uint64_t bytes = 0;
  };
  double Score(const Version& version, int level, const Busy& busy) const;
  // What must be compacted until every level is in its limit: what exceeds the targets, going down
  // and down, and all of level 0 where it has as many tables as start a compaction.
  uint64_t DebtBytes(const Version& version) const;

 private:
  int level0_trigger_;
  std::array<uint64_t, kLevels> targets_{};
};

}  // namespace weft::lsm
