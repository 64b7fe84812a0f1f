// sim/base/text_test_kit.h: what a file contains, for tests.
//
// Threads   any.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

namespace weft::sim {

// "" if there is no such file.
inline std::string TextOf(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace weft::sim
