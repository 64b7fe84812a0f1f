// sim/trace/value_mix.h: how large the values of a workload are, and how often each size is read
// and written: the paper's twelve mixes, or one size that is only read.
//
// The size belongs to the key: each class has as large a share of the keys as of the operations.
//
// Units     bytes; shares of 1.
// Threads   values.
// Errors    kInvalidArgument: no such mix.
// Source    paper 004, table 3; the simulator's specification, section 1.4.
#pragma once

#include <string_view>
#include <vector>

#include "weft/status.h"

namespace weft::sim {

inline constexpr int kMixes = 12;
inline constexpr int kValueBytesMax = 4096;

struct ValueClass {
  int value_bytes = 0;
  double reads = 0;
  double writes = 0;

  double share() const { return reads + writes; }
};

struct ValueMix {
  std::vector<ValueClass> classes;  // shares add up to 1

  double MeanValueBytes() const;
  double writes() const;
};

// "1" to "12", or "fixed:BYTES". The paper's rows are rounded: divided by their sums.
Result<ValueMix> ParseValueMix(std::string_view text);

}  // namespace weft::sim
