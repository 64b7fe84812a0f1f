// bench/workload/key_text.h: what the keys of records are made of: numbers scattered by a
// permutation, and hexadecimal digits.
//
// Threads   functions without state.
// Cost      two multiplications a permutation; eight vector instructions for sixteen digits.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace weft::bench {

// Sixteen characters, in a vector register.
using Text16 = signed char __attribute__((vector_size(16)));

// The digits of a word, the high one first.
inline Text16 HexDigits(uint64_t word) {
  static_assert(std::endian::native == std::endian::little, "the word is byte-swapped");
  using Bytes = unsigned char __attribute__((vector_size(16)));
  using Words = uint64_t __attribute__((vector_size(16)));
  const auto pairs = std::bit_cast<Bytes>(Words{__builtin_bswap64(word), 0});
  const Bytes high = pairs >> 4;
  const Bytes low = pairs & 0xf;
  const auto digits = std::bit_cast<Text16>(
      __builtin_shufflevector(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
  return digits + '0' + ((digits > 9) & ('a' - '0' - 10));
}

inline Text16 LoadText(const char* at) {
  Text16 text;
  std::memcpy(&text, at, sizeof(text));
  return text;
}
inline bool IsZero(Text16 text) {
  using Words = uint64_t __attribute__((vector_size(16)));
  const auto words = std::bit_cast<Words>(text);
  return (words[0] | words[1]) == 0;
}

// Permutations of the words and their inverses: multiplications by an odd number around an exchange
// of halves.
inline constexpr uint64_t kScatterFactor = 0x9e3779b97f4a7c15u;
inline constexpr uint64_t kGatherFactor = 0xf1de83e19937733du;
static_assert(kScatterFactor * kGatherFactor == 1);
inline constexpr uint32_t kShortScatterFactor = 0x9e3779b1u;
inline constexpr uint32_t kShortGatherFactor = 0x0e8b2f51u;
static_assert(kShortScatterFactor * kShortGatherFactor == 1u);

template <typename Word>
Word Permuted(Word word, Word factor) {
  word *= factor;
  word ^= word >> 4 * sizeof(Word);
  return word * factor;
}
inline uint64_t Scatter(uint64_t number) { return Permuted(number, kScatterFactor); }
inline uint64_t Gather(uint64_t scattered) { return Permuted(scattered, kGatherFactor); }
inline uint32_t ScatterShort(uint32_t number) { return Permuted(number, kShortScatterFactor); }
inline uint32_t GatherShort(uint32_t scattered) { return Permuted(scattered, kShortGatherFactor); }

}  // namespace weft::bench
