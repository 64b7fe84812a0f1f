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

std::optional<double> TimeOf(std::string_view text, double unit_ns) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"min", 60e9}, {"s", 1e9}};
  const auto words = WordsOf(text);
  if (words.empty() || words.size() > 2) return std::nullopt;
  for (const auto& [unit, ns] : kUnits) {
    if (!words.back().ends_with(unit)) continue;
    const std::string_view rest = words.back().substr(0, words.back().size() - unit.size());
    const auto number = NumberOf(words.size() == 1 ? rest : rest.empty() ? words[0] : "");
    if (!number || *number < 0) return std::nullopt;
    return *number * (ns / unit_ns);
  }
  return std::nullopt;
}

}  // namespace weft::bench
