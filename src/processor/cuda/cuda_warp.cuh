// processor/cuda/cuda_warp.cuh: the lanes of a warp in step, and its ways to memory, on a device.
//
// The verbs that processor/cuda/tile_tasks.h is written over. FiberWarp
// (processor/cuda/fiber_warp_test_kit.h) has the same ones for a CPU. A tile is eight lanes that
// serve one bucket; a warp is four tiles.
//
// Threads   all 32 lanes of a warp call the verbs marked (together) at once.
// Memory    loads marked shared see what other multiprocessors wrote in the same launch: they go
//           past the first-level cache. Device scope is enough: the table lies in this device.
#pragma once

#include "processor/cuda/tile_search.h"

namespace weft::processor::tile {

class CudaWarp {
 public:
  __device__ __forceinline__ u32 lane() const { return threadIdx.x & 31; }

  // (together) Bit i: the predicate of lane i of the caller's tile.
  __device__ __forceinline__ u32 TileBallot(bool predicate) const {
    return (__ballot_sync(kAll, predicate) >> (threadIdx.x & 24)) & 0xff;
  }
  // (together) The value of lane `from` of the caller's tile.
  __device__ __forceinline__ u32 TileGet(u32 value, u32 from) const {
    return __shfl_sync(kAll, value, static_cast<int>(from), 8);
  }
  __device__ __forceinline__ u64 TileGet(u64 value, u32 from) const {
    return __shfl_sync(kAll, value, static_cast<int>(from), 8);
  }
  // (together) The value of lane `from` of the warp.
  __device__ __forceinline__ u32 WarpGet(u32 value, u32 from) const {
    return __shfl_sync(kAll, value, static_cast<int>(from));
  }
  __device__ __forceinline__ u64 WarpGet(u64 value, u32 from) const {
    return __shfl_sync(kAll, value, static_cast<int>(from));
  }
  // (together) The sum of the amounts of all lanes below the caller's.
  __device__ __forceinline__ u32 SumBelow(u32 amount) const {
    u32 sum = amount;
    for (u32 step = 1; step < 32; step *= 2) {
      const u32 before = __shfl_up_sync(kAll, sum, step);
      if (lane() >= step) sum += before;
    }
    return sum - amount;
  }
  // (together) Over the warp.
  __device__ __forceinline__ bool Any(bool predicate) const {
    return __any_sync(kAll, predicate) != 0;
  }
  __device__ __forceinline__ u32 Max(u32 value) const { return __reduce_max_sync(kAll, value); }
  // (together) Adds the amounts of all lanes to the counter; each gets the start of its own part.
  // One atomic access a warp, none where nobody wants anything.
  __device__ __forceinline__ u64 Reserve(u64* counter, u32 amount) const {
    const u32 below = SumBelow(amount);
    const u32 total = __shfl_sync(kAll, below + amount, 31);
    u64 start = 0;
    if (total != 0) {
      if (lane() == 31)
        asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;"
                     : "=l"(start)
                     : "l"(__cvta_generic_to_global(counter)), "l"(static_cast<u64>(total))
                     : "memory");
      start = __shfl_sync(kAll, start, 31);
    }
    return start + below;
  }
  // (together) What any lane read before is older, and what any wrote before is seen earlier, than
  // what any lane does after it.
  __device__ __forceinline__ void Fence() const {
    __syncwarp();
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    __syncwarp();
  }
  // (together) The same, and no load after it is older than a write before it.
  __device__ __forceinline__ void FullFence() const {
    __syncwarp();
    asm volatile("fence.sc.gpu;" ::: "memory");
    __syncwarp();
  }

  // Shared loads.
  static __device__ __forceinline__ u64 Load(const void* at) {
    u64 word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                 : "=l"(word)
                 : "l"(__cvta_generic_to_global(at)));
    return word;
  }
  // REQUIRES: a multiple of 16
  static __device__ __forceinline__ Words2 Load2(const void* at) {
    Words2 words;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(words.low), "=l"(words.high)
                 : "l"(__cvta_generic_to_global(at)));
    return words;
  }
  // Loads of what nobody writes in the launch and nobody reads twice.
  static __device__ __forceinline__ u64 LoadOnce(const u64* at) { return __ldcs(at); }
  // REQUIRES: a multiple of 16
  static __device__ __forceinline__ Words2 LoadOnce2(const u64* at) {
    const ulonglong2 words = __ldcs(reinterpret_cast<const ulonglong2*>(at));
    return {words.x, words.y};
  }
  // Stores that nobody reads again soon.
  static __device__ __forceinline__ void StoreOnce(u64* at, u64 word) { __stcs(at, word); }
  static __device__ __forceinline__ void StoreOnce2(void* at, u64 low, u64 high) {
    __stcs(static_cast<ulonglong2*>(at), make_ulonglong2(low, high));
  }
  // Replaces `expected` by `desired` where it stands. Orders nothing by itself.
  static __device__ __forceinline__ bool Swap(u64* at, u64 expected, u64 desired) {
    u64 seen;
    asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(seen)
                 : "l"(__cvta_generic_to_global(at)), "l"(expected), "l"(desired)
                 : "memory");
    return seen == expected;
  }

 private:
  static constexpr unsigned kAll = 0xffffffffu;
};

}  // namespace weft::processor::tile
