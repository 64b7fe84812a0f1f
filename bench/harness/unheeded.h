// bench/harness/unheeded.h: refuses options that are without a use beside the other ones given:
// figures would pass for ones taken with them. bench/drive/measure_command_line.cc refuses those of
// `run`, sweeps and experiments.
//
// Threads   pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

// False also where the subcommand has no such option.
bool IsGiven(const CLI::App& app, const char* option);

// Of a list that has all there is where it is empty: whether it has `name`, or a name with this
// part.
bool AsksFor(const std::vector<std::string>& names, std::string_view name);
bool AsksForPart(const std::vector<std::string>& names, std::string_view part);

// Options of a subcommand, and what leaves them without a use.
template <typename Arguments>
struct UnheededRule {
  std::vector<const char*> options;
  const char* why;
  bool (*is_unheeded)(const Arguments& arguments);
};

template <typename Arguments>
using UnheededRules = std::vector<UnheededRule<Arguments>>;

// "--load: --rate is given", of the subcommand that was parsed; empty: every option has a use.
template <typename Arguments>
std::string UnheededOf(const CLI::App& app, const Arguments& arguments,
                       const UnheededRules<Arguments>& rules) {
  for (const UnheededRule<Arguments>& rule : rules) {
    for (const char* const option : rule.options) {
      if (IsGiven(app, option) && rule.is_unheeded(arguments))
        return std::string(option) + ": " + rule.why;
    }
  }
  return "";
}

}  // namespace weft::bench
