// bench/harness/workload.h: the named workloads of docs/design (K16-G95-U and its 23 siblings) and
// the draw of their keys.
//
// Threads: a Workload is a value; a KeyPicker is immutable and shared, each caller brings a Random.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/zipf.h"
#include "weft/status.h"

namespace weft::bench {

struct Workload {
  std::string name;
  uint32_t key_bytes = 16;
  uint32_t value_bytes = 64;
  double get_share = 0.95;  // the rest are SETs with the same distribution
  bool zipf = false;        // skewness 0.99, scrambled; false: uniform
};

// "K16-G95-U": K8, K16, K32 or K128; G0 to G100; U or S. kInvalidArgument otherwise.
Result<Workload> ParseWorkload(std::string_view name);

// Draws the ids of a workload.
class KeyPicker {
 public:
  // Computes Zipf's constants once, here.
  KeyPicker(uint64_t keys, bool zipf);

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
