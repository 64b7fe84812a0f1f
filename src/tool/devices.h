// tool/devices.h: `weft devices`: which processors this machine has for the tasks.
//
// Threads   one at a time.
// Errors    as Exit (tool/console.h) says; messages on `err`.
#pragma once

#include <string>
#include <vector>

#include "tool/console.h"

namespace weft::tool {

// `arguments`: those behind `weft devices`.
Exit RunDevices(const Console& console, const std::vector<std::string>& arguments);

}  // namespace weft::tool
