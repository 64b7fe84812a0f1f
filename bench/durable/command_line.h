// bench/durable/command_line.h: weft-bench's subcommands that measure durable stores: durable,
// compaction, contention.
//
// Threads   one at a time.
// Errors    of the functions that measure: those of bench/durable/options.h.
#pragma once

#include "bench/durable/options.h"
#include "bench/harness/promise_command.h"

namespace weft::bench {

// What the command line says to them.
struct DurableArguments {
  CommonArguments common;
  bool quick = false;
  DurableOptions durable;
  CompactionOptions compaction;
  ContentionOptions contention;
};

Status MeasureDurable(const DurableArguments& arguments, Report& report);
Status MeasureCompaction(const DurableArguments& arguments, Report& report);

CommandGroup DurableCommands();

}  // namespace weft::bench
