// tool/plan.h: `weft plan`: what each plan would do for a workload on this machine.
//
// Threads   one at a time.
// Errors    as Exit (tool/console.h) says; messages on `err`.
#pragma once

#include <string>
#include <vector>

#include "tool/console.h"

namespace weft::tool {

// `arguments`: those behind `weft plan`.
Exit RunPlan(const Console& console, const std::vector<std::string>& arguments);

}  // namespace weft::tool
