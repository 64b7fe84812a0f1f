// bench/command/commands.h: weft-bench's command line: the subcommands of all folders, and which of
// them it asks for.
//
// Threads   one at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bench/harness/command_group.h"
#include "weft/status.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

// All subcommands with their options.
class Commands {
 public:
  Commands();
  ~Commands();

  // Parses; each subcommand throws by itself what CLI11 and its own rules find wrong.
  CLI::App& app() { return *app_; }
  // kInvalidArgument: an option that does nothing beside the others. REQUIRES: app() has parsed.
  Status Check() const;
  // The exit status, as of Main. REQUIRES: Check() is OK
  int Run(const std::string& command_line);

 private:
  // Null: there is none.
  const Subcommand* Find(std::string_view name) const;
  // What the line asks for.
  const CLI::App& Parsed() const;

  CommandGroup commands_;
  std::unique_ptr<CLI::App> app_;
};

// Runs what the command line asks for. `help` is the same as `--help`, and `help NAME` as
// `NAME --help`. 0: done; 1: --strict and a target was missed; 2: no figure (bad arguments, a
// server that does not start, a wrong reply).
int Main(int argc, char** argv);

}  // namespace weft::bench
