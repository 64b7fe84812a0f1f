#include "bench/policy/farthest_use.h"

#include "base/check.h"

namespace weft::bench {

void FarthestUse::Put(uint32_t record, uint32_t next_use) {
  if (!Has(record)) {
    heap_.emplace_back();
    return Up(static_cast<uint32_t>(heap_.size() - 1), {next_use, record});
  }
  const uint32_t place = places_[record];
  if (next_use >= heap_[place].next_use) {
    Up(place, {next_use, record});
  } else {
    Down(place, {next_use, record});
  }
}

void FarthestUse::Remove(uint32_t record) {
  WEFT_CHECK(Has(record));
  const uint32_t place = places_[record];
  places_[record] = kNowhere;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (last.record == record) return;
  const uint32_t removed_use = heap_[place].next_use;
  if (last.next_use >= removed_use) {
    Up(place, last);
  } else {
    Down(place, last);
  }
}

void FarthestUse::Up(uint32_t place, Entry entry) {
  while (place > 0) {
    const uint32_t parent = (place - 1) / 2;
    if (heap_[parent].next_use >= entry.next_use) break;
    Write(place, heap_[parent]);
    place = parent;
  }
  Write(place, entry);
}

void FarthestUse::Down(uint32_t place, Entry entry) {
  for (;;) {
    uint32_t child = 2 * place + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1].next_use > heap_[child].next_use) ++child;
    if (heap_[child].next_use <= entry.next_use) break;
    Write(place, heap_[child]);
    place = child;
  }
  Write(place, entry);
}

void FarthestUse::Write(uint32_t place, Entry entry) {
  heap_[place] = entry;
  places_[entry.record] = place;
}

}  // namespace weft::bench
