// base/test_seed.h: the seed of randomized tests.
//
// Threads   any.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace weft::base {

// The seed of this run: WEFT_SEED, or 1. Printed once, so that a failure can be run again.
inline uint64_t TestSeed() {
  static const uint64_t seed = [] {
    const char* const text = std::getenv("WEFT_SEED");
    const uint64_t value = text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
    std::printf("WEFT_SEED=%llu\n", static_cast<unsigned long long>(value));
    return value;
  }();
  return seed;
}

// A seed of its own for each place that draws: `own` in a run with WEFT_SEED=1, another otherwise.
inline uint64_t TestSeed(uint64_t own) { return own + (TestSeed() - 1) * 0x9E3779B97F4A7C15u; }

}  // namespace weft::base
