#include "sim/dram_command.h"

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/dram/command_checker.h"
#include "sim/dram/command_trace.h"
#include "sim/dram/replay.h"

namespace weft::sim {

void AddDram(CLI::App* app, DramOptions* options) {
  AddMemory(app, &options->memory);
  AddControl(app, &options->memory);
  app->add_option("--trace", options->trace, "lines: 0xADDRESS READ|WRITE CLOCK")->required();
  app->add_option("--clocks", options->clocks, "how many clocks to simulate")
      ->required()
      ->check(CLI::PositiveNumber);
}

void AddCheck(CLI::App* app, DramOptions* options) {
  AddMemory(app, &options->memory);
  app->add_option("trace", options->trace, "commands of a channel, as --cmd-trace wrote them")
      ->required();
}

Status RunDram(const DramOptions& options) {
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
  Status status = Replay(trace.value(), memory, options.clocks);
  if (!status.ok()) return status;
  status = commands.Close();
  if (!status.ok()) return status;
  std::fputs((Figures(preset, memory).dump(2) + "\n").c_str(), stdout);
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
    return {Code::kInvalidArgument, options.trace + ": no command in it"};
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
