// bench/pipeline/command_line.h: weft-bench's subcommands that carry batches through plans without
// sockets: pipeline, alternation.
//
// Threads   one at a time.
// Errors    of MeasurePipeline: those of RunPipeline.
#pragma once

#include <string>

#include "bench/harness/promise_command.h"
#include "bench/pipeline/options.h"

namespace weft::bench {

// What the command line says to them.
struct PipelineArguments {
  CommonArguments common;
  PipelineOptions pipeline;
  AlternationOptions alternation{{},
                                 defaults::kAlternationCyclesMs,
                                 defaults::kAlternationTraceMs,
                                 defaults::kAlternationTraceCycles,
                                 defaults::kAlternationSlotMs,
                                 {}};
  std::string cpus;  // such as "0-15"; empty: those usable
  std::string verify = "all";
  std::string steal = "on";
  bool small_pages = false;
};

Status MeasurePipeline(const PipelineArguments& arguments, Report& report);

CommandGroup PipelineCommands();

}  // namespace weft::bench
