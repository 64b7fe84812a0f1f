// sim/generator/mix.h: the operations asked of a store: gets and puts of values of some sizes.
//
// "1" to "12" are paper 004's mixes; fixed:BYTES has only gets of values of one size. A key keeps
// its size for good, so a size's share of the operations is its share of the keys, too.
//
// Units     bytes of values; shares sum to 1.
// Threads   const after construction.
// Errors    kInvalidArgument: no mix of that name, or a size that no value has.
// Source    paper 004, table 3; the simulator's specification, section 1.4. The paper's rows are
//           rounded and sum to 100.0 to 100.3 percent: each is divided by its own sum.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/trace/record.h"
#include "weft/status.h"

namespace weft::sim {

inline constexpr int kMixes = 12;
inline constexpr int kValueBytesMax = 1 << 15;  // an object's size is a record's

class Mix {
 public:
  struct Size {
    int value_bytes;
    double gets;
    double puts;

    double share() const { return gets + puts; }
  };
  struct Drawn {
    int size;  // its index in sizes()
    OpType type;
  };

  static Result<Mix> Find(std::string_view name);

  const std::vector<Size>& sizes() const { return sizes_; }
  double AverageValueBytes() const;  // of operations
  double PutShare() const;
  // The operation that a uniformly random word stands for.
  Drawn Draw(uint64_t word) const;

 private:
  explicit Mix(std::vector<Size> percents);

  std::vector<Size> sizes_;
  // Sums of the shares up to each kind of operation, in 2^-64: sizes_[i]'s gets at 2 * i, its puts
  // behind them. The last is not used.
  std::vector<uint64_t> ends_;
};

}  // namespace weft::sim
