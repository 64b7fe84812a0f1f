// processor/mirror/group_size.h: how many queries go together where their owners could take some of
// them instead: as many as the device needs about kGroupNs for.
//
// The fewer are the device's, the more are left to take; but each group has costs of its own. Where
// bringing the mirror up to date takes longer than the device, groups grow: that is done once for
// all that go together.
//
// Threads   one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/ticks.h"
#include "processor/processor.h"

namespace weft::processor {

class GroupSize {
 public:
  uint32_t sets() const { return sets_; }
  // Groups that were found to be done together, of `queries`, have taken `ticks`, without the time
  // behind the one before them.
  void Learn(uint64_t queries, uint64_t ticks) {
    const uint64_t full = uint64_t{sets_} * kSetQueries;
    if (queries * 4 < full * 3) return;  // says nothing of a full one
    const uint64_t ns = base::NsOfTicks(ticks) * full / queries;
    if (ns > kGroupNs + kGroupNs / 4) sets_ = std::max(kSetsMin, sets_ - sets_ / 4);
    if (ns < kGroupNs - kGroupNs / 4) sets_ = std::min(kSetsMax, sets_ + sets_ / 4);
  }

 private:
  static constexpr uint64_t kGroupNs = 100'000;
  static constexpr uint32_t kSetsMin = 8;
  static constexpr uint32_t kSetsMax = 1u << 20;

  uint32_t sets_ = kSetsMin;
};

}  // namespace weft::processor
