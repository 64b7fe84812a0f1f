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

// The text without the spaces and tabs at its ends.
std::string_view WithoutSpaces(std::string_view text);

// Between quotes, cut short where it is long, with a ? for each byte that a terminal does not show.
std::string ShownField(std::string_view text);

// Reads a decimal number of digits alone, perhaps among spaces. Returns what is wrong, if anything:
// "the size '-1' is negative". `name` is "size".
std::string ReadCount(std::string_view name, std::string_view text, uint64_t max, uint64_t* count);
// Likewise, but the number may have a fraction, which does not count: 1.75 is 1.
std::string ReadWholePart(std::string_view name, std::string_view text, uint64_t max,
                          uint64_t* count);

// Sets `fields` to what stands between the delimiters: at least one field.
void SplitFields(std::string_view line, char delimiter, std::vector<std::string_view>* fields);

// memcached's words, small: "gets", "set", "incr", "delete".
std::optional<TraceOperation> OperationOfWord(std::string_view word);

// The meaning of `bytes` as a value's size: nothing if they are 0, unless the whole value is
// stored. Traces have 0 for a get that missed, and some for an incr.
std::optional<uint64_t> SizeIfKnown(uint64_t bytes, bool stores_whole);

}  // namespace weft::bench
