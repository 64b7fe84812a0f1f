// server/options_test_kit.h: command lines of `weft serve` for tests. Not for programs.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/options.h"

namespace weft::server {

// The options of a line that must be accepted.
inline ServerOptions Accepted(std::vector<std::string> flags) {
  Result<ParsedOptions> parsed = ParseOptions(flags);
  EXPECT_TRUE(parsed.has_value()) << testing::PrintToString(flags) << ": "
                                  << (parsed ? "" : parsed.error().ToString());
  return parsed ? parsed->server : ServerOptions();
}

// What is said of one that must not.
inline std::string Complaint(std::vector<std::string> flags) {
  Result<ParsedOptions> parsed = ParseOptions(flags);
  EXPECT_FALSE(parsed.has_value()) << testing::PrintToString(flags);
  return parsed ? "" : std::string(parsed.error().message());
}

}  // namespace weft::server
