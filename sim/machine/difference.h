// sim/machine/difference.h: what was counted between two points in time.
//
// Threads   pure.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace weft::sim {

// Field by field, of structs that have nothing but int64_t counts.
template <typename Counts>
Counts Difference(const Counts& later, const Counts& earlier) {
  static_assert(std::is_trivially_copyable_v<Counts> && sizeof(Counts) % sizeof(int64_t) == 0);
  using Words = std::array<int64_t, sizeof(Counts) / sizeof(int64_t)>;
  Words words = std::bit_cast<Words>(later);
  const Words minus = std::bit_cast<Words>(earlier);
  for (size_t i = 0; i < words.size(); ++i) words[i] -= minus[i];
  return std::bit_cast<Counts>(words);
}

}  // namespace weft::sim
