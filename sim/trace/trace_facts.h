// sim/trace/trace_facts.h: the contents of a trace: records by kind and class, operations,
// instructions, and how full the index is.
//
// Threads   one at a time.
// Errors    the source's.
#pragma once

#include <nlohmann/json.hpp>

#include "sim/trace/trace_source.h"
#include "weft/status.h"

namespace weft::sim {

// Reads the source to its end.
Result<nlohmann::ordered_json> FactsOf(TraceSource& source);

}  // namespace weft::sim
