#include "sim/dram_command.h"

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/dram/command_checker.h"
#include "sim/dram/command_trace.h"
#include "sim/dram/dramsim2.h"
#include "sim/dram/replay.h"

namespace weft::sim {
namespace {

void AddMemory(CLI::App* app, DramOptions* options) {
  app->add_option("--preset", options->preset, "the memory")->capture_default_str();
  app->add_option("--ranks", options->ranks, "ranks a channel; 0: the preset's")
      ->capture_default_str();
  app->add_flag("--no-refresh", options->no_refresh, "never refresh");
  app->add_option("--compat", options->compat,
                  "dramsim2: CWL is CL - 1, 16 requests a command queue, --refresh-drain")
      ->check(CLI::IsMember({"dramsim2"}));
}

void AddPolicies(CLI::App* app, DramOptions* options) {
  app->add_option("--policy", options->policy,
                  "frfcfs: what can go, oldest first; fcfs: column commands in order")
      ->capture_default_str()
      ->check(CLI::IsMember({"frfcfs", "fcfs"}));
  app->add_option("--page", options->page,
                  "open: rows stay open; closed: until no request in the queue is for them")
      ->capture_default_str()
      ->check(CLI::IsMember({"open", "closed"}));
  app->add_option("--row-hits", options->row_hits_max,
                  "requests of a row before others may close it; 0: unlimited")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app->add_option("--refresh", options->refresh, "all banks of a rank at once, or bank by bank")
      ->capture_default_str()
      ->check(CLI::IsMember({"all", "bank"}));
  app->add_flag("--refresh-drain", options->refresh_drain,
                "requests for open rows go before a refresh");
  app->add_flag("--power-down", options->power_down, "ranks without requests are powered down");
  app->add_option("--currents", options->currents,
                  "of another DDR3-1333 die: sg15-dramsim2, mt41j256m8-2009 or mt41j256m8-revM");
  app->add_option("--writes", options->writes,
                  "unified: queued with reads by age; buffer: in a buffer of their own")
      ->capture_default_str()
      ->check(CLI::IsMember({"unified", "buffer"}));
}

// A memory, and how its channels are controlled.
struct Controlled {
  Preset preset;
  ControllerOptions controller;
};

Result<Controlled> MemoryOf(const DramOptions& options) {
  const Result<Preset> preset = FindPreset(options.preset);
  if (!preset) return preset.error();
  Controlled memory{preset.value(), {}};
  memory.preset.organization.channels = options.channels;
  if (options.ranks != 0) memory.preset.organization.ranks = options.ranks;
  Status status = Validate(memory.preset.organization);
  if (!status.ok()) return status;
  if (!options.currents.empty()) {
    status = SetCurrents(options.currents, memory.preset);
    if (!status.ok()) return status;
  }
  ControllerOptions& controller = memory.controller;
  controller.writes = options.writes == "buffer" ? WritePolicy::kBuffer : WritePolicy::kUnified;
  controller.row_hits_max =
      options.row_hits_max == 0 ? ControllerOptions::kUnlimited : options.row_hits_max;
  controller.order = options.policy == "fcfs" ? OrderPolicy::kFirstCome : OrderPolicy::kFirstReady;
  controller.page = options.page == "closed" ? PagePolicy::kClosed : PagePolicy::kOpen;
  controller.refreshes = !options.no_refresh;
  controller.refreshes_banks = options.refresh == "bank";
  controller.refresh_drain = options.refresh_drain;
  controller.powers_down = options.power_down;
  controller.skips = !options.no_skip;
  if (options.compat == "dramsim2") BeLikeDramsim2(memory.preset, controller);
  status = Validate(memory.preset, controller);
  if (!status.ok()) return status;
  return memory;
}

// One file a channel.
struct CommandFiles {
  std::vector<std::string> paths;
  std::vector<std::ofstream> files;

  Status Open(const std::string& path, int channels) {
    for (int channel = 0; channel < channels; ++channel) {
      paths.push_back(path + "." + std::to_string(channel));
      files.emplace_back(paths.back());
      if (!files.back()) return Status::FromErrno("open " + paths.back(), errno);
    }
    return Status::Ok();
  }
  Status Close() {
    for (size_t i = 0; i < files.size(); ++i) {
      files[i].close();
      if (!files[i]) return {Code::kIoError, "write " + paths[i]};
    }
    return Status::Ok();
  }
};

}  // namespace

void AddDram(CLI::App* app, DramOptions* options) {
  AddMemory(app, options);
  app->add_option("--map", options->map, "rank-il, scheme2, row-il or xor-bank")
      ->capture_default_str();
  app->add_option("--channels", options->channels, "channels")->capture_default_str();
  app->add_option("--trace", options->trace, "lines: 0xADDRESS READ|WRITE CLOCK")->required();
  app->add_option("--clocks", options->clocks, "how many clocks to simulate")
      ->required()
      ->check(CLI::PositiveNumber);
  AddPolicies(app, options);
  app->add_flag("--no-skip", options->no_skip, "perform every clock; the outcome is the same");
  app->add_option("--cmd-trace", options->command_trace,
                  "write channel N's commands to the file of this name and .N");
}

void AddCheck(CLI::App* app, DramOptions* options) {
  AddMemory(app, options);
  app->add_option("trace", options->trace, "commands of a channel, as --cmd-trace wrote them")
      ->required();
}

Status RunDram(const DramOptions& options) {
  const Result<Controlled> controlled = MemoryOf(options);
  if (!controlled) return controlled.error();
  const Preset& preset = controlled.value().preset;
  const Result<Interleave> interleave = ParseInterleave(options.map);
  if (!interleave) return interleave.error();
  Result<Dramsim3Trace> trace = Dramsim3Trace::Open(options.trace, preset.organization.lines());
  if (!trace) return trace.error();

  CommandFiles commands;
  std::function<void(int, const IssuedCommand&)> on_command;
  if (!options.command_trace.empty()) {
    Status status = commands.Open(options.command_trace, options.channels);
    if (!status.ok()) return status;
    on_command = [&](int channel, const IssuedCommand& issued) {
      commands.files[static_cast<size_t>(channel)] << ToTraceLine(issued);
    };
  }
  Memory memory(preset, interleave.value(), controlled.value().controller, on_command);
  Status status = Replay(trace.value(), memory, options.clocks);
  if (!status.ok()) return status;
  status = commands.Close();
  if (!status.ok()) return status;
  std::fputs((Figures(preset, memory).dump(2) + "\n").c_str(), stdout);
  return Status::Ok();
}

Status RunCheck(const DramOptions& options) {
  const Result<Controlled> memory = MemoryOf(options);
  if (!memory) return memory.error();
  const Preset& preset = memory.value().preset;
  std::ifstream in(options.trace);
  if (!in) return Status::FromErrno("open " + options.trace, errno);
  const Result<std::vector<IssuedCommand>> commands = ReadCommandTrace(in, options.trace);
  if (!commands) return commands.error();

  CommandChecker checker(preset.organization, preset.timing, !options.no_refresh);
  for (const IssuedCommand& issued : commands.value()) checker.Check(issued);
  if (!commands.value().empty()) checker.Finish(commands.value().back().clock);
  for (const Violation& violation : checker.violations()) {
    fmt::print("{}:{}: clock {}: {}\n", options.trace, violation.index + 1, violation.clock,
               violation.rule);
  }
  fmt::print("{} commands, {} violations\n", checker.commands(), checker.violations().size());
  if (checker.violations().empty()) return Status::Ok();
  return {Code::kCorruption, "commands break the memory's rules"};
}

}  // namespace weft::sim
