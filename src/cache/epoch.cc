#include "cache/epoch.h"

namespace weft::cache {

Epochs::Slot* Epochs::Claim() {
  for (uint32_t i = 0; i < kSlotsMax; i++) {
    bool expected = false;
    if (!slots_[i].claimed.compare_exchange_strong(expected, true)) continue;
    uint32_t used = slots_used_.load();
    while (used < i + 1 && !slots_used_.compare_exchange_weak(used, i + 1)) {
    }
    return &slots_[i];
  }
  return nullptr;
}

void Epochs::Release(Slot* slot) {
  slot->entered.store(0, std::memory_order_release);
  slot->claimed.store(false, std::memory_order_release);
}

uint64_t Epochs::Oldest() const {
  uint64_t oldest = UINT64_MAX;
  const uint32_t used = slots_used_.load(std::memory_order_seq_cst);
  for (uint32_t i = 0; i < used; i++) {
    const uint64_t entered = slots_[i].entered.load(std::memory_order_seq_cst);
    if (entered != 0 && entered < oldest) oldest = entered;
  }
  return oldest;
}

}  // namespace weft::cache
