// bench/experiment/commands.h: weft-bench's subcommands that are experiments of paper 002:
// efficiency, bandwidth, oversubscription, block-cache.
//
// Threads   one at a time.
#pragma once

#include "bench/harness/command_group.h"

namespace weft::bench {

CommandGroup ExperimentCommands();

}  // namespace weft::bench
