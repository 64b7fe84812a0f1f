// bench/client/sources.h: the request streams that several benchmarks share.
//
// Threads: one client each.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/client/closed_loop.h"
#include "bench/harness/key_picker.h"

namespace weft::bench {

// GETs and SETs of random keys. Every connection draws its own sequence: with a common one the
// server would see each key many times in a row, warm from the last time.
class MixedSource : public RoundSource {
 public:
  struct Options {
    double get_share = 0.95;
    int depth = 1;  // requests a round
    int keys_per_get = 1;
    uint64_t seed = 0;
  };
  // `picker` must outlive the source.
  MixedSource(const KeyPicker& picker, size_t connections, const Options& options);
  void Fill(size_t connection, Round* round) override;

 private:
  const KeyPicker& picker_;
  const Options options_;
  const uint64_t get_below_;  // of 2^32
  std::vector<base::Random> randoms_;
  std::vector<uint32_t> ids_;
};

// SETs of the ids [first, end), each once.
class LoadSource : public RoundSource {
 public:
  LoadSource(uint32_t first, uint32_t end, int depth) : next_(first), end_(end), depth_(depth) {}
  void Fill(size_t connection, Round* round) override;
  uint32_t next() const { return next_; }

 private:
  uint32_t next_;
  const uint32_t end_;
  const int depth_;
};

// GETs of `count` ids spread evenly over [0, keys), to see that they are all there.
class SampleSource : public RoundSource {
 public:
  SampleSource(uint32_t keys, uint32_t count, uint64_t seed)
      : keys_(keys), left_(count), random_(seed) {}
  void Fill(size_t connection, Round* round) override;

 private:
  const uint32_t keys_;
  uint32_t left_;
  base::Random random_;
};

// Stores ids [0, keys) in the server at `port`, then reads a sample back. Returns kCorruption if
// the server refused a set, lost a key or answered wrongly.
Status Preload(uint16_t port, const PayloadShape& shape, uint32_t keys, int client_cpu,
               const std::string& progress_name);

}  // namespace weft::bench
