// bench/command/all.h: weft-bench's subcommand `all`: every promise at once, into bench/results.
//
// Threads   one at a time.
#pragma once

#include "bench/harness/command_group.h"

namespace weft::bench {

CommandGroup AllCommands();

}  // namespace weft::bench
