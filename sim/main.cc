// weft-sim: prefetching in the memory controller, simulated cycle by cycle.
//
// Exit status 0: done; 1: it could not be; 2: the command line is wrong. stderr says why.

#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>

#include "base/program.h"
#include "base/wrong_use.h"
#include "sim/base/help_column.h"
#include "sim/command/dram_command.h"
#include "sim/command/figure_command.h"
#include "sim/command/gen_command.h"
#include "sim/command/run_command.h"
#include "sim/command/trace_command.h"

namespace {

std::string CommandLineOf(int argc, char** argv) {
  std::string line = "weft-sim";
  for (int i = 1; i < argc; ++i) line += std::string(" ") + argv[i];
  return line;
}

int Run(int argc, char** argv) {
  CLI::App app("Simulates prefetching in the memory controller, cycle by cycle.", "weft-sim");
  app.require_subcommand(1);
  app.get_formatter()->column_width(weft::sim::kHelpColumn);
  weft::sim::DramOptions dram;
  weft::sim::DramOptions check;
  CLI::App* const dram_app = app.add_subcommand("dram", "plays a trace on the memory only");
  weft::sim::AddDram(dram_app, &dram);
  weft::sim::AddCheck(app.add_subcommand("check", "checks commands against the memory's rules"),
                      &check);
  std::string memory;
  CLI::App* const memory_app =
      app.add_subcommand("memory", "prints a memory as a file, or the names of all");
  weft::sim::AddMemoryText(memory_app, &memory);
  weft::sim::RunOptions run;
  weft::sim::PrefetchOptions prefetch;
  CLI::App* const run_app = app.add_subcommand("run", "plays a trace on the whole machine");
  weft::sim::AddRun(run_app, &run);
  weft::sim::AddPrefetch(run_app, &prefetch);
  weft::sim::GenOptions gen;
  CLI::App* const gen_app = app.add_subcommand("gen", "writes a generated trace");
  weft::sim::AddGen(gen_app, &gen);
  weft::sim::TraceOptions trace;
  CLI::App* const trace_app = app.add_subcommand("trace", "reads and converts traces");
  weft::sim::AddTrace(trace_app, &trace);
  weft::sim::FigureOptions figure;
  CLI::App* const figure_app =
      app.add_subcommand("figure", "runs experiments and checks the paper's claims");
  weft::sim::AddFigure(figure_app, &figure);
  weft::sim::ManyRunsOptions sweep;
  CLI::App* const sweep_app =
      app.add_subcommand("sweep", "runs the machine with combinations of options");
  weft::sim::AddSweep(sweep_app, &sweep);
  // Once the commands are there: each would inherit it.
  app.footer("weft-sim help NAME, and weft-sim NAME --help, list the options of one.");
  try {
    weft::base::ParseCommands(&app, argc, argv);
  } catch (const CLI::ParseError& error) {
    return weft::base::AnswerParseError(app, error);
  }
  figure.runs.command_line = sweep.command_line = CommandLineOf(argc, argv);

  weft::Status status;
  try {
    status = run_app->parsed()      ? weft::sim::RunSource(run, prefetch)
             : gen_app->parsed()    ? weft::sim::RunGen(gen)
             : figure_app->parsed() ? weft::sim::RunFigureCommand(figure)
             : sweep_app->parsed()  ? weft::sim::RunSweepCommand(sweep)
             : trace_app->parsed()  ? weft::sim::RunTrace(trace)
             : memory_app->parsed() ? weft::sim::RunMemoryText(memory)
             : dram_app->parsed()   ? weft::sim::RunDram(dram)
                                    : weft::sim::RunCheck(check);
  } catch (const std::bad_alloc&) {
    status = {weft::Code::kNoMemory, "there is not enough memory"};
  } catch (const std::length_error&) {
    status = {weft::Code::kNoMemory, "it needs more memory than a process can have"};
  }
  if (status.ok()) return 0;
  std::fprintf(stderr, "weft-sim: %s\n", status.ToString().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  weft::base::StartProgram("weft-sim");
  return weft::base::EndProgram(Run(argc, argv));
}
