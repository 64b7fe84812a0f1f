#include "cache/change_rings.h"

#include <utility>

namespace weft::cache {

task::ChangeRing* ChangeRings::Of(uint32_t number) {
  Place& place = places_[number];
  task::ChangeRing* ring = place.ring.load(std::memory_order_relaxed);  // the owner's own store
  if (ring != nullptr) return ring;
  Result<Pages> memory = SystemPages()->Reserve(sizeof(task::ChangeRing), false);
  if (!memory) return nullptr;
  place.memory = std::move(memory.value());
  ring = reinterpret_cast<task::ChangeRing*>(place.memory.data());
  // Before anything is announced in it: who is told of a change finds its ring.
  place.ring.store(ring, std::memory_order_release);
  uint32_t used = used_.load();
  while (used < number + 1 && !used_.compare_exchange_weak(used, number + 1)) {
  }
  return ring;
}

void ChangeRings::Read(uint64_t bucket_count, std::vector<uint64_t>* buckets) {
  const uint32_t used = used_.load(std::memory_order_acquire);
  // Their owners have written to them: asked for together, they come together.
  for (uint32_t i = 0; i < used; i++) {
    const task::ChangeRing* const ring = places_[i].ring.load(std::memory_order_acquire);
    if (ring == nullptr) continue;
    task::Prefetch(ring);
    task::Prefetch(&ring->numbers[ring->tail % kChangeRingNumbers]);
  }
  for (uint32_t i = 0; i < used; i++) {
    task::ChangeRing* const ring = places_[i].ring.load(std::memory_order_acquire);
    if (ring == nullptr) continue;
    const uint64_t done = task::LoadAcquire64(&ring->done);
    const uint64_t head = task::LoadAcquire64(&ring->head);
    for (uint64_t at = ring->tail; at < head; at++) {
      const uint64_t bucket = ring->numbers[at % kChangeRingNumbers];
      if (bucket < bucket_count) buckets->push_back(bucket);
    }
    // Release: the numbers have been read (pairs with AnnounceChange).
    if (done != ring->tail) task::StoreRelease64(&ring->tail, done);
  }
}

}  // namespace weft::cache
