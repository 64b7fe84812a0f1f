// sim/prefetch/pscu.h: the prefetch size calculation unit (the paper's PSCU): how much of an object
// to fetch.
//
// Units     bytes and lines.
// Threads   one owner.
// Source    paper 004, section 3.4; the simulator's specification, sections 1.3 and 3.6.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/base/time.h"
#include "sim/trace/table_image.h"

namespace weft::sim {

class Pscu {
 public:
  virtual ~Pscu() = default;
  // How many lines to ask for at once, from the object's begin on; at least 1.
  virtual uint64_t LinesAtOnce(const TableSlot& object) const = 0;
  // If the size is read from the object's first line: how long after that came the rest is asked
  // for.
  virtual std::optional<Time> size_latency() const { return std::nullopt; }
  // A lookup found the object.
  virtual void OnHit(const TableSlot& /*object*/) {}
};

}  // namespace weft::sim
