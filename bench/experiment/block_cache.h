// bench/experiment/block_cache.h: mean and tail latency of a durable store's reads as its block
// cache grows from none to a part of the data. Many threads share each hardware thread.
//
// Sizes     fractions of the data's bytes; paper 002 has 0, a tenth, a fifth and two fifths.
// Differs   the paper reads past the system's page cache. Here a block that the block cache lacks
//           comes from the place where the store lies: memory, or a disk behind that cache
//           (--place).
// Records   each run has its own line in the log, the storing of the records too, with
//           "block_cache": {"fraction": 0.1, "bytes"} and a "setting" in words.
//
// Threads   one at a time.
// Errors    as bench/drive/measure.h; kInvalidArgument for targets that are not durable stores.
// Source    paper 002, section 4.4, figure 4.8.
#pragma once

#include <vector>

#include "bench/experiment/experiment.h"
#include "weft/status.h"

namespace weft::bench {

struct BlockCacheOptions {
  ExperimentOptions experiment = Defaults("block-cache", {"ycsb-c"});
  std::vector<double> fractions = {0, 0.1, 0.2, 0.4};
  int threads_per_hardware_thread = 8;
};

void AddBlockCache(CLI::App* app, BlockCacheOptions* options);
Status RunBlockCache(const BlockCacheOptions& options);

}  // namespace weft::bench
