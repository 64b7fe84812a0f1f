// bench/durable/ycsb.h: YCSB's load and its workload A on one store, second by second.
//
// Load writes every key once, in scattered order. A reads or updates at random, on keys that are
// drawn by Zipf's law (0.99) and scattered over all keys.
//
// Checked   each value read belongs to its key; at the end every byte of every value is the one
//           written last. For that each thread updates only its own keys: the one next to the
//           key that it draws.
// Threads   each run starts its own and ends them.
// Errors    the store's; kCorruption for a value that is not what was written.
// Source    B. Cooper et al., Benchmarking Cloud Serving Systems with YCSB, 2010.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/histogram.h"
#include "bench/durable/payload.h"
#include "bench/harness/key_picker.h"
#include "bench/store/store.h"

namespace weft::bench {

struct YcsbOptions {
  uint64_t keys = 0;
  uint64_t operations = 0;  // of A
  int threads = 1;
  double slice_s = 1;  // at least 0.05: a slice's end costs a thread some 0.1 ms
  uint64_t seed = 0;
  // Called about once a slice, with its number, by the thread that called Load or RunA.
  std::function<void(size_t slice)> each_slice;
};

// A second or whatever a slice is. Latencies in microseconds.
struct YcsbSlice {
  uint64_t reads = 0;
  uint64_t writes = 0;
  std::optional<double> read_p99_us;  // none: none ended in it
  std::optional<double> write_p99_us;
};

struct YcsbResult {
  double seconds = 0;
  uint64_t operations = 0;
  base::Histogram reads;  // nanoseconds
  base::Histogram writes;
  std::vector<YcsbSlice> slices;
};

class Ycsb {
 public:
  Ycsb(const YcsbOptions& options, const ValueMaker* values, Store* store);

  Result<YcsbResult> Load();
  // REQUIRES: Load has succeeded
  Result<YcsbResult> RunA();
  // Reads all of the store.
  Status CheckAll(Store* store) const;

 private:
  class Client;
  class Slices;
  using Step = std::function<bool(Client*)>;

  Result<YcsbResult> Run(uint64_t operations, const Step& step);

  const YcsbOptions& options_;
  const ValueMaker& values_;
  Store& store_;
  const KeyPicker picker_;
  const uint64_t stride_;           // of the order of loading; shares no factor with the keys
  std::vector<uint32_t> versions_;  // by key, + 1; each of one thread
};

}  // namespace weft::bench
