// bench/unheeded.h: options that were given beside others that leave them without a use: refused,
// for their figures would be taken for those with them. Those of `run`, sweeps and experiments are
// refused in bench/drive/measure_command_line.cc.
//
// Threads   pure.
#pragma once

#include <string>

#include "bench/arguments.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

// "--load: --rate is given" of the subcommand that was parsed; empty: nothing is without a use.
std::string UnheededOf(const CLI::App& subcommand, const Arguments& arguments);

}  // namespace weft::bench
