// bench/experiment/ratios.h: what makes machines of different sizes comparable: operations a joule,
// instructions a cycle of a core, and the share of branches and of last-level references that miss.
//
// Readings  operations_per_j; ipc_per_core; branch_miss_ratio; cache_miss_ratio. Unavailable, with
//           the reason, where one of the readings that it is made of is; modelled where that is.
// Threads   pure.
// Source    paper 002, sections 3.4 and 4.1 to 4.3.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "bench/meter/reading.h"

namespace weft::bench {

// `threads_on_a_core`: how many hardware threads share each core that is in use: counters are each
// thread's, and a core does what its threads do together.
Readings RatiosOf(const Readings& readings, uint64_t operations, double threads_on_a_core);

// Of those that are there: "5312 operations/J, 0.92 instructions a cycle and core, ...".
std::string ToText(const Readings& ratios);
// Of the others: "ipc_per_core: instructions: no such counter".
std::set<std::string> WhyUnavailable(const Readings& ratios);

}  // namespace weft::bench
