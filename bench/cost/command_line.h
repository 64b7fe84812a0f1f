// bench/cost/command_line.h: `weft-bench compare`: its part of the command line, and what it does.
//
// Threads   one at a time.
// Errors    those of bench/cost/compare.h; kIoError where the JSON file can't be written.
#pragma once

#include "bench/cost/compare_options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

// `options` must outlive the parsing; its values are the defaults.
void AddCompare(CLI::App* app, CompareOptions* options);
// Prints the comparison, and writes options.json if that is given.
Status RunCompare(const CompareOptions& options);

}  // namespace weft::bench
