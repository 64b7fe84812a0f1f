// bench/trace/field.h: the fields of a line of text: numbers, and the words for operations.
//
// Threads   pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/trace/trace.h"

namespace weft::bench {

// Without the spaces and tabs at its ends.
std::string_view WithoutSpaces(std::string_view text);

// Between quotes, cut short where it is long, with a ? for each byte that a terminal does not show.
std::string ShownField(std::string_view text);

// A decimal number of digits alone, perhaps among spaces. The answer is what is wrong, where
// something is: "the size '-1' is negative". `name` is "size".
std::string ReadCount(std::string_view name, std::string_view text, uint64_t max, uint64_t* count);
// Likewise, where the number may have a fraction, which does not count: 1.75 is 1.
std::string ReadWholePart(std::string_view name, std::string_view text, uint64_t max,
                          uint64_t* count);

// Sets `fields` to what stands between the delimiters: at least one field.
void SplitFields(std::string_view line, char delimiter, std::vector<std::string_view>* fields);

// memcached's words, small: "gets", "set", "incr", "delete".
std::optional<TraceOperation> OperationOfWord(std::string_view word);

// What `bytes` of a value's size say: nothing where they are 0, unless the whole value is stored.
// Traces have 0 for a get that missed, and some for an incr.
std::optional<uint64_t> SizeIfKnown(uint64_t bytes, bool stores_whole);

}  // namespace weft::bench
