// bench/experiment/cores.h: which CPUs belong to one core, so that threads can be kept on a core
// each.
//
// Threads   any.
// Errors    what the system does not tell counts as a core of its own.
#pragma once

#include <string>
#include <vector>

namespace weft::bench {

struct Cores {
  std::vector<int> cpus;  // one of each core first, then the others
  int count = 0;          // of cores
};

// Of `cpus`, by the `folder` of the system that has a folder a CPU.
Cores CoresOf(const std::vector<int>& cpus, const std::string& folder = "/sys/devices/system/cpu");

// The mean number of `threads` on a core that has any: 1 where they have a core each.
double ThreadsOnACore(int threads, const Cores& cores);

}  // namespace weft::bench
