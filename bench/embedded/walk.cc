#include "bench/embedded/walk.h"

#include <algorithm>
#include <bit>

#include "bench/defaults.h"

namespace weft::bench {
namespace {

constexpr uint32_t kSlots = 8;
constexpr uint32_t kObjectWords = defaults::kWalkObjectBytes / 8;
constexpr double kLoadMax = 0.85;

uint64_t BucketsFor(uint64_t objects) {
  return std::bit_ceil(static_cast<uint64_t>(static_cast<double>(objects) / kSlots / kLoadMax) + 1);
}

}  // namespace

Walk::Walk(uint64_t objects, bool huge_pages, uint64_t seed)
    : mask_(BucketsFor(objects) - 1),
      buckets_((mask_ + 1) * kSlots, huge_pages),
      object_words_(objects * kObjectWords, huge_pages) {
  Random random(seed);
  for (uint64_t& slot : buckets_.words()) slot = random.Below(objects) * kObjectWords;
  uint64_t word = 0;
  for (uint64_t& content : object_words_.words()) content = word++;
}

void Walk::RunBatch(std::span<const uint32_t> ids, uint64_t* sum) const {
  const uint64_t* slot[kWalkBatchMax];
  const uint64_t* object[kWalkBatchMax];
  const size_t count = ids.size();
  for (size_t i = 0; i < count; ++i) {
    const uint64_t hash = Mix(ids[i]);
    slot[i] = buckets_.data() + (hash & mask_) * kSlots + (hash >> 61);
    __builtin_prefetch(slot[i]);
  }
  for (size_t i = 0; i < count; ++i) {
    object[i] = object_words_.data() + *slot[i];
    __builtin_prefetch(object[i]);
    __builtin_prefetch(object[i] + kObjectWords - 1);
  }
  uint64_t total = 0;
  for (size_t i = 0; i < count; ++i)
    for (uint32_t word = 0; word < kObjectWords; ++word) total += object[i][word];
  *sum += total;
}

uint64_t Walk::Run(std::span<const uint32_t> ids, uint32_t batch) const {
  uint64_t sum = 0;
  for (size_t at = 0; at < ids.size(); at += batch)
    RunBatch(ids.subspan(at, std::min<size_t>(batch, ids.size() - at)), &sum);
  return sum;
}

}  // namespace weft::bench
