// lsm/read_sampler.h: picks about one place in every MiB that an iterator reads.
//
// Asking each entry for its size would cost as much as reading it, so one entry in sixteen, by
// chance, stands for sixteen.
//
// Threads   one at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::lsm {

class ReadSampler {
 public:
  explicit ReadSampler(size_t bytes_per_sample)
      : bytes_per_sample_(bytes_per_sample),
        bytes_left_(static_cast<int64_t>(Random() % (2 * bytes_per_sample))),
        entries_left_(1 + static_cast<uint32_t>(Random() % kEntriesPerCharge)) {}

  // True if this entry's size must be passed to Charge.
  bool NextIsCharged() {
    if (--entries_left_ != 0) return false;
    entries_left_ = kEntriesPerCharge;
    return true;
  }
  // How many samples fall into the bytes that this entry stands for.
  size_t Charge(size_t entry_bytes) {
    bytes_left_ -= static_cast<int64_t>(entry_bytes * kEntriesPerCharge);
    size_t samples = 0;
    for (; bytes_left_ < 0; ++samples) {
      bytes_left_ += static_cast<int64_t>(Random() % (2 * bytes_per_sample_));
    }
    return samples;
  }

 private:
  static constexpr uint32_t kEntriesPerCharge = 16;

  // One a thread, so that short iterators are sampled now and then, too (Marsaglia's xorshift).
  static uint64_t Random() {
    thread_local uint64_t state = 0x9e3779b97f4a7c15;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  }

  const size_t bytes_per_sample_;
  int64_t bytes_left_;
  uint32_t entries_left_;
};

}  // namespace weft::lsm
