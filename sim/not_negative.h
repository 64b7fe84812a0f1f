// sim/not_negative.h: what checks options of 64 bits without a sign: CLI11 takes -1 for the largest
// of them.
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
