#include "base/decimal.h"

#include <algorithm>

namespace weft::base {
namespace {

bool IsSpace(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

uint32_t Digit(char byte) { return static_cast<unsigned char>(byte) - uint32_t{'0'}; }

}  // namespace

bool ReadDecimal(std::string_view text, Decimal* decimal, TextEnd ends) {
  size_t i = 0;
  while (i < text.size() && IsSpace(text[i])) ++i;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) {
    decimal->negative = text[i] == '-';
    ++i;
  }
  const size_t first_digit = i;
  // A value may begin with a million zeros. They cost less here than as digits.
  i = std::min(text.find_first_not_of('0', i), text.size());
  uint64_t magnitude = 0;
  bool fits = true;
  for (; i < text.size() && Digit(text[i]) <= 9; ++i) {
    uint64_t shifted = 0;
    fits = !__builtin_mul_overflow(magnitude, uint64_t{10}, &shifted) &&
           !__builtin_add_overflow(shifted, uint64_t{Digit(text[i])}, &magnitude);
    if (!fits) break;
  }
  decimal->magnitude = magnitude;
  decimal->read_bytes = std::min(i + 1, text.size());
  if (!fits || i == first_digit) return false;
  return i == text.size() || IsSpace(text[i]) || (ends == TextEnd::kNul && text[i] == '\0');
}

bool ReadUnsigned(std::string_view text, Decimal* decimal, TextEnd ends) {
  if (!ReadDecimal(text, decimal, ends)) return false;
  if ((decimal->Wrapped() >> 63) == 0) return true;
  if (ends == TextEnd::kNul) text = text.substr(0, text.find('\0'));
  decimal->read_bytes = text.size();
  return text.find('-') == std::string_view::npos;
}

}  // namespace weft::base
