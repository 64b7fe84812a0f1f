#include "bench/drive/commands.h"

#include <CLI/CLI.hpp>

#include "bench/cost/command_line.h"
#include "bench/drive/measure.h"
#include "bench/drive/sweep.h"
#include "bench/play/command_line.h"

namespace weft::bench {
namespace {

void DeclareQuick(CLI::App* app, MeasureOptions* options) {
  AddMeasure(app, options);
  // What it chooses by itself.
  for (const char* name :
       {"--target", "--workload", "--workload-file", "--sessions", "--depth", "--wipe"})
    app->remove_option(app->get_option(name));
}

MeasureOptions QuickDefaults() {
  return {.records = 200'000, .load{.warmup_s = 0.5, .seconds = 3}};
}

SweepOptions SweepDefaults() { return {.measure{.experiment = "sweep"}}; }

}  // namespace

CommandGroup DriveCommands() {
  return {
      OptionsCommand<MeasureOptions>("run", "any workload on any store or server", {}, AddMeasure,
                                     RunMeasure),
      OptionsCommand<MeasureOptions>("quick", "YCSB on this machine's caches and durable stores",
                                     QuickDefaults(), DeclareQuick, RunQuick),
      OptionsCommand<SweepOptions>("sweep",
                                   "latency at each rate, and the highest one within a limit",
                                   SweepDefaults(), AddSweep, RunSweep),
      OptionsCommand<TraceBenchOptions>("trace", "what caches and policies miss of real traces", {},
                                        AddTrace, RunTraceBench),
      OptionsCommand<CompareOptions>("compare", "results of several machines: throughput and cost",
                                     {}, AddCompare, RunCompare),
  };
}

}  // namespace weft::bench
