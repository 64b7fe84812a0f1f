// bench/meter/power_trace.h: power that was read now and then, and the energy under it.
//
// Rule      trapezoids between readings; before the first and after the last their power holds, for
//           as long as the largest gap allowed.
// Units     times are seconds since any one origin.
// Threads   one owner.
// Errors    kInvalidArgument: readings out of order, or too few of them for the interval.
#pragma once

#include <vector>

#include "bench/harness/units.h"
#include "weft/status.h"

namespace weft::bench {

class PowerTrace {
 public:
  // REQUIRES (otherwise kInvalidArgument): later than all readings before, and a power from 0 on
  Status Add(Seconds at, Watts power);
  // The energy between two times. No two readings within them may lie farther apart than `gap_max`.
  Result<Joules> Between(Seconds from, Seconds to, Seconds gap_max) const;

  size_t size() const { return readings_.size(); }

 private:
  struct At {
    Seconds time;
    Watts power;
  };
  // Linear between two readings.
  static Watts PowerAt(const At& a, const At& b, Seconds time);

  std::vector<At> readings_;
};

}  // namespace weft::bench
