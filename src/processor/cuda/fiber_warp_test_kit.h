// processor/cuda/fiber_warp_test_kit.h: the lanes of a warp on a CPU, for tests of the tuned tasks
// where there is no device.
//
// Each lane is a fiber that runs to its next verb, hands in its operand and lets the next lane run;
// when all 32 have, the verb is answered. Lanes that come to different verbs, or of which some end
// and some do not, are a mistake that a device may hang on: here it stops the program. Several
// warps take turns at random, verb by verb, so that what they do to shared words is interleaved.
//
// Threads: one.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <random>

#include "processor/cuda/tile_search.h"

namespace weft::processor::tile {

#ifdef WEFT_SANITIZED
inline constexpr bool kFibers = false;  // the sanitizers do not follow fibers
#else
inline constexpr bool kFibers = true;
#endif

// Runs the lanes of one warp.
class FiberRing {
 public:
  static constexpr u32 kLanes = 32;
  using Body = std::function<void(FiberRing& ring, u32 lane)>;

  explicit FiberRing(Body body);
  ~FiberRing();

  // Every lane runs to its next verb or its end. False: all have ended.
  bool Step();

  // Of the running lane: hands in an operand of the verb, returns when all lanes have.
  // `verb`: all lanes must come to the same.
  const std::array<u64, kLanes>& Meet(u32 verb, u64 operand);

 private:
  struct Fibers;
  static void Enter(u32 high, u32 low);
  void MakeFiber(u32 lane);

  const Body body_;
  std::unique_ptr<Fibers> fibers_;
  u32 running_ = 0;
  // A lane that runs ahead hands in its next operand while others still read this one's answers.
  std::array<std::array<u64, kLanes>, 2> operands_{};
  std::array<std::array<u32, kLanes>, 2> verbs_{};
  std::array<u32, kLanes> turns_{};
};

// Runs body(ring, lane, warp number) for `warps` warps, at most `at_once` of them interleaved.
void RunFiberWarps(u32 warps, u32 at_once, std::mt19937_64& random,
                   const std::function<void(FiberRing&, u32, u32)>& body);

// The verbs of CudaWarp (processor/cuda/cuda_warp.cuh has their contracts).
class FiberWarp {
 public:
  FiberWarp(FiberRing& ring, u32 lane) : ring_(&ring), lane_(lane) {}

  u32 lane() const { return lane_; }
  u32 TileBallot(bool predicate) const;
  u32 TileGet(u32 value, u32 from) const;
  u64 TileGet(u64 value, u32 from) const;
  u32 WarpGet(u32 value, u32 from) const;
  u64 WarpGet(u64 value, u32 from) const;
  u32 SumBelow(u32 amount) const;
  bool Any(bool predicate) const;
  u32 Max(u32 value) const;
  u64 Reserve(u64* counter, u32 amount) const;
  void Fence() const;
  void FullFence() const;

  static u64 Load(const void* at);
  static Words2 Load2(const void* at);
  static u64 LoadOnce(const u64* at) { return Load(at); }
  static Words2 LoadOnce2(const u64* at) { return Load2(at); }
  static void StoreOnce(u64* at, u64 word) { *at = word; }
  static void StoreOnce2(void* at, u64 low, u64 high);
  static bool Swap(u64* at, u64 expected, u64 desired);

 private:
  FiberRing* ring_;
  u32 lane_;
};

}  // namespace weft::processor::tile
