// bench/embedded/prefetch_command_line.h: the options of `weft-bench prefetch`, beyond those of all
// benchmarks.
//
// Threads   one at a time.
#pragma once

#include "bench/embedded/options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

// `options` must outlive the parsing; its values are the defaults.
void AddPrefetch(CLI::App* app, PrefetchOptions* options);

}  // namespace weft::bench
