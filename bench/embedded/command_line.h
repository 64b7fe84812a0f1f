// bench/embedded/command_line.h: weft-bench's subcommands that measure the cache in this process:
// walk, embedded, prefetch.
//
// Threads   one at a time.
// Errors    of the functions that measure: those of bench/embedded/options.h.
#pragma once

#include <string>

#include "bench/embedded/options.h"
#include "bench/harness/promise_command.h"

namespace weft::bench {

// What the command line says to walk and embedded.
struct EmbeddedArguments {
  CommonArguments common;
  EmbeddedOptions embedded;
  std::string threads;  // counts, such as "1,2,4-8"; empty: one
  std::string cpus;     // such as "0-15"; empty: those usable
  bool small_pages = false;
};

Status MeasureWalk(const EmbeddedArguments& arguments, Report& report);
// With several threads, or workloads: its scaling.
Status MeasureEmbedded(const EmbeddedArguments& arguments, Report& report);

CommandGroup EmbeddedCommands();

}  // namespace weft::bench
