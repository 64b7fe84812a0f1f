// sim/prefetch/trigger_audit.h: was the right object chosen? Each trigger waits for the kHit of its
// core and bucket, which says where the object was.
//
// It changes nothing that the unit does. What a core has waiting is bounded, because a bucket that
// it read for something other than a lookup never gets a kHit.
//
// Threads   one owner.
// Source    the simulator's specification, section 3.5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/prefetch/pacu.h"

namespace weft::sim {

class TriggerAudit {
 public:
  static constexpr size_t kWaitingMax = 64;  // of a core

  explicit TriggerAudit(UnitCounts* counts) : counts_(counts) {}

  void OnChoice(const Choice& choice);
  // `slot`: kNoSlot if the object wasn't in the bucket itself.
  void OnHit(uint64_t bucket, uint8_t slot, int core);

 private:
  struct Waiting {
    uint64_t bucket;
    uint32_t slots;  // a bit for each that was chosen
    bool is_empty;   // nothing was
  };
  std::deque<Waiting>& Of(int core);

  UnitCounts* const counts_;
  std::vector<std::deque<Waiting>> waiting_;  // by core; the oldest first, one a bucket
};

}  // namespace weft::sim
