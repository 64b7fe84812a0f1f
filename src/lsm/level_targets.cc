#include "lsm/level_targets.h"

#include <algorithm>

namespace weft::lsm {
namespace {

// Far from where sums of targets and bytes would wrap around.
constexpr uint64_t kTargetMax = uint64_t{1} << 60;

}  // namespace

LevelTargets::LevelTargets(const DbOptions& options)
    : level0_trigger_(std::max(1, options.level0_compaction_trigger)) {
  const uint64_t level0_bytes =
      static_cast<uint64_t>(level0_trigger_) * uint64_t{options.write_buffer_size};
  uint64_t target = std::max<uint64_t>({options.level1_bytes_max, level0_bytes, 1});
  for (size_t level = 1; level < kLevels; ++level) {
    targets_[level] = std::min(target, kTargetMax);
    target = targets_[level] * 10;
  }
}

double LevelTargets::Score(const Version& version, int level, const Busy& busy) const {
  if (level >= kLevels - 1) return 0;
  if (level == 0) {
    const size_t tables = version.level(0).size();
    return static_cast<double>(tables - std::min(tables, busy.tables)) / level0_trigger_;
  }
  const uint64_t bytes = version.level(level).bytes();
  return static_cast<double>(bytes - std::min(bytes, busy.bytes)) /
         static_cast<double>(TargetBytes(level));
}

uint64_t LevelTargets::DebtBytes(const Version& version) const {
  const bool level0_due = version.level(0).size() >= static_cast<size_t>(level0_trigger_);
  // What comes down from the level above pushes as much on, from a level that is full.
  uint64_t coming = level0_due ? version.level(0).bytes() : 0;
  uint64_t debt = coming;
  for (int level = 1; level < kLevels - 1; ++level) {
    const uint64_t bytes = version.level(level).bytes() + coming;
    coming = bytes - std::min(bytes, TargetBytes(level));
    debt += coming;
  }
  return debt;
}

}  // namespace weft::lsm
