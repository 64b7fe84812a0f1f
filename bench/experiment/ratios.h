// bench/experiment/ratios.h: ratios that compare machines of different sizes: operations a joule,
// instructions a cycle of a core, the share of branches and of last-level references that miss.
//
// Readings  operations_per_j; ipc_per_core; branch_miss_ratio; cache_miss_ratio. Each is
//           unavailable, with the reason, or modelled if a reading that it is made of is.
// Threads   pure.
// Source    paper 002, sections 3.4 and 4.1 to 4.3.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "bench/meter/reading.h"

namespace weft::bench {

// `threads_on_a_core`: how many hardware threads share each core in use. Counters are each
// thread's, and a core does what its threads do together.
Readings RatiosOf(const Readings& readings, uint64_t operations, double threads_on_a_core);

// The ratios that are available: "5312 operations/J, 0.92 instructions a cycle and core, ...".
std::string ToText(const Readings& ratios);
// The others: "ipc_per_core: instructions: no such counter".
std::set<std::string> WhyUnavailable(const Readings& ratios);

}  // namespace weft::bench
