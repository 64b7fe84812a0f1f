// base/random.h: fast, seeded randomness. Same seed, same sequence, on every machine.
//
// Threads   Mix is pure, and a GPU's threads may call it. Random: one generator a thread.
// Cost      two multiplications a draw.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace weft::base {

// What each draw adds to the state. Odd, so that all states have their turn.
inline constexpr uint64_t kRandomStep = 0x9e3779b97f4a7c15u;

// A bijective mix of 64 bits (the finaliser of splitmix64, S. Vigna, public domain).
WEFT_HOST_DEVICE inline uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(Mix(seed + kRandomStep)) {}

  uint64_t Next() { return Mix(state_ += kRandomStep); }
  // Uniform below `n`. The bias is under n / 2^64.
  uint64_t Below(uint64_t n) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * n) >> 64);
  }
  // Uniform in [0, 1).
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

}  // namespace weft::base
