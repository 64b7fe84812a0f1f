// sim/prefetch/exact_pscu.h: all of the object, as if its size were known.
//
// Threads   one owner.
// Source    the simulator's specification, section 3.6.
#pragma once

#include "sim/prefetch/lines.h"
#include "sim/prefetch/pscu.h"

namespace weft::sim {

class ExactPscu final : public Pscu {
 public:
  uint64_t LinesAtOnce(const TableSlot& object) const override {
    return LineCount(object.addr, object.bytes);
  }
};

}  // namespace weft::sim
