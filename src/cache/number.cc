#include "cache/number.h"

#include <charconv>
#include <system_error>

#include "base/decimal.h"

namespace weft::cache {

bool ParseNumber(std::string_view text, uint64_t* number, size_t* read_bytes) {
  base::Decimal decimal;
  const bool is_number = base::ReadUnsigned(text, &decimal, base::TextEnd::kNul);
  *read_bytes = decimal.read_bytes;
  if (is_number) *number = decimal.Wrapped();
  return is_number;
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
