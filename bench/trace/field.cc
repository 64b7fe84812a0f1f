#include "bench/trace/field.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/parse_number.h"

namespace weft::bench {
namespace {

constexpr size_t kShownBytesMax = 40;

bool AreDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string WhyNoCount(std::string_view name, std::string_view text, uint64_t max) {
  if (text.empty()) return fmt::format("it has no {}", name);
  const std::string what = fmt::format("the {} {}", name, ShownField(text));
  if (AreDigits(text)) return fmt::format("{} is too large: {} at most", what, max);
  if (text.front() == '-' && AreDigits(text.substr(1))) return what + " is negative";
  return what + " is not a number";
}

}  // namespace

std::string_view WithoutSpaces(std::string_view text) {
  constexpr std::string_view kSpaces = " \t";
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

std::string ShownField(std::string_view text) {
  const bool is_long = text.size() > kShownBytesMax;
  std::string shown(text.substr(0, kShownBytesMax));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return fmt::format("'{}{}'", shown, is_long ? "..." : "");
}

std::string ReadCount(std::string_view name, std::string_view text, uint64_t max, uint64_t* count) {
  text = WithoutSpaces(text);
  if (base::ParseNumber(text, count) && *count <= max) return "";
  return WhyNoCount(name, text, max);
}

std::string ReadWholePart(std::string_view name, std::string_view text, uint64_t max,
                          uint64_t* count) {
  const std::string_view number = WithoutSpaces(text);
  const size_t point = number.find('.');
  if (point == std::string_view::npos) return ReadCount(name, number, max, count);
  if (!AreDigits(number.substr(0, point)) || !AreDigits(number.substr(point + 1))) {
    return fmt::format("the {} {} is not a number", name, ShownField(number));
  }
  return ReadCount(name, number.substr(0, point), max, count);
}

void SplitFields(std::string_view line, char delimiter, std::vector<std::string_view>* fields) {
  fields->clear();
  while (true) {
    const size_t end = line.find(delimiter);
    fields->push_back(line.substr(0, end));
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
  }
}

std::optional<TraceOperation> OperationOfWord(std::string_view word) {
  static constexpr std::pair<std::string_view, TraceOperation> kWords[] = {
      {"get", TraceOperation::kGet},      {"gets", TraceOperation::kGet},
      {"set", TraceOperation::kSet},      {"add", TraceOperation::kSet},
      {"replace", TraceOperation::kSet},  {"cas", TraceOperation::kSet},
      {"append", TraceOperation::kSet},   {"prepend", TraceOperation::kSet},
      {"incr", TraceOperation::kSet},     {"decr", TraceOperation::kSet},
      {"delete", TraceOperation::kDelete}};
  for (const auto& [known, operation] : kWords) {
    if (word == known) return operation;
  }
  return std::nullopt;
}

std::optional<uint64_t> SizeIfKnown(uint64_t bytes, bool stores_whole) {
  if (bytes == 0 && !stores_whole) return std::nullopt;
  return bytes;
}

}  // namespace weft::bench
