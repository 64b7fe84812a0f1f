// base/parse_number.h: texts that are a number and nothing else.
//
// Form      as std::from_chars reads it: no blanks, no '+', a '-' only where the type has a sign.
//           base/decimal.h reads numbers as the C library does.
// Threads   pure.
// Errors    false where the text is no such number, or one that does not fit; *number then stays.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <string_view>
#include <system_error>

namespace weft::base {

// Whole numbers, in digits of `radix`.
template <std::integral Number>
bool ParseNumber(std::string_view text, Number* number, int radix = 10) {
  const char* const end = text.data() + text.size();
  Number value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value, radix);
  if (error != std::errc() || stop != end) return false;
  *number = value;
  return true;
}

// Decimal fractions, with an exponent or without. "inf" and "nan" are numbers, too.
template <std::floating_point Number>
bool ParseNumber(std::string_view text, Number* number) {
  const char* const end = text.data() + text.size();
  Number value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return false;
  *number = value;
  return true;
}

// The same, without "inf" and "nan".
inline bool ParseFinite(std::string_view text, double* number) {
  double value = 0;
  if (!ParseNumber(text, &value) || !std::isfinite(value)) return false;
  *number = value;
  return true;
}

}  // namespace weft::base
