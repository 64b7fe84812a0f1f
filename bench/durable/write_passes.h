// bench/durable/write_passes.h: passes that write. Declared here for the table of passes alone.
#pragma once

#include "bench/durable/passes.h"

namespace weft::bench {

Result<PassResult> FillSeq(const PassInput& input);
Result<PassResult> FillSync(const PassInput& input);
Result<PassResult> FillRandom(const PassInput& input);   // into an empty store, or over a full one
Result<PassResult> FillRandom4(const PassInput& input);  // four writers, as many writes in all
Result<PassResult> CompactAll(const PassInput& input);
// Lookups by one thread while another overwrites as fast as it can.
Result<PassResult> ReadWhileWriting(const PassInput& input);
// Times writes, each from the instant it was due, while they come at an even rate: a share of the
// rate that the store took right before.
Result<PassResult> Tail(const PassInput& input);

}  // namespace weft::bench
