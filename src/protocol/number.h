// protocol/number.h: decimal numbers as memcached's clients may write them.
//
// memcached reads numbers with the C library: leading white space, a sign, and anything after
// white space inside the token are accepted; what does not fit 64 bits is not; a 32-bit number is
// then cut to its low half. Clients depend on little of that, but a drop-in has no choice.
// Threads   pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::protocol {

namespace internal {

// Any token by the rules above.
bool ParseAnyU64(std::string_view token, uint64_t* number);
bool ParseAnyI32(std::string_view token, int32_t* number);

// Up to nine plain digits, as nearly all numbers are; false for anything else.
inline bool ParseShort(std::string_view token, uint32_t* number) {
  if (token.empty() || token.size() > 9) return false;
  uint32_t value = 0;
  for (const char byte : token) {
    const uint32_t digit = static_cast<unsigned char>(byte) - uint32_t{'0'};
    if (digit > 9) return false;
    value = value * 10 + digit;
  }
  *number = value;
  return true;
}

}  // namespace internal

// Each is false, with `number` untouched, where the token is no such number.
inline bool ParseU64(std::string_view token, uint64_t* number) {
  uint32_t small = 0;
  if (!internal::ParseShort(token, &small)) return internal::ParseAnyU64(token, number);
  *number = small;
  return true;
}

inline bool ParseU32(std::string_view token, uint32_t* number) {
  uint64_t wide = 0;
  if (!ParseU64(token, &wide)) return false;
  *number = static_cast<uint32_t>(wide);
  return true;
}

inline bool ParseI32(std::string_view token, int32_t* number) {
  uint32_t small = 0;
  if (!internal::ParseShort(token, &small)) return internal::ParseAnyI32(token, number);
  *number = static_cast<int32_t>(small);
  return true;
}

}  // namespace weft::protocol
