// bench/durable/ycsb.h: YCSB's fill and its workload A on one store, slice by slice.
//
// Operations are those of the mix (bench/workload/builtin_mixes.h). The fill writes every record
// once; their keys are scattered. A reads or updates at random, on records that are drawn by
// Zipf's law and scattered over all of them.
//
// Checked   each value read belongs to its key; at the end every byte of every value is the one
//           written last. For that each thread updates only its own records: the one next to the
//           record that it draws.
// Threads   each run starts its own and ends them.
// Errors    the store's; kCorruption for a value that is not what was written.
// Source    B. Cooper et al., Benchmarking Cloud Serving Systems with YCSB, 2010.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/histogram.h"
#include "bench/store/store.h"
#include "bench/workload/mix.h"
#include "bench/workload/record_space.h"

namespace weft::bench {

struct YcsbOptions {
  OperationMix mix;         // A, with the records and their sizes
  uint64_t operations = 0;  // of A
  int threads = 1;
  double slice_s = 1;  // at least 0.05: a slice's end costs a thread some 0.1 ms
  uint64_t seed = 0;
  // Called about once a slice, with its number, by the thread that called Fill or RunA.
  std::function<void(size_t slice)> each_slice;
};

// A of so many records, with keys of 16 bytes. Its Zipf has as many ranks as there are records.
OperationMix YcsbA(uint64_t records, uint32_t value_bytes);

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
  // `options` and `store` must outlive it.
  Ycsb(const YcsbOptions& options, Store* store);

  Result<YcsbResult> Fill();
  // REQUIRES: Fill has succeeded
  Result<YcsbResult> RunA();
  // Reads all of the store.
  Status CheckAll(Store* store) const;

  const RecordFormat& format() const { return format_; }

 private:
  class Client;
  class Slices;

  Result<YcsbResult> Run(const OperationMix& mix, uint64_t operations);

  const YcsbOptions& options_;
  const RecordFormat format_;
  Store& store_;
  RecordSpace space_;
  std::vector<uint32_t> versions_;  // that each record has; each of one thread
};

}  // namespace weft::bench
