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

// What is given must outlive the parsing; what it has is the default.
void AddCompare(CLI::App* app, CompareOptions* options);
// Prints the comparison, and writes options.json where that is given.
Status RunCompare(const CompareOptions& options);

}  // namespace weft::bench
