// bench/command/unheeded.h: refuses options that are without a use beside the other ones given:
// figures would pass for ones taken with them. bench/drive/measure_command_line.cc refuses those of
// `run`, sweeps and experiments.
//
// Threads   pure.
#pragma once

#include <string>

#include "bench/command/arguments.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

// "--load: --rate is given" of the subcommand that was parsed; empty: every option has a use.
std::string UnheededOf(const CLI::App& subcommand, const Arguments& arguments);

}  // namespace weft::bench
