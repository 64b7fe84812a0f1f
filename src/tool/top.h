// tool/top.h: `weft top`, which shows what a server is doing, a screen or a line a second.
//
// It asks by memcached's text protocol, so any server that speaks it can be watched; what only Weft
// reports is left out for others. A server that was reached once is tried again when it goes away.
//
// Threads   one.
#pragma once

#include <string>
#include <vector>

#include "tool/console.h"

namespace weft::tool {

// Carries out the words behind `weft top`.
Exit RunTop(const Console& console, const std::vector<std::string>& arguments);

}  // namespace weft::tool
