// bench/meter/meter.h: the interface of all meters, which start before a run and report afterwards
// what it took.
//
// A meter is always there; if the machine lacks what it reads, its readings say why.
//
// Threads   one owner. Start, Sample and Stop come from one thread.
// Cost      Sample is called each slice of a run, some ten times a second at most; meters that can
//           wait for Stop do nothing in it.
#pragma once

#include <sys/types.h>

#include <vector>

#include "bench/meter/reading.h"

namespace weft::bench {

class Meter {
 public:
  virtual ~Meter() = default;
  // Begins to measure these processes and their children; meters of the whole machine ignore them.
  virtual void Start(const std::vector<pid_t>& pids) = 0;
  // Looks before something gets lost: when a thread ends, or a counter begins anew.
  virtual void Sample() {}
  // What was used since Start.
  virtual Readings Stop() = 0;
};

}  // namespace weft::bench
