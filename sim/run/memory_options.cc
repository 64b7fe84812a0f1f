#include "sim/run/memory_options.h"

#include <cerrno>
#include <string_view>

#include <CLI/CLI.hpp>

#include "sim/dram/command_trace.h"
#include "sim/dram/dramsim2.h"
#include "sim/dram/memory_file.h"

namespace weft::sim {
namespace {

constexpr std::string_view kFile = "file:";

void AddPolicies(CLI::App* app, MemoryOptions* options) {
  app->add_option("--policy", options->policy,
                  "frfcfs: ready commands, oldest first; fcfs: column commands in order")
      ->capture_default_str()
      ->check(CLI::IsMember({"frfcfs", "fcfs"}));
  app->add_option("--page", options->page,
                  "open: rows stay open; closed: they close when no queued request needs them")
      ->capture_default_str()
      ->check(CLI::IsMember({"open", "closed"}));
  app->add_option("--row-hits", options->row_hits_max,
                  "requests that a row serves before others may close it; 0: unlimited")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000'000));
  app->add_option("--refresh", options->refresh,
                  "refresh all banks of a rank at once, or bank by bank")
      ->capture_default_str()
      ->check(CLI::IsMember({"all", "bank"}));
  app->add_flag("--refresh-drain", options->refresh_drain,
                "serve requests for open rows before a refresh");
  app->add_flag("--power-down", options->power_down, "power down ranks without requests");
  app->add_option(
      "--currents", options->currents,
      "currents of another DDR3-1333 die: sg15-dramsim2, mt41j256m8-2009 or mt41j256m8-revM");
  app->add_option("--writes", options->writes,
                  "unified: writes wait with reads by age; buffer: in their own buffer")
      ->capture_default_str()
      ->check(CLI::IsMember({"unified", "buffer"}));
}

}  // namespace

void AddMemory(CLI::App* app, MemoryOptions* options) {
  app->add_option("--preset", options->preset,
                  "memory: a name that `weft-sim memory` lists, or file:FILE")
      ->capture_default_str();
  app->add_option("--ranks", options->ranks, "ranks a channel; 0: the preset's")
      ->capture_default_str();
  app->add_flag("--no-refresh", options->no_refresh, "never refresh");
  app->add_option("--compat", options->compat,
                  "dramsim2: CWL is CL - 1, 16 requests a command queue, --refresh-drain")
      ->check(CLI::IsMember({"dramsim2"}));
}

void AddControl(CLI::App* app, MemoryOptions* options) {
  app->add_option("--map", options->map, "rank-il, scheme2, row-il or xor-bank")
      ->capture_default_str();
  app->add_option("--channels", options->channels, "channels")->capture_default_str();
  AddPolicies(app, options);
  app->add_flag("--no-skip", options->no_skip, "simulate every clock; the result is the same");
  app->add_option("--cmd-trace", options->command_trace,
                  "write the commands of channel N to this file's name with .N appended");
}

Result<Preset> PresetOf(const std::string& name) {
  return name.starts_with(kFile) ? ReadMemoryFile(name.substr(kFile.size())) : FindPreset(name);
}

Result<ControlledMemory> MemoryOf(const MemoryOptions& options) {
  const bool is_file = options.preset.starts_with(kFile);
  const Result<Preset> preset = PresetOf(options.preset);
  if (!preset) return preset.error();
  const Result<Interleave> interleave = ParseInterleave(options.map);
  if (!interleave) return interleave.error();
  ControlledMemory memory;
  memory.preset = preset.value();
  memory.interleave = interleave.value();
  memory.preset.organization.channels = options.channels;
  if (options.ranks != 0) memory.preset.organization.ranks = options.ranks;
  Status status = Validate(memory.preset.organization);
  if (!status.ok()) return status;
  if (!options.currents.empty() && is_file) {
    return Status(Code::kInvalidArgument, "currents '" + options.currents +
                                              "': a memory from a file has its currents there");
  }
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

Result<CommandFiles::OnCommand> CommandFiles::Open(const MemoryOptions& options) {
  if (options.command_trace.empty()) return OnCommand();
  for (int channel = 0; channel < options.channels; ++channel) {
    paths_.push_back(options.command_trace + "." + std::to_string(channel));
    files_.emplace_back(paths_.back());
    if (!files_.back()) return Status::FromErrno("open " + paths_.back(), errno);
  }
  return OnCommand([this](int channel, const IssuedCommand& issued) {
    files_[static_cast<size_t>(channel)] << ToTraceLine(issued);
  });
}

Status CommandFiles::Close() {
  for (size_t i = 0; i < files_.size(); ++i) {
    files_[i].close();
    if (!files_[i]) return {Code::kIoError, "write " + paths_[i]};
  }
  return Status::Ok();
}

}  // namespace weft::sim
