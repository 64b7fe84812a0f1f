// bench/workload/key_probability.h: how likely each record is, exactly, to check draws against it
// and to predict caches' hit ratios.
//
// Threads   pure.
// Cost      a power a record; for scrambled-zipf one for each of its first 2^22 ranks. The rest of
//           its ranks is spread over all records by their shares of hashes: off by 0.1 % of a
//           record's probability with a thousand records, by 2 % with a million.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/workload/key_chooser.h"

namespace weft::bench {

// By record. Sequential: as if uniform. REQUIRES: records >= chooser.start()
std::vector<double> KeyProbabilities(const KeyChooser& chooser, uint64_t records);

}  // namespace weft::bench
