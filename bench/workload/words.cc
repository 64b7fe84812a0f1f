#include "bench/workload/words.h"

#include <algorithm>
#include <utility>

#include "base/parse_number.h"

namespace weft::bench {
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
  double number = 0;
  if (!base::ParseFinite(word, &number)) return std::nullopt;
  return number;
}

std::optional<uint64_t> CountOf(std::string_view word) {
  uint64_t count = 0;
  if (!base::ParseNumber(word, &count)) return std::nullopt;
  return count;
}

std::optional<double> SecondsOf(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"min", 60}, {"s", 1}};
  for (const auto& [unit, seconds] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const auto number = NumberOf(PartsOf(text.substr(0, text.size() - unit.size()), ',').front());
    if (!number || *number < 0) return std::nullopt;
    return *number * seconds;
  }
  return std::nullopt;
}

}  // namespace weft::bench
