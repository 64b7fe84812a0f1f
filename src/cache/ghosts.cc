#include "cache/ghosts.h"

#include <algorithm>
#include <bit>

namespace weft::cache {
namespace {

// A word: 15 bits of tag, one that says whether it was read, 16 of the tick of the drop. 0: none.
constexpr uint32_t kTickBits = 16;
constexpr uint32_t kTickMask = (1u << kTickBits) - 1;
constexpr uint32_t kReadBit = 1u << kTickBits;
constexpr uint32_t kTagStart = kTickBits + 1;
constexpr uint64_t kTicksPerLog = 4096;  // that pass while as much as the log holds is dropped
constexpr uint32_t kTicksKept = kTicksPerLog * 3 / 2;  // longer than S3-FIFO: docs/design/0015

// Of those that were read once, so many must have been dropped before they tell anything. Where
// there are many, what was dropped takes long to come back.
constexpr uint32_t kDropsMin = 32;
constexpr uint32_t kDropsMinOfMany = 512;
// At twice this number all counts are halved, so that old ones fade.
constexpr uint32_t kDropsKept = 512;
static_assert(kDropsMinOfMany <= kDropsKept);
// One key in so many is a sample: a power of two, which grows with the ghosts, so that about as
// many of them are samples as are wanted.
constexpr uint64_t kSampleShareMin = 16;
constexpr uint64_t kSampleShareMax = 64;
constexpr uint64_t kSamplesWanted = 4096;

uint32_t TagOf(uint64_t mixed) { return std::max(static_cast<uint32_t>(mixed >> 49), 1u); }

void Halve(std::atomic<uint32_t>* count) {
  count->store(count->load(std::memory_order_relaxed) / 2, std::memory_order_relaxed);
}

}  // namespace

Result<std::unique_ptr<Ghosts>> Ghosts::Create(uint64_t bytes_max, bool huge_pages) {
  Result<Pages> pages =
      SystemPages()->Reserve(std::max<uint64_t>(bytes_max, kWays * kGhostBytes), false);
  if (!pages) return pages.error();
  // The constructor is private so that none exists without its pages.
  return std::unique_ptr<Ghosts>(
      new Ghosts(std::move(pages.value()), huge_pages));  // owned at once
}

void Ghosts::Grow(uint64_t ghosts) {
  const uint64_t wanted = std::bit_ceil(std::max<uint64_t>(ghosts, kWays));
  if (wanted <= capacity()) return;
  if (huge_pages_ && wanted * kGhostBytes >= kHugePageBytes)
    pages_.AskForHuge(0, wanted * kGhostBytes, true);
  capacity_.store(wanted, std::memory_order_relaxed);
  Expect(wanted);
}

void Ghosts::Expect(uint64_t ghosts) {
  const uint64_t share =
      std::clamp(std::bit_ceil(ghosts) / kSamplesWanted, kSampleShareMin, kSampleShareMax);
  sample_mask_.store(share - 1, std::memory_order_relaxed);
}

void Ghosts::SetLogUnits(uint64_t units) {
  tick_units_.store(units / kTicksPerLog + 1, std::memory_order_relaxed);
}

std::atomic<uint32_t>* Ghosts::Find(uint64_t hash) const {
  if (capacity() == 0) return nullptr;
  const uint64_t mixed = Mixed(hash);
  std::atomic<uint32_t>* const set = SetOf(mixed);
  for (uint32_t i = 0; i < kWays; i++) {
    if (set[i].load(std::memory_order_relaxed) >> kTagStart == TagOf(mixed)) return &set[i];
  }
  return nullptr;
}

uint32_t Ghosts::Now() const {
  return static_cast<uint32_t>(dropped_units_.load(std::memory_order_relaxed) /
                               tick_units_.load(std::memory_order_relaxed)) &
         kTickMask;
}

void Ghosts::CountDrop(bool was_read) {
  fates_[was_read].dropped.fetch_add(1, std::memory_order_relaxed);
  if (fates_[1].dropped.load(std::memory_order_relaxed) < 2 * kDropsKept) return;
  for (Fate& fate : fates_) {
    Halve(&fate.dropped);
    Halve(&fate.came_back);
  }
}

void Ghosts::Note(uint64_t hash, uint64_t units, bool was_read) {
  dropped_units_.fetch_add(units, std::memory_order_relaxed);
  if (capacity() == 0) return;
  if (IsSample(hash)) CountDrop(was_read);
  const uint64_t mixed = Mixed(hash);
  const uint32_t tag = TagOf(mixed);
  const uint32_t now = Now();
  std::atomic<uint32_t>* const set = SetOf(mixed);
  // The place of its own tag, otherwise that of the oldest; what is empty is older than any.
  uint32_t place = 0;
  uint32_t oldest = 0;
  for (uint32_t i = 0; i < kWays; i++) {
    const uint32_t word = set[i].load(std::memory_order_relaxed);
    const bool is_own = word >> kTagStart == tag;
    const uint32_t age = is_own || word == 0 ? UINT32_MAX : (now - word) & kTickMask;
    if (i != 0 && age <= oldest) continue;
    oldest = age;
    place = i;
    if (is_own) break;
  }
  set[place].store(tag << kTagStart | (was_read ? kReadBit : 0) | now, std::memory_order_relaxed);
}

uint64_t Ghosts::AgeOf(uint64_t hash) const {
  const std::atomic<uint32_t>* const ghost = Find(hash);
  if (ghost == nullptr) return kNone;
  const uint32_t ticks = (Now() - ghost->load(std::memory_order_relaxed)) & kTickMask;
  return ticks < kTicksKept ? ticks * tick_units_.load(std::memory_order_relaxed) : kNone;
}

void Ghosts::Forget(uint64_t hash) {
  std::atomic<uint32_t>* const ghost = Find(hash);
  if (ghost == nullptr) return;
  const bool was_read = (ghost->load(std::memory_order_relaxed) & kReadBit) != 0;
  if (IsSample(hash)) fates_[was_read].came_back.fetch_add(1, std::memory_order_relaxed);
  ghost->store(0, std::memory_order_relaxed);
}

bool Ghosts::OneReadCounts() const {
  const bool has_many = sample_mask_.load(std::memory_order_relaxed) + 1 >= kSampleShareMax;
  const uint64_t dropped = fates_[1].dropped.load(std::memory_order_relaxed);
  const uint64_t came_back = fates_[1].came_back.load(std::memory_order_relaxed);
  const uint64_t unread_dropped = fates_[0].dropped.load(std::memory_order_relaxed);
  const uint64_t unread_came_back = fates_[0].came_back.load(std::memory_order_relaxed);
  if (dropped < (has_many ? kDropsMinOfMany : kDropsMin)) return has_many;
  // More than twice as often: what is carried keeps its place for a whole round of the main
  // generation.
  return came_back * unread_dropped > 2 * unread_came_back * dropped;
}

}  // namespace weft::cache
