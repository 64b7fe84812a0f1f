// bench/durable/command_line.h: the options of weft-bench's subcommands for durable stores.
//
// Threads   one at a time.
#pragma once

#include "bench/durable/options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

// `options` must outlive the parsing; its values are the defaults.
void AddDurable(CLI::App* app, DurableOptions* options);
void AddCompaction(CLI::App* app, CompactionOptions* options);
void AddContention(CLI::App* app, ContentionOptions* options);

}  // namespace weft::bench
