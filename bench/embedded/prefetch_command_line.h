// bench/embedded/prefetch_command_line.h: what `weft-bench prefetch` may be told beside what all
// benchmarks are.
//
// Threads   one at a time.
#pragma once

#include "bench/embedded/options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

// What is given must outlive the parsing; what it has is the default.
void AddPrefetch(CLI::App* app, PrefetchOptions* options);

}  // namespace weft::bench
