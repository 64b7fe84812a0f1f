// sim/trace/decimal.h: a fraction in decimal digits, and nothing else.
//
// Threads   pure.
#pragma once

#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

namespace weft::sim {

// Is `word` a finite number? Then it is in `number`.
inline bool ParseDecimal(std::string_view word, double& number) {
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  return error == std::errc() && stop == end && std::isfinite(number);
}

}  // namespace weft::sim
