#include "bench/experiment/cores.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "bench/harness/machine.h"

namespace weft::bench {

Cores CoresOf(const std::vector<int>& cpus, const std::string& folder) {
  Cores cores;
  std::set<std::string> seen;
  std::vector<int> others;
  for (const int cpu : cpus) {
    const std::string siblings =
        ReadLine(fmt::format("{}/cpu{}/topology/thread_siblings_list", folder, cpu));
    const bool is_first = siblings.empty() || seen.insert(siblings).second;
    (is_first ? cores.cpus : others).push_back(cpu);
  }
  cores.count = static_cast<int>(cores.cpus.size());
  cores.cpus.insert(cores.cpus.end(), others.begin(), others.end());
  return cores;
}

double ThreadsOnACore(int threads, const Cores& cores) {
  // More threads than CPUs take turns.
  const int at_once = std::min(threads, static_cast<int>(cores.cpus.size()));
  return cores.count == 0 ? 1 : std::max(1.0, static_cast<double>(at_once) / cores.count);
}

}  // namespace weft::bench
