// tool/calibrate.h: `weft calibrate`: measures this machine for the planner.
//
// Threads   one at a time.
// Errors    as Exit (tool/console.h) says; messages on `err`.
#pragma once

#include <string>
#include <vector>

#include "tool/console.h"

namespace weft::tool {

// `arguments`: those behind `weft calibrate`.
Exit RunCalibrate(const Console& console, const std::vector<std::string>& arguments);

}  // namespace weft::tool
