// bench/harness/command_group.h: weft-bench's subcommands, as each folder tells of its own.
//
// A subcommand keeps what its options are stored to. So it must outlive the parsing.
//
// Threads   one at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "weft/status.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

struct Subcommand {
  std::string name;
  std::string help;  // one line
  // Adds its options to an App of its own.
  std::function<void(CLI::App* app)> declare;
  // "--load: --rate is given": an option that does nothing beside the others that were given;
  // empty: each has a use. Null: a subcommand that refuses these while it parses.
  std::function<std::string(const CLI::App& app)> unheeded;
  // The exit status: 0; 1: --strict and a target was missed; 2: a part has no figure, as it has
  // said. An error says why there is none at all. `command_line` repeats it.
  std::function<Result<int>(const std::string& command_line)> run;
};

using CommandGroup = std::vector<Subcommand>;

// Adds each to `app`.
void AddCommands(CLI::App* app, const CommandGroup& group);

// Where `options` keep the command line that repeats them; null: nowhere.
template <typename Options>
std::string* CommandLineOf(Options* options) {
  if constexpr (requires { options->command_line; }) return &options->command_line;
  if constexpr (requires { options->measure; }) return CommandLineOf(&options->measure);
  if constexpr (requires { options->experiment.measure; })
    return CommandLineOf(&options->experiment);
  return nullptr;
}

// One whose `Options`, with these as defaults, are declared by `declare` and carried out by `run`.
template <typename Options>
Subcommand OptionsCommand(std::string name, std::string help, Options defaults,
                          void (*declare)(CLI::App* app, Options* options),
                          Status (*run)(const Options& options)) {
  const auto options = std::make_shared<Options>(std::move(defaults));
  return {std::move(name), std::move(help),
          [options, declare](CLI::App* app) { declare(app, options.get()); }, nullptr,
          [options, run](const std::string& command_line) -> Result<int> {
            if (std::string* const kept = CommandLineOf(options.get())) *kept = command_line;
            Status status = run(*options);
            if (!status.ok()) return status;
            return 0;
          }};
}

}  // namespace weft::bench
