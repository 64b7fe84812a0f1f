// bench/target/command_line.h: options of targets, for every subcommand that has some.
//
// Threads   one at a time.
#pragma once

#include <string>
#include <vector>

#include "bench/target/target_options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

// What --target may be, a line each.
std::string TargetHelp();

// Of servers that are started, and of those that are there. `*options` must outlive the parsing.
void AddServerOptions(CLI::App* app, TargetOptions* options);

// Throws CLI::ValidationError for a given option that none of `targets` heeds: its figures would
// pass for ones taken with it.
void RefuseUnheededByTargets(const CLI::App& app, const std::vector<std::string>& targets);

}  // namespace weft::bench
