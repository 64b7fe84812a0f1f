// sim/words.h: the words of a line of text, numbers among them, and words in messages.
//
// Threads   pure.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <system_error>

namespace weft::sim {

// Takes the first word off `text`; empty if there is none. Blanks, tabs and CR separate words.
inline std::string_view TakeWord(std::string_view& text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  const size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

// Is `word` a whole number that fits, and nothing else? Then it is in `number`.
template <typename Number>
bool ParseWhole(std::string_view word, int base, Number& number) {
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number, base);
  return error == std::errc() && stop == end;
}

// Is `word` a finite number in decimal digits, and nothing else? Then it is in `number`.
inline bool ParseDecimal(std::string_view word, double& number) {
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  return error == std::errc() && stop == end && std::isfinite(number);
}

// The word for a message, in quotes: only the beginning of a long one, and '?' for each character
// that a terminal does not show as a letter.
inline std::string Quoted(std::string_view word) {
  constexpr size_t kLettersMax = 40;
  std::string quoted = "'";
  for (const char letter : word.substr(0, kLettersMax)) {
    quoted += letter >= ' ' && letter < 127 ? letter : '?';
  }
  return quoted + (word.size() > kLettersMax ? "...'" : "'");
}

}  // namespace weft::sim
