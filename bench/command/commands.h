// bench/command/commands.h: weft-bench's command line: which benchmark, of what, how long, written
// where.
#pragma once

#include <memory>
#include <string>

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
  struct Parts;
  std::unique_ptr<CLI::App> app_;
  std::unique_ptr<Parts> parts_;
};

// Runs what the command line asks for. 0: done; 1: --strict and a target was missed; 2: no figure
// (bad arguments, a server that does not start, a wrong reply).
int Main(int argc, char** argv);

}  // namespace weft::bench
