// bench/workload/key_probability.h: how likely each record is, exactly, so that draws can be
// checked against it, and caches' hit ratios foretold.
//
// Threads   pure.
// Cost      a power a record; for scrambled-zipf one for each of its first 2^22 ranks. The rest of
//           its ranks is spread over all records by their shares of hashes: off by 0.1 % of a
//           record's probability where there are a thousand of them, by 2 % where a million.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/workload/key_chooser.h"

namespace weft::bench {

// By record. Sequential: as if uniform. REQUIRES: records >= chooser.start()
std::vector<double> KeyProbabilities(const KeyChooser& chooser, uint64_t records);

}  // namespace weft::bench
