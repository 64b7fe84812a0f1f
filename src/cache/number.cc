#include "cache/number.h"

#include <charconv>
#include <system_error>

namespace weft::cache {
namespace {

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

bool ParseNumber(std::string_view text, uint64_t* number) {
  size_t start = 0;
  while (start < text.size() && IsSpace(text[start])) start++;
  const bool is_negative = start < text.size() && text[start] == '-';
  if (is_negative || (start < text.size() && text[start] == '+')) start++;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + start, end, *number);
  if (error != std::errc() || (rest != end && !IsSpace(*rest) && *rest != '\0')) return false;
  if (is_negative) *number = 0 - *number;
  return *number <= uint64_t{INT64_MAX} ||
         text.substr(0, text.find('\0')).find('-') == std::string_view::npos;
}

uint64_t CountFrom(const Command& command, uint64_t number) {
  if (!command.decrement) return number + command.delta;
  return number > command.delta ? number - command.delta : 0;
}

std::string_view FormatNumber(uint64_t number, char (&buffer)[kDigitsMax]) {
  const auto [end, error] = std::to_chars(buffer, buffer + kDigitsMax, number);
  (void)error;  // 20 digits always suffice
  return {buffer, static_cast<size_t>(end - buffer)};
}

}  // namespace weft::cache
