// sim/base/not_negative.h: checks 64-bit options without a sign, because CLI11 takes -1 for the
// largest value.
//
// Threads   pure.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace weft::sim {

inline CLI::Validator NotNegative() {
  return CLI::Validator(
      [](const std::string& text) { return text.starts_with('-') ? text + " is negative" : ""; },
      "");
}

}  // namespace weft::sim
