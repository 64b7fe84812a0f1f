#include "base/decimal.h"

#include <cstddef>

namespace weft::base {
namespace {

bool IsSpace(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

uint32_t Digit(char byte) { return static_cast<unsigned char>(byte) - uint32_t{'0'}; }

}  // namespace

bool ReadDecimal(std::string_view text, Decimal* decimal) {
  size_t i = 0;
  while (i < text.size() && IsSpace(text[i])) ++i;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) {
    decimal->negative = text[i] == '-';
    ++i;
  }
  const size_t first_digit = i;
  uint64_t magnitude = 0;
  bool fits = true;
  for (; i < text.size() && Digit(text[i]) <= 9; ++i) {
    uint64_t shifted = 0;
    fits &= !__builtin_mul_overflow(magnitude, uint64_t{10}, &shifted);
    fits &= !__builtin_add_overflow(shifted, uint64_t{Digit(text[i])}, &magnitude);
  }
  decimal->magnitude = magnitude;
  return fits && i != first_digit && (i == text.size() || IsSpace(text[i]));
}

bool ReadUnsigned(std::string_view text, uint64_t* number) {
  Decimal decimal;
  if (!ReadDecimal(text, &decimal)) return false;
  const uint64_t value = decimal.Wrapped();
  if ((value >> 63) != 0 && text.find('-') != std::string_view::npos) return false;
  *number = value;
  return true;
}

}  // namespace weft::base
