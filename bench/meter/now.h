// bench/meter/now.h: the time that meters count by, since an unspecified start.
//
// Threads   any.
#pragma once

#include "base/clock.h"
#include "bench/harness/units.h"

namespace weft::bench {

inline double NowS() { return static_cast<double>(base::NowNs()) * 1e-9; }
inline Seconds Now() { return Seconds(NowS()); }

}  // namespace weft::bench
