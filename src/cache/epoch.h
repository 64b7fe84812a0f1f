// cache/epoch.h: which batches may still be reading: memory is reused only when none can see it.
//
// Each batch (or single embedded call) enters the epoch before it first looks into the index. It
// leaves after its last use of what it found. Retire() stamps memory that was unlinked. It may be
// reused once Passed(stamp): then every batch that could have seen it has left.
//
// Why it holds: unlinking precedes Retire(), which precedes the scan in Oldest(). If the scan
// missed a batch, that batch stores its slot later in the one total order of sequentially
// consistent operations. So its first look into the index comes after the unlinking.
//
// Threads   Claim, Release, Retire, Oldest: any. Enter, Exit: the owner of the slot.
// Cost      Enter is one exchange on a line of its slot's; Oldest reads every slot ever claimed.
// Source    epoch-based reclamation (Fraser, 2004), counted in batches: docs/references.md,
// trap 16.
#pragma once

#include <atomic>
#include <cstdint>

#include "task/portable.h"

namespace weft::cache {

class Epochs {
 public:
  static constexpr uint32_t kSlotsMax = 1024;

  struct alignas(64) Slot {
    std::atomic<uint64_t> entered{0};  // 0: outside; otherwise the epoch it entered at
    std::atomic<bool> claimed{false};
  };

  // A slot for one batch at a time, or null when kSlotsMax are in use.
  Slot* Claim();
  void Release(Slot* slot);
  // Its number: 0 to kSlotsMax - 1.
  uint32_t NumberOf(const Slot* slot) const { return static_cast<uint32_t>(slot - slots_); }

  // REQUIRES: outside.
  void Enter(Slot* slot) {
    slot->entered.exchange(epoch_.load(std::memory_order_seq_cst), std::memory_order_seq_cst);
    // Nothing of the batch is read before its slot is seen (pairs with Oldest).
    task::FenceBehindChange();
  }
  void Exit(Slot* slot) {
    // Release: the batch's reads are done before its slot is seen empty (pairs with Oldest).
    slot->entered.store(0, std::memory_order_release);
  }

  // Starts a new epoch and returns the stamp of what was unlinked before.
  uint64_t Retire() { return epoch_.fetch_add(1, std::memory_order_seq_cst); }
  // The oldest epoch that a batch is still in; UINT64_MAX if none is. Stamps below it have passed:
  // every batch that entered at such a stamp or before has left.
  uint64_t Oldest() const;
  bool Passed(uint64_t stamp) const { return stamp < Oldest(); }

 private:
  std::atomic<uint64_t> epoch_{1};
  std::atomic<uint32_t> slots_used_{0};  // slots [0, slots_used_) were ever claimed
  Slot slots_[kSlotsMax];
};

}  // namespace weft::cache
