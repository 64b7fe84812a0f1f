#include "base/system_memory.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

namespace weft::base {
namespace {

// A figure in a file of the system's; UINT64_MAX where there is none, or it says "max".
uint64_t FigureIn(const char* path, std::string_view name = {}) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    if (!name.empty() && word != name) continue;
    uint64_t figure = 0;
    if (name.empty() ? std::sscanf(word.c_str(), "%" SCNu64, &figure) == 1
                     : static_cast<bool>(file >> figure))
      return figure;
    return UINT64_MAX;
  }
  return UINT64_MAX;
}

}  // namespace

uint64_t MemoryToBeHad() {
  const uint64_t system_kb = FigureIn("/proc/meminfo", "MemAvailable:");
  const uint64_t system = system_kb == UINT64_MAX ? 0 : system_kb * 1024;
  const uint64_t limit = FigureIn("/sys/fs/cgroup/memory.max");
  const uint64_t used = FigureIn("/sys/fs/cgroup/memory.current");
  if (limit == UINT64_MAX || used == UINT64_MAX) return system;
  return std::min(system, limit > used ? limit - used : 0);
}

}  // namespace weft::base
