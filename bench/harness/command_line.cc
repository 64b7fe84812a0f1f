#include "bench/harness/command_line.h"

#include <string_view>

namespace weft::bench {
namespace {

// Characters that a shell takes for its own.
constexpr std::string_view kShells = " \t\n[]*?'\"$&|<>(){};\\`!#~";

std::string Quoted(std::string_view argument) {
  if (!argument.empty() && argument.find_first_of(kShells) == std::string_view::npos)
    return std::string(argument);
  std::string quoted = "'";
  for (const char c : argument) {
    if (c == '\'') quoted += "'\\'";  // ends the quotes, and below begins them again
    quoted += c;
  }
  return quoted + "'";
}

}  // namespace

std::string CommandLine(std::span<char* const> arguments) {
  std::string line = "weft-bench";
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--json") ++i;
    if (argument.starts_with("--json")) continue;
    line += ' ';
    line += Quoted(argument);
  }
  return line;
}

}  // namespace weft::bench
