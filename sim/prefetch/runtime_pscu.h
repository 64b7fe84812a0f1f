// sim/prefetch/runtime_pscu.h: reads the size in the object's first line, and then fetches the
// rest. It may fetch a few lines at once before it knows whether the object has so many.
//
// Assumed: the size is in the first line even if the object begins at its end.
//
// Threads   one owner.
// Source    paper 004, section 3.4; the simulator's specification, section 1.3.
#pragma once

#include "sim/prefetch/pscu.h"

namespace weft::sim {

class RuntimePscu final : public Pscu {
 public:
  // REQUIRES: first_lines > 0
  RuntimePscu(int first_lines, Time latency)
      : first_lines_(static_cast<uint64_t>(first_lines)), latency_(latency) {}

  uint64_t LinesAtOnce(const TableSlot& /*object*/) const override { return first_lines_; }
  std::optional<Time> size_latency() const override { return latency_; }

 private:
  const uint64_t first_lines_;
  const Time latency_;
};

}  // namespace weft::sim
