// bench/durable/read_passes.h: passes that only read. Declared here for the table of passes alone.
#pragma once

#include "bench/durable/passes.h"

namespace weft::bench {

inline constexpr size_t kDurableBatch = 32;  // lookups of a MultiGet

Result<PassResult> GetRandom(const PassInput& input);
Result<PassResult> GetMissing(const PassInput& input);      // keys between those that are there
Result<PassResult> MultiGetRandom(const PassInput& input);  // kDurableBatch at a time
Result<PassResult> SeekRandom(const PassInput& input);      // a cursor made for each
Result<PassResult> ScanForward(const PassInput& input);
Result<PassResult> ScanBackward(const PassInput& input);

}  // namespace weft::bench
