// base/decimal.h: decimal numbers in text, as the C library reads them and memcached takes them.
//
// Form      white space, a sign, digits; then white space and anything, or the end. What does not
//           fit 64 bits is none.
// Threads   pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::base {

struct Decimal {
  uint64_t magnitude = 0;
  bool negative = false;

  // Below 0 it wraps, as in C.
  uint64_t Wrapped() const { return negative ? 0 - magnitude : magnitude; }
};

// False, with *decimal spoiled, where the text has not this form.
bool ReadDecimal(std::string_view text, Decimal* decimal);

// As memcached's safe_strtoull: one that has wrapped is none where it would look negative, nor is
// one above 2^63 with a '-' anywhere. So -18446744073709551615 is 1. *number is left alone then.
bool ReadUnsigned(std::string_view text, uint64_t* number);

}  // namespace weft::base
