// bench/harness/key_picker.h: draws the keys of a benchmark, equally often or by Zipf's law.
//
// Threads   immutable: share one among threads, each with its own base::Random.
// Cost      construction by Zipf's law sums a power for each key once; a draw by it is one power.
#pragma once

#include <cstdint>
#include <memory>

#include "base/random.h"
#include "base/zipf.h"
#include "bench/harness/defaults.h"

namespace weft::bench {

class KeyPicker {
 public:
  // Draws ids below `keys`. `zipf`: of skewness 0.99, scrambled; otherwise uniform.
  KeyPicker(uint64_t keys, bool zipf)
      : keys_(keys),
        zipf_(zipf ? std::make_unique<base::Zipf>(keys, defaults::kZipfTheta) : nullptr) {}

  uint32_t Next(base::Random& random) const {
    if (zipf_ == nullptr) return static_cast<uint32_t>(random.Below(keys_));
    return static_cast<uint32_t>(zipf_->Scramble(zipf_->Rank(random.Unit())));
  }
  uint64_t keys() const { return keys_; }

 private:
  uint64_t keys_;
  std::unique_ptr<const base::Zipf> zipf_;
};

}  // namespace weft::bench
