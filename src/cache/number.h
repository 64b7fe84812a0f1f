// cache/number.h: values that count, as incr, decr and ma read and write them.
//
// Threads   any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cache/command.h"

namespace weft::cache {

inline constexpr size_t kDigitsMax = 20;  // of 2^64 - 1

// Reads a number as memcached does (base/decimal.h): it ends at a NUL, too. *number is left alone
// where there is none. *read_bytes: of the text, that were looked at in either case.
bool ParseNumber(std::string_view text, uint64_t* number, size_t* read_bytes);

// What the command makes of it. Upwards it wraps at 2^64, downwards it stops at 0.
uint64_t CountFrom(const Command& command, uint64_t number);

// Its digits, in `buffer`.
std::string_view FormatNumber(uint64_t number, char (&buffer)[kDigitsMax]);

}  // namespace weft::cache
