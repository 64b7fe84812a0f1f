#include "protocol/number.h"

#include <limits>

namespace weft::protocol::internal {
namespace {

struct Decimal {
  uint64_t magnitude = 0;
  bool negative = false;
};

bool IsSpace(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

uint32_t Digit(char byte) { return static_cast<unsigned char>(byte) - uint32_t{'0'}; }

bool ReadDecimal(std::string_view token, Decimal* decimal) {
  size_t i = 0;
  while (i < token.size() && IsSpace(token[i])) ++i;
  if (i < token.size() && (token[i] == '-' || token[i] == '+')) {
    decimal->negative = token[i] == '-';
    ++i;
  }
  const size_t first_digit = i;
  uint64_t magnitude = 0;
  bool fits = true;
  for (; i < token.size() && Digit(token[i]) <= 9; ++i) {
    uint64_t shifted = 0;
    fits &= !__builtin_mul_overflow(magnitude, uint64_t{10}, &shifted);
    fits &= !__builtin_add_overflow(shifted, uint64_t{Digit(token[i])}, &magnitude);
  }
  decimal->magnitude = magnitude;
  return fits && i != first_digit && (i == token.size() || IsSpace(token[i]));
}

}  // namespace

bool ParseAnyU64(std::string_view token, uint64_t* number) {
  Decimal decimal;
  if (!ReadDecimal(token, &decimal)) return false;
  const uint64_t value = decimal.negative ? 0 - decimal.magnitude : decimal.magnitude;
  // A minus sign wraps, as in C; only results that would then look negative are refused.
  if ((value >> 63) != 0 && token.find('-') != std::string_view::npos) return false;
  *number = value;
  return true;
}

bool ParseAnyI32(std::string_view token, int32_t* number) {
  Decimal decimal;
  if (!ReadDecimal(token, &decimal)) return false;
  constexpr uint64_t kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (decimal.magnitude > kMost + (decimal.negative ? 1 : 0)) return false;
  const uint64_t value = decimal.negative ? 0 - decimal.magnitude : decimal.magnitude;
  *number = static_cast<int32_t>(static_cast<uint32_t>(value));
  return true;
}

}  // namespace weft::protocol::internal
