#include "sim/command/dram_command.h"

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/dram/command_checker.h"
#include "sim/dram/command_trace.h"
#include "sim/dram/memory_file.h"
#include "sim/dram/replay.h"
#include "sim/run/idle_options.h"

namespace weft::sim {
namespace {

constexpr Clock kClocksMax = 1'000'000'000'000'000;

// What the clocks cut off is no error: a long trace's begin may be all that is asked for.
void TellOfCutOff(const DramOptions& options, const Replayed& replayed) {
  const int64_t cut_off = replayed.unserved + replayed.not_accepted;
  if (cut_off == 0) return;
  fmt::print(stderr,
             "weft-sim: --clocks {2} cut off {0} of the {1} requests: {3} were accepted but not "
             "served, {4} not accepted; without --clocks all are served\n",
             cut_off, replayed.requests, options.clocks, replayed.unserved, replayed.not_accepted);
}

}  // namespace

void AddDram(CLI::App* app, DramOptions* options) {
  NoteGiven(app, &options->given);
  AddMemory(app, &options->memory);
  AddControl(app, &options->memory);
  app->add_option("--trace", options->trace, "trace file with lines 0xADDRESS READ|WRITE CLOCK")
      ->required();
  app->add_option("--clocks", options->clocks,
                  "number of clocks to simulate (default: until all requests are served)")
      ->check(CLI::Range(int64_t{1}, kClocksMax));
}

void AddCheck(CLI::App* app, DramOptions* options) {
  AddMemory(app, &options->memory);
  app->add_option("trace", options->trace, "commands of a channel, as written by --cmd-trace")
      ->required();
}

void AddMemoryText(CLI::App* app, std::string* preset) {
  app->add_option("PRESET", *preset, "memory to print as a file (default: print the names of all)");
}

Status RunMemoryText(const std::string& name) {
  if (name.empty()) {
    for (const std::string& known : PresetNames()) fmt::print("{}\n", known);
    return Status::Ok();
  }
  const Result<Preset> preset = PresetOf(name);
  if (!preset) return preset.error();
  std::fputs(ToMemoryText(preset.value()).c_str(), stdout);
  return Status::Ok();
}

Status RunDram(const DramOptions& options) {
  const Status idle = RefuseIdle(options.memory, options.given);
  if (!idle.ok()) return idle;
  const Result<ControlledMemory> controlled = MemoryOf(options.memory);
  if (!controlled) return controlled.error();
  const Preset& preset = controlled.value().preset;
  Result<Dramsim3Trace> trace = Dramsim3Trace::Open(options.trace, preset.organization.lines());
  if (!trace) return trace.error();

  CommandFiles commands;
  const auto on_command = commands.Open(options.memory);
  if (!on_command) return on_command.error();
  Memory memory(preset, controlled.value().interleave, controlled.value().controller,
                on_command.value());
  const Result<Replayed> replayed =
      Replay(trace.value(), memory, options.clocks == 0 ? kNever : options.clocks);
  if (!replayed) return replayed.error();
  const Status status = commands.Close();
  if (!status.ok()) return status;
  std::fputs((Figures(preset, memory, replayed.value()).dump(2) + "\n").c_str(), stdout);
  TellOfCutOff(options, replayed.value());
  return Status::Ok();
}

Status RunCheck(const DramOptions& options) {
  const Result<ControlledMemory> memory = MemoryOf(options.memory);
  if (!memory) return memory.error();
  const Preset& preset = memory.value().preset;
  std::ifstream in(options.trace);
  if (!in) return Status::FromErrno("open " + options.trace, errno);
  const Result<std::vector<IssuedCommand>> commands = ReadCommandTrace(in, options.trace);
  if (!commands) return commands.error();

  if (commands.value().empty()) {
    return {Code::kInvalidArgument, options.trace + ": it has no commands"};
  }
  CommandChecker checker(preset.organization, preset.timing, !options.memory.no_refresh);
  for (const IssuedCommand& issued : commands.value()) checker.Check(issued);
  checker.Finish(commands.value().back().clock);
  for (const Violation& violation : checker.violations()) {
    fmt::print("{}:{}: clock {}: {}\n", options.trace, violation.index + 1, violation.clock,
               violation.rule);
  }
  fmt::print("{} commands, {} violations\n", checker.commands(), checker.violations().size());
  if (checker.violations().empty()) return Status::Ok();
  return {Code::kCorruption, "commands break the memory's rules"};
}

}  // namespace weft::sim
