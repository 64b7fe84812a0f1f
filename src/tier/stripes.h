// tier/stripes.h: locks over the hash of a key. Whoever changes a key holds its stripe from the
// change in the cache to the end of the write to the durable store. So both see one order.
//
// Each stripe counts the changes of its keys. A read from the durable store is still valid if the
// count has not moved.
//
// A flush concerns all keys at once, and is carried out while nobody holds a stripe (Alone). So a
// judgement made with a stripe held stays true until the stripe is released.
//
// Threads   any. Whoever takes several takes them in rising order.
// Lock      gate_, then a stripe, then every other lock of the cache and of the durable store
//           (docs/concurrency.md).
// Memory    a line each, so that neighbours do not disturb one another: 1 MiB.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/mutex.h"

namespace weft::tier {

class Stripes {
 public:
  static constexpr uint32_t kCount = 1u << 14;

  Stripes() : stripes_(std::make_unique<Stripe[]>(kCount)) {}

  // The index takes its bucket from these bits first (FirstBucket). So keys of one bucket share a
  // stripe, and stripes are as uniform as buckets.
  static uint32_t Of(uint64_t hash) { return static_cast<uint32_t>(hash >> 34) % kCount; }

  bool TryLock(uint32_t stripe) WEFT_NO_THREAD_SAFETY_ANALYSIS {
    return stripes_[stripe].mutex.TryLock();
  }
  void Lock(uint32_t stripe) WEFT_NO_THREAD_SAFETY_ANALYSIS { stripes_[stripe].mutex.Lock(); }
  void Unlock(uint32_t stripe) WEFT_NO_THREAD_SAFETY_ANALYSIS { stripes_[stripe].mutex.Unlock(); }

  // Whoever has taken stripes to change or enter keys asks this. If it is true, it must release
  // them all, wait, and take them again.
  bool closed() const { return closed_.load(std::memory_order_acquire); }
  // REQUIRES: the caller holds no stripe.
  void WaitUntilOpen() { base::MutexLock lock(&gate_); }
  // Does `act` while nobody holds a stripe, except for a moment (SettledChanges).
  // REQUIRES: the caller holds no stripe, and no lock that is taken under one.
  template <typename Act>
  void Alone(const Act& act) {
    base::MutexLock lock(&gate_);
    closed_.store(true, std::memory_order_relaxed);
    // Whoever takes a stripe after this sees `closed_`, because the stripe's lock hands it over.
    for (uint32_t stripe = 0; stripe < kCount; stripe++) SettledChanges(stripe);
    act();
    closed_.store(false, std::memory_order_release);
  }

  // REQUIRES: the caller holds the stripe.
  uint64_t changes(uint32_t stripe) const { return stripes_[stripe].changes; }
  void NoteChange(uint32_t stripe) { stripes_[stripe].changes++; }

  // The count while nobody changes the stripe: waits for anybody who does.
  uint64_t SettledChanges(uint32_t stripe) {
    Lock(stripe);
    const uint64_t changes = stripes_[stripe].changes;
    Unlock(stripe);
    return changes;
  }

 private:
  struct alignas(64) Stripe {
    base::Mutex mutex;
    uint64_t changes = 0;
  };
  const std::unique_ptr<Stripe[]> stripes_;
  base::Mutex gate_;  // held by Alone, instead of the locks of all stripes at once
  std::atomic<bool> closed_{false};
};

}  // namespace weft::tier
