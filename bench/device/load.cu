#include "bench/device/load.h"

#include "base/cuda/cuda_status.h"
#include "base/random.h"

namespace weft::bench {
namespace {

using base::LaunchStatus;

constexpr uint32_t kLanes = 256;
constexpr uint64_t kOdd = base::kRandomStep;

uint32_t BlocksFor(uint64_t lanes) { return static_cast<uint32_t>((lanes + kLanes - 1) / kLanes); }

// A permutation of [0, ids): of the next power of two, followed until it lands inside.
__device__ uint64_t Permuted(uint64_t x, uint64_t ids, uint64_t seed) {
  const int bits = ids < 2 ? 1 : 64 - __clzll(static_cast<long long>(ids - 1));
  const uint64_t mask = bits == 64 ? ~0ul : (1ul << bits) - 1;
  const int shift = (bits + 1) / 2;
  do {
    for (int round = 0; round < 3; round++) {
      x = (x * (base::Mix(seed + static_cast<uint64_t>(round)) | 1)) & mask;
      x ^= x >> shift;
    }
  } while (x >= ids);
  return x;
}

__device__ uint64_t IdOf(const LoadSpec& spec, uint32_t i) {
  uint64_t id;
  if (spec.draw == Draw::kPermuted) {
    id = Permuted((spec.offset + i) % spec.ids, spec.ids, spec.seed);
  } else {
    id = __umul64hi(base::Mix(spec.seed ^ base::Mix(spec.offset + i)), spec.ids);
  }
  const bool misses = base::Mix(id ^ spec.offset ^ (spec.seed + i)) % 1000 < spec.miss_permille;
  return misses ? id + spec.ids : id;
}

__device__ uint64_t FirstKeyWord(uint64_t id) { return base::Mix(id * 2 + 1); }
__device__ uint64_t KeyWord(uint64_t first, uint32_t word) {
  return word == 0 ? first : base::Mix(first + word);
}
__device__ uint64_t HashOf(uint64_t first) { return base::Mix(first ^ kOdd); }
__device__ uint64_t ValueWord(uint64_t first, uint32_t word, uint8_t version) {
  const uint64_t value = base::Mix(first + (word + 1) * kOdd);
  return word == 0 ? (value & ~0xfful) | version : value;
}

__device__ uint8_t WantedOf(const LoadSpec& spec, uint64_t id) {
  const bool writes = base::Mix(id + spec.seed * kOdd) % 1000 < spec.write_permille;
  return writes ? spec.write_kind : spec.read_kind;
}

__global__ void QueryKernel(LoadSpec spec, LoadArrays to) {
  const uint32_t i = blockIdx.x * kLanes + threadIdx.x;
  if (i >= spec.count) return;
  const uint64_t id = IdOf(spec, i);
  const uint64_t first = FirstKeyWord(id);
  if (to.hash != nullptr) to.hash[i] = HashOf(first);
  if (to.wanted != nullptr) to.wanted[i] = WantedOf(spec, id);
  if (to.key_at != nullptr) to.key_at[i] = i * spec.key_words * 8;
  if (to.key_bytes != nullptr) to.key_bytes[i] = static_cast<uint8_t>(spec.key_words * 8);
  if (to.keys == nullptr) return;
  for (uint32_t word = 0; word < spec.key_words; word++)
    to.keys[static_cast<uint64_t>(i) * spec.key_words + word] = KeyWord(first, word);
}

__global__ void ValueKernel(LoadSpec spec, uint64_t* values) {
  const uint64_t n = static_cast<uint64_t>(blockIdx.x) * kLanes + threadIdx.x;
  if (n >= static_cast<uint64_t>(spec.count) * spec.value_words) return;
  const uint64_t first = FirstKeyWord(IdOf(spec, static_cast<uint32_t>(n / spec.value_words)));
  values[n] = ValueWord(first, static_cast<uint32_t>(n % spec.value_words), spec.version);
}

// Whether the candidate that Search gave has the key, or one with the same tag. One key in some
// thousands shares its tag with another in its buckets.
__device__ bool RightCandidate(const LoadSpec& spec, const LoadAnswers& answers, uint64_t word,
                               uint64_t first) {
  if (task::SlotTag(word) != task::TagOfHash(HashOf(first))) return false;
  const auto* object =
      reinterpret_cast<const uint64_t*>(answers.log + task::SlotLocation(word) * 8);
  return task::KeyBytes(static_cast<uint32_t>(object[0])) == spec.key_words * 8;
}

__device__ bool RightValue(const LoadSpec& spec, const LoadAnswers& answers, uint32_t i,
                           uint64_t first) {
  const uint64_t at = answers.value_at != nullptr ? answers.value_at[i]
                                                  : static_cast<uint64_t>(i) * answers.value_stride;
  const uint64_t* record = answers.values + at;
  if (record[0] != static_cast<uint64_t>(spec.value_words) * 8 << 32) return false;
  uint64_t difference = 0;
  for (uint32_t word = 0; word < spec.value_words; word++) {
    uint64_t differs = record[1 + word] ^ ValueWord(first, word, spec.version);
    if (word == 0 && !answers.check_version) differs &= ~0xfful;
    difference |= differs;
  }
  return difference == 0;
}

// Adds a lane's count to its warp's, and that to memory.
__device__ void Count(uint64_t* at, bool counts) {
  const unsigned who = __ballot_sync(0xffffffffu, counts);
  if ((threadIdx.x & 31) == 0 && who != 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(at),
              static_cast<unsigned long long>(__popc(who)));
}

__global__ void CheckKernel(LoadSpec spec, LoadAnswers answers, LoadCounts* counts) {
  const uint32_t i = blockIdx.x * kLanes + threadIdx.x;
  bool hit = false, miss = false, stored = false, deleted = false, refused = false, wrong = false;
  if (i < spec.count) {
    const uint64_t id = IdOf(spec, i);
    const uint64_t first = FirstKeyWord(id);
    const bool there = id < spec.ids && !answers.all_gone;
    const uint32_t wanted = WantedOf(spec, id);
    if (wanted == kWantsNothing) {
      // nothing was asked
    } else if (answers.result == nullptr) {
      const uint64_t word = answers.word[i];
      hit = word != 0;
      miss = word == 0;
      wrong = there ? !hit : false;
      if (hit && !RightCandidate(spec, answers, word, first)) wrong = true;
    } else if (wanted == kWantsStore) {
      stored = answers.result[i] == kResultStored;
      refused = !stored;
    } else if (wanted == kWantsDelete) {
      deleted = answers.result[i] == kResultDeleted;
      refused = !deleted;
    } else if (!there) {
      miss = answers.result[i] == kResultMissed;
      wrong = !miss;
    } else if (answers.values == nullptr) {
      hit = answers.result[i] == kResultFound;
      wrong = !hit;
    } else {
      hit = answers.result[i] == kResultRead && RightValue(spec, answers, i, first);
      wrong = !hit;
    }
  }
  Count(&counts->hits, hit);
  Count(&counts->misses, miss);
  Count(&counts->stored, stored);
  Count(&counts->deleted, deleted);
  Count(&counts->refused, refused);
  Count(&counts->wrong, wrong);
}

}  // namespace

Status MakeBatch(const LoadSpec& spec, const LoadArrays& to, processor::CudaStream stream) {
  QueryKernel<<<BlocksFor(spec.count), kLanes, 0, stream>>>(spec, to);
  Status status = LaunchStatus("QueryKernel", __FILE__, __LINE__);
  if (!status.ok() || to.values == nullptr) return status;
  const uint64_t words = static_cast<uint64_t>(spec.count) * spec.value_words;
  ValueKernel<<<BlocksFor(words), kLanes, 0, stream>>>(spec, to.values);
  return LaunchStatus("ValueKernel", __FILE__, __LINE__);
}

Status CheckBatch(const LoadSpec& spec, const LoadAnswers& answers, LoadCounts* counts,
                  processor::CudaStream stream) {
  CheckKernel<<<BlocksFor(spec.count), kLanes, 0, stream>>>(spec, answers, counts);
  return LaunchStatus("CheckKernel", __FILE__, __LINE__);
}

}  // namespace weft::bench
