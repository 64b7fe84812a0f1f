// base/decimal.h: decimal numbers in text, as the C library reads them and memcached takes them.
//
// Form      white space, a sign, digits; then white space and anything, or the end. A number that
//           does not fit 64 bits is rejected.
// Threads   pure.
// Cost      of the bytes up to the one that decides it (Decimal::read_bytes), whatever follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::base {

struct Decimal {
  uint64_t magnitude = 0;
  bool negative = false;
  size_t read_bytes = 0;  // bytes of the text that were looked at

  // Below 0 it wraps, as in C.
  uint64_t Wrapped() const { return negative ? 0 - magnitude : magnitude; }
};

// Where the text ends. A C string has no byte behind its first NUL.
enum class TextEnd : uint8_t { kItsSize, kNul };

// False where the text has not this form; *decimal is then spoiled, except its read_bytes.
bool ReadDecimal(std::string_view text, Decimal* decimal, TextEnd ends = TextEnd::kItsSize);

// As memcached's safe_strtoull, which gives Wrapped(). It rejects a wrapped number that would look
// negative, and one above 2^63 with a '-' anywhere. So -18446744073709551615 is 1.
bool ReadUnsigned(std::string_view text, Decimal* decimal, TextEnd ends = TextEnd::kItsSize);

}  // namespace weft::base
