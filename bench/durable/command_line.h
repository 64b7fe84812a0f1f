// bench/durable/command_line.h: what weft-bench's subcommands for durable stores may be told.
//
// Threads   one at a time.
#pragma once

#include "bench/durable/options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

// What is given must outlive the parsing; what it has is the default.
void AddDurable(CLI::App* app, DurableOptions* options);
void AddCompaction(CLI::App* app, CompactionOptions* options);
void AddContention(CLI::App* app, ContentionOptions* options);

}  // namespace weft::bench
