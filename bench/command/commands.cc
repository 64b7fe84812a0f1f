#include "bench/command/commands.h"

#include <cstdio>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/wrong_use.h"
#include "bench/command/all.h"
#include "bench/device/command_line.h"
#include "bench/drive/commands.h"
#include "bench/durable/command_line.h"
#include "bench/embedded/command_line.h"
#include "bench/experiment/commands.h"
#include "bench/harness/checks.h"
#include "bench/harness/command_line.h"
#include "bench/pipeline/command_line.h"
#include "bench/server/command_line.h"

namespace weft::bench {
namespace {

// In the order of the help.
CommandGroup AllGroups() {
  CommandGroup all;
  for (CommandGroup (*const group)() :
       {EmbeddedCommands, ServerCommands, PipelineCommands, DurableCommands, DeviceCommands,
        AllCommands, DriveCommands, ExperimentCommands}) {
    for (Subcommand& command : group()) all.push_back(std::move(command));
  }
  return all;
}

int Fail(const Status& status) {
  fmt::print(stderr, "weft-bench: {}\n", status.ToString());
  return 2;
}

}  // namespace

Commands::Commands()
    : commands_(AllGroups()),
      app_(std::make_unique<CLI::App>(
          "weft-bench measures each of the project's promises (bench/README.md)", "weft-bench")) {
  app_->require_subcommand(1);
  AddCommands(app_.get(), commands_);
  // Once they are there: each would inherit it.
  app_->footer("weft-bench help NAME, and weft-bench NAME --help, list the options of one.");
}

Commands::~Commands() = default;

const Subcommand* Commands::Find(std::string_view name) const {
  for (const Subcommand& command : commands_) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

const CLI::App& Commands::Parsed() const { return *app_->get_subcommands().front(); }

Status Commands::Check() const {
  const CLI::App& parsed = Parsed();
  const Subcommand& command = *Find(parsed.get_name());
  std::string why = FaultOfNumbers(parsed);
  if (why.empty() && command.unheeded) why = command.unheeded(parsed);
  return why.empty() ? Status::Ok() : Status(Code::kInvalidArgument, why);
}

int Commands::Run(const std::string& command_line) {
  auto status = Find(Parsed().get_name())->run(command_line);
  return status ? *status : Fail(status.error());
}

int Main(int argc, char** argv) {
  Commands commands;
  try {
    base::ParseCommands(&commands.app(), argc, argv);
  } catch (const CLI::ParseError& error) {
    return base::AnswerParseError(commands.app(), error);
  }
  if (Status status = commands.Check(); !status.ok()) return Fail(status);
  return commands.Run(CommandLine({argv, static_cast<size_t>(argc)}));
}

}  // namespace weft::bench
