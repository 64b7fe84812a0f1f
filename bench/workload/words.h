// bench/workload/words.h: one-line texts, taken apart word by word: descriptions of sizes, keys,
// rates and times.
//
// Threads   pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace weft::bench {

// The words between spaces. Valid as long as `text` is.
std::vector<std::string_view> WordsOf(std::string_view text);
// The parts between `separator`s, each without spaces around it; empty ones too.
std::vector<std::string_view> PartsOf(std::string_view text, char separator);

// The value of a word that is a number and nothing else: finite; a whole one from 0 on.
std::optional<double> NumberOf(std::string_view word);
std::optional<uint64_t> CountOf(std::string_view word);
// A time such as "10s", " 500 ms ", "2min", "80us" or "5ns", in units of `unit_ns` nanoseconds: 0
// or more.
std::optional<double> TimeOf(std::string_view text, double unit_ns);

}  // namespace weft::bench
