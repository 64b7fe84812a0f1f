// sim/base/time.h: the simulated system's time, in picoseconds: the one unit of which a core's
// cycle (250 at 4 GHz) and every memory's clock (1,500 for DDR3-1333) are whole numbers.
//
// Threads   values.
#pragma once

#include <cstdint>
#include <limits>

namespace weft::sim {

// A point in time since the simulation's beginning, or a distance between two.
using Time = int64_t;

inline constexpr Time kNever = std::numeric_limits<Time>::max();
inline constexpr Time kPicosecondsPerNanosecond = 1000;

}  // namespace weft::sim
