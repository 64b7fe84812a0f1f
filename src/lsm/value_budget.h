// lsm/value_budget.h: how many bytes of values a MultiGet may still find
// (ReadOptions::value_bytes_max).
//
// Threads   one at a time.
#pragma once

#include <algorithm>
#include <cstddef>

#include "weft/status.h"

namespace weft::lsm {

class ValueBudget {
 public:
  // 0: no limit.
  explicit ValueBudget(size_t bytes_max) : is_limited_(bytes_max != 0), left_(bytes_max) {}

  bool is_limited() const { return is_limited_; }
  bool used_up() const { return is_limited_ && left_ == 0; }
  // A value of so many bytes was found; it may be more than was left.
  void Take(size_t bytes) { left_ -= std::min(left_, bytes); }

  // Of a lookup that there was no room for.
  static Status UsedUp() { return {Code::kRetryLater, "enough values were found"}; }

 private:
  const bool is_limited_;
  size_t left_;
};

}  // namespace weft::lsm
