#include "bench/drive/commands.h"

#include <CLI/CLI.hpp>

#include "bench/cost/command_line.h"
#include "bench/drive/measure.h"
#include "bench/drive/sweep.h"
#include "bench/play/command_line.h"

namespace weft::bench {

struct DriveCommands::Arguments {
  MeasureOptions run;
  MeasureOptions quick{.records = 200'000, .load{.warmup_s = 0.5, .seconds = 3}};
  SweepOptions sweep{.measure{.experiment = "sweep"}};
  CompareOptions compare;
  TraceBenchOptions trace;
};

DriveCommands::DriveCommands() : arguments_(std::make_unique<Arguments>()) {}
DriveCommands::~DriveCommands() = default;

void DriveCommands::AddTo(CLI::App* app) {
  Arguments& a = *arguments_;
  AddMeasure(app->add_subcommand("run", "any workload on any store or server"), &a.run);
  CLI::App* quick =
      app->add_subcommand("quick", "YCSB on this machine's caches and durable stores");
  AddMeasure(quick, &a.quick);
  // What it chooses by itself.
  for (const char* name :
       {"--target", "--workload", "--workload-file", "--sessions", "--depth", "--wipe"})
    quick->remove_option(quick->get_option(name));
  AddSweep(app->add_subcommand("sweep", "latency at each rate, and the highest one within a limit"),
           &a.sweep);
  AddTrace(app->add_subcommand("trace", "what caches and policies miss of real traces"), &a.trace);
  AddCompare(app->add_subcommand("compare", "results of several machines: throughput and cost"),
             &a.compare);
}

std::optional<Status> DriveCommands::Run(const std::string& name, const std::string& command_line) {
  Arguments& a = *arguments_;
  a.run.command_line = a.quick.command_line = a.sweep.measure.command_line = command_line;
  a.trace.command_line = command_line;
  if (name == "run") return RunMeasure(a.run);
  if (name == "trace") return RunTraceBench(a.trace);
  if (name == "quick") return RunQuick(a.quick);
  if (name == "sweep") return RunSweep(a.sweep);
  if (name == "compare") return RunCompare(a.compare);
  return std::nullopt;
}

}  // namespace weft::bench
