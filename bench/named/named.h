// bench/named/named.h: the named workloads of docs/design: K16-G95-U and its 23 siblings.
//
// Threads   a Workload is a value.
// Errors    kInvalidArgument: there is no workload of that name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weft/status.h"

namespace weft::bench {

struct Workload {
  std::string name;
  uint32_t key_bytes = 16;
  uint32_t value_bytes = 64;
  double get_share = 0.95;  // the rest are SETs with the same distribution
  bool zipf = false;        // skewness 0.99, scrambled; false: uniform
};

// "K16-G95-U": K8, K16, K32 or K128; G0 to G100; U or S.
Result<Workload> ParseWorkload(std::string_view name);

}  // namespace weft::bench
