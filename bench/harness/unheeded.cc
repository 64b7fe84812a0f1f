#include "bench/harness/unheeded.h"

#include <algorithm>

#include <CLI/CLI.hpp>

namespace weft::bench {

bool IsGiven(const CLI::App& app, const char* option) {
  const CLI::Option* const found = app.get_option_no_throw(option);
  return found != nullptr && found->count() > 0;
}

bool AsksFor(const std::vector<std::string>& names, std::string_view name) {
  const auto is = [&](const std::string& one) { return one == name; };
  return names.empty() || std::ranges::any_of(names, is);
}

bool AsksForPart(const std::vector<std::string>& names, std::string_view part) {
  const auto has = [&](const std::string& one) { return one.find(part) != std::string::npos; };
  return names.empty() || std::ranges::any_of(names, has);
}

}  // namespace weft::bench
