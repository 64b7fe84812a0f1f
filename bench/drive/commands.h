// bench/drive/commands.h: weft-bench's subcommands that put workloads or traces on targets, and
// that compare the results: run, quick, sweep, trace, compare.
//
// Threads   one at a time.
#pragma once

#include "bench/harness/command_group.h"

namespace weft::bench {

CommandGroup DriveCommands();

}  // namespace weft::bench
