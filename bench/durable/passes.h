// bench/durable/passes.h: the timed loops over one store, named as LevelDB's own benchmark names
// them.
//
// Threads   each pass starts the threads it needs and ends them; the store is otherwise idle.
// Errors    a failed call or a value of another key ends the pass with a Status: no figure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/histogram.h"
#include "bench/durable/ledger.h"
#include "bench/harness/process.h"

namespace weft::bench {

// What a pass works on.
struct PassInput {
  Store* store = nullptr;
  Ledger* ledger = nullptr;
  const RecordFormat* records = nullptr;
  uint64_t reads = 0;  // lookups of a pass
  uint64_t syncs = 0;  // writes of fillsync
  double tail_s = 10;  // length of the open loop
  double tail_load = 0.8;
  uint64_t seed = 0;  // the same for every store of a turn
};

struct PassResult {
  double figure = 0;  // in the pass's unit
  double seconds = 0;
  uint64_t operations = 0;
  uint64_t found = 0;
  uint64_t user_bytes = 0;  // keys and values written
  nlohmann::json more = nlohmann::json::object();
  // Looks at the machine once the store's turn is over and counted. Null: nothing to look at.
  std::function<nlohmann::json()> afterwards = nullptr;
};

struct Pass {
  std::string name;
  bool fresh = false;   // begins with an empty store
  bool writes = false;  // changes the store
  std::string unit = "op/s";
  Result<PassResult> (*run)(const PassInput&) = nullptr;
};

inline constexpr size_t kDurableBatch = 32;  // lookups of a MultiGet

Result<PassResult> GetRandom(const PassInput& input);
Result<PassResult> GetMissing(const PassInput& input);      // keys between those that are there
Result<PassResult> MultiGetRandom(const PassInput& input);  // kDurableBatch at a time
Result<PassResult> SeekRandom(const PassInput& input);      // a cursor made for each
Result<PassResult> ScanForward(const PassInput& input);
Result<PassResult> ScanBackward(const PassInput& input);
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

// All passes, in the order of a run.
const std::vector<Pass>& Passes();
// Null if there is none of that name.
const Pass* FindPass(const std::string& name);

}  // namespace weft::bench
