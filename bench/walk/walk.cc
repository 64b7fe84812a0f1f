#include "bench/walk/walk.h"

#include <algorithm>
#include <bit>

namespace weft::bench {
namespace {

constexpr uint32_t kSlots = 8;
constexpr double kLoadMax = 0.85;
constexpr uint32_t kUsualWords = 12;  // of objects of 96 bytes: a loop of known length

uint64_t BucketsFor(uint64_t objects) {
  return std::bit_ceil(static_cast<uint64_t>(static_cast<double>(objects) / kSlots / kLoadMax) + 1);
}

}  // namespace

uint64_t Walk::BytesFor(uint64_t objects, uint32_t object_bytes) {
  return BucketsFor(objects) * kSlots * sizeof(uint64_t) + objects * object_bytes;
}

Walk::Walk(uint64_t objects, uint32_t object_bytes, bool huge_pages, uint64_t seed)
    : mask_(BucketsFor(objects) - 1),
      words_(object_bytes / sizeof(uint64_t)),
      buckets_((mask_ + 1) * kSlots, huge_pages),
      object_words_(objects * words_, huge_pages) {
  base::Random random(seed);
  for (uint64_t& slot : buckets_.words()) slot = random.Below(objects) * words_;
  uint64_t word = 0;
  for (uint64_t& content : object_words_.words()) content = word++;
}

template <uint32_t kWords>
void Walk::RunBatch(std::span<const uint32_t> ids, uint64_t* sum) const {
  const uint64_t* slot[kWalkBatchMax];
  const uint64_t* object[kWalkBatchMax];
  const size_t count = ids.size();
  const uint32_t words = kWords == 0 ? words_ : kWords;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t hash = base::Mix(ids[i]);
    slot[i] = buckets_.data() + (hash & mask_) * kSlots + (hash >> 61);
    __builtin_prefetch(slot[i]);
  }
  for (size_t i = 0; i < count; ++i) {
    object[i] = object_words_.data() + *slot[i];
    __builtin_prefetch(object[i]);
    __builtin_prefetch(object[i] + words - 1);
  }
  uint64_t total = 0;
  for (size_t i = 0; i < count; ++i)
    for (uint32_t word = 0; word < words; ++word) total += object[i][word];
  *sum += total;
}

uint64_t Walk::Run(std::span<const uint32_t> ids, uint32_t batch) const {
  uint64_t sum = 0;
  for (size_t at = 0; at < ids.size(); at += batch) {
    const auto some = ids.subspan(at, std::min<size_t>(batch, ids.size() - at));
    words_ == kUsualWords ? RunBatch<kUsualWords>(some, &sum) : RunBatch<0>(some, &sum);
  }
  return sum;
}

}  // namespace weft::bench
