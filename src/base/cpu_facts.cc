#include "base/cpu_facts.h"

#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string_view>

namespace weft::base {

namespace {

// What stands behind "name : " in a line of it.
bool TakeValue(const std::string& line, std::string_view name, std::string* value) {
  if (!line.starts_with(name)) return false;
  const size_t colon = line.find(": ");
  if (colon == std::string::npos) return false;
  *value = line.substr(colon + 2);
  return true;
}

}  // namespace

std::string CpuModel(const std::string& cpuinfo) {
  std::ifstream file(cpuinfo);
  std::string model, implementer, part;
  for (std::string line; std::getline(file, line);) {
    if (TakeValue(line, "model name", &model)) return model;
    TakeValue(line, "CPU implementer", &implementer);
    if (TakeValue(line, "CPU part", &part) && !implementer.empty())
      return "ARM implementer " + implementer + " part " + part;
  }
  return "";
}

uint64_t LastCacheBytes() {
  for (const int level : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    const long bytes = ::sysconf(level);
    if (bytes > 0) return static_cast<uint64_t>(bytes);
  }
  return LastCacheBytesIn("/sys/devices/system/cpu/cpu0/cache");
}

uint64_t LastCacheBytesIn(const std::string& folder) {
  uint64_t last_bytes = 0;
  int last_level = 0;
  for (int i = 0;; i++) {
    const std::string index = folder + "/index" + std::to_string(i);
    int level = 0;
    if (!(std::ifstream(index + "/level") >> level)) return last_bytes;
    std::string size;  // "32768K"
    uint64_t kib = 0;
    if (level <= last_level || !(std::ifstream(index + "/size") >> size) ||
        std::sscanf(size.c_str(), "%" SCNu64, &kib) != 1)
      continue;
    last_level = level;
    last_bytes = kib * 1024;
  }
}

}  // namespace weft::base
