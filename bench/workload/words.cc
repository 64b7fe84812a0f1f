#include "bench/workload/words.h"

#include <charconv>
#include <cmath>

namespace weft::bench {
namespace {

template <typename T>
std::optional<T> WholeWord(std::string_view word) {
  T value{};
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (word.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace

std::vector<std::string_view> WordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  for (const std::string_view part : PartsOf(text, ' '))
    if (!part.empty()) words.push_back(part);
  return words;
}

std::vector<std::string_view> PartsOf(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    std::string_view part = text.substr(begin, end - begin);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    parts.push_back(part);
    begin = end + 1;
  }
  return parts;
}

std::optional<double> NumberOf(std::string_view word) {
  const std::optional<double> number = WholeWord<double>(word);
  if (number && !std::isfinite(*number)) return std::nullopt;
  return number;
}

std::optional<uint64_t> CountOf(std::string_view word) { return WholeWord<uint64_t>(word); }

}  // namespace weft::bench
