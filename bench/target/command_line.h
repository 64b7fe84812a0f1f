// bench/target/command_line.h: options of targets, for every subcommand that has some.
//
// Threads   one at a time.
#pragma once

#include <string>

#include "bench/target/target_options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

// What --target may say, a line each.
std::string TargetHelp();

// Of servers that are started, and of those that are there. `*options` outlives the parsing.
void AddServerOptions(CLI::App* app, TargetOptions* options);

}  // namespace weft::bench
