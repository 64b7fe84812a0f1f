// base/seed_test_kit.h: the seed of randomized tests, and how long they go on.
//
// Threads   any.
#pragma once

#include <algorithm>
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

// Rounds of a test that has many: a tenth in sanitized builds and with WEFT_SMALL=1, ten times with
// WEFT_LONG=1.
inline uint32_t Rounds(uint32_t rounds) {
  static const bool is_long = std::getenv("WEFT_LONG") != nullptr;
  static const bool is_small = std::getenv("WEFT_SMALL") != nullptr;
  if (is_small) return rounds / 10 + 1;
  if (is_long) return rounds * 10;
#ifdef WEFT_SANITIZED
  return rounds / 10 + 1;
#else
  return rounds;
#endif
}

// The distance of those of `all` that a test tries where it has many: 1, and more where Rounds()
// are fewer.
inline uint32_t Stride(uint32_t all) { return std::max(1u, all / Rounds(all)); }

}  // namespace weft::base
