// bench/play/command_line.h: the command line of `weft-bench trace`.
//
// Threads   one at a time.
#pragma once

#include "bench/play/play_options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

// Adds its options. `*options` must outlive the parsing.
void AddTrace(CLI::App* app, TraceBenchOptions* options);

}  // namespace weft::bench
