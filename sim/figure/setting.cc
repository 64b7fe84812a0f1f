#include "sim/figure/setting.h"

#include <sstream>
#include <utility>

#include <CLI/CLI.hpp>

namespace weft::sim {
namespace {

struct Values {
  std::string option;
  std::vector<std::string> values;
};

Result<Values> ParseOver(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
    return Status(Code::kInvalidArgument, "--over '" + text + "' is not OPTION=VALUE,VALUE,...");
  }
  Values values{.option = text.substr(0, equals), .values = {}};
  std::istringstream list(text.substr(equals + 1));
  for (std::string value; std::getline(list, value, ',');) values.values.push_back(value);
  return values;
}

// Not of what is simulated, or the runner's.
bool IsOfNoCase(const std::string& option) {
  for (const char* other : {"seed", "out", "epoch", "cmd-trace", "no-skip"}) {
    if (option == other) return true;
  }
  return false;
}

// With the option's value. Whether that is possible, only a run can tell.
Result<Setting> With(Setting setting, const std::string& option, const std::string& value) {
  if (IsOfNoCase(option)) {
    return Status(
        Code::kInvalidArgument,
        "--over " + option + ": it does not change what is simulated, or applies to all runs");
  }
  CLI::App app;
  AddRun(&app, &setting.of.run);
  AddPrefetch(&app, &setting.of.prefetch);
  try {
    app.parse(std::vector<std::string>{"--" + option + "=" + value});
  } catch (const CLI::ParseError& error) {
    return Status(Code::kInvalidArgument, "--over " + option + "=" + value + ": " + error.what());
  }
  if (!setting.name.empty()) setting.name += ' ';
  setting.name += option + "=" + value;
  return setting;
}

}  // namespace

Result<std::vector<Setting>> SettingsOf(const Case& base, const std::vector<std::string>& over,
                                        bool one_at_a_time) {
  const Setting of_base{.name = {}, .of = base};
  std::vector<Setting> settings = {of_base};
  for (const std::string& text : over) {
    const Result<Values> values = ParseOver(text);
    if (!values) return values.error();
    const std::vector<Setting> before =
        std::exchange(settings, one_at_a_time ? settings : std::vector<Setting>{});
    for (const Setting& setting : one_at_a_time ? std::vector<Setting>{of_base} : before) {
      for (const std::string& value : values.value().values) {
        const Result<Setting> with = With(setting, values.value().option, value);
        if (!with) return with.error();
        settings.push_back(with.value());
      }
    }
  }
  return settings;
}

}  // namespace weft::sim
