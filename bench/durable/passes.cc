#include "bench/durable/passes.h"

#include <algorithm>

namespace weft::bench {

const std::vector<Pass>& Passes() {
  static const std::vector<Pass> all = {
      {"fillseq", true, true, "op/s", FillSeq},
      {"fillsync", true, true, "op/s", FillSync},
      {"fillrandom4", true, true, "op/s", FillRandom4},
      {"overwrite4", false, true, "op/s", FillRandom4},
      {"fillrandom", true, true, "op/s", FillRandom},
      {"overwrite", false, true, "op/s", FillRandom},
      {"readrandom", false, false, "op/s", GetRandom},
      {"multireadrandom", false, false, "op/s", MultiGetRandom},
      {"readmissing", false, false, "op/s", GetMissing},
      {"seekrandom", false, false, "op/s", SeekRandom},
      {"readseq", false, false, "op/s", ScanForward},
      {"readreverse", false, false, "op/s", ScanBackward},
      {"readwhilewriting", false, true, "op/s", ReadWhileWriting},
      {"tail", false, true, "us, p99.9 of a write", Tail},
      {"compact", false, true, "input MiB/s", CompactAll},
  };
  return all;
}

const Pass* FindPass(const std::string& name) {
  const auto& all = Passes();
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const Pass& pass) { return pass.name == name; });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace weft::bench
