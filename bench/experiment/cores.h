// bench/experiment/cores.h: which CPUs belong to one core, so that each thread can be kept on its
// own core.
//
// Threads   any.
// Errors    none: a CPU of which the system says nothing counts as a core.
#pragma once

#include <string>
#include <vector>

namespace weft::bench {

struct Cores {
  std::vector<int> cpus;  // one of each core first, then the others
  int count = 0;          // of cores
};

// The cores of `cpus`, by the system's `folder`, which has a folder for each CPU.
Cores CoresOf(const std::vector<int>& cpus, const std::string& folder = "/sys/devices/system/cpu");

// The mean number of `threads` on a core that has any: 1 if each has its own core.
double ThreadsOnACore(int threads, const Cores& cores);

}  // namespace weft::bench
