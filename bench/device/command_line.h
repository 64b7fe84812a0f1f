// bench/device/command_line.h: weft-bench's subcommand `device`.
//
// Threads   one at a time.
#pragma once

#include "bench/harness/command_group.h"

namespace weft::bench {

CommandGroup DeviceCommands();

}  // namespace weft::bench
