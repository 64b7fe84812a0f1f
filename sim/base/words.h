// sim/base/words.h: the words of a line of text, and words in messages.
//
// Threads   pure.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

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
