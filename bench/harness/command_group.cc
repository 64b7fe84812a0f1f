#include "bench/harness/command_group.h"

#include <CLI/CLI.hpp>

namespace weft::bench {

void AddCommands(CLI::App* app, const CommandGroup& group) {
  for (const Subcommand& command : group)
    command.declare(app->add_subcommand(command.name, command.help));
}

}  // namespace weft::bench
