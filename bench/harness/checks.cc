#include "bench/harness/checks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "bench/harness/machine.h"

namespace weft::bench {
namespace {

constexpr int kThreadsMax = 1024;

}  // namespace

std::string FaultOfCpuList(const std::string& text) {
  const std::vector<int> cpus = ParseCpuList(text);
  if (cpus.empty()) return fmt::format("\"{}\" is not a list of CPUs such as 0,2,4-7", text);
  const std::vector<int> usable = UsableCpus();
  for (const int cpu : cpus) {
    if (std::find(usable.begin(), usable.end(), cpu) == usable.end())
      return fmt::format("CPU {} is not one that this process may use: {}", cpu,
                         CpuListText(usable));
  }
  return "";
}

std::string FaultOfThreadCounts(const std::string& text) {
  const std::vector<int> counts = ParseCpuList(text);  // the same form
  if (counts.empty())
    return fmt::format("\"{}\" is not a list of thread counts such as 1,2,4-8", text);
  for (const int count : counts) {
    if (count < 1 || count > kThreadsMax)
      return fmt::format("{} threads: it must be from 1 to {}", count, kThreadsMax);
  }
  return "";
}

std::string FaultOfNumbers(const CLI::App& subcommand) {
  for (const CLI::Option* const option : subcommand.get_options()) {
    const std::string type = option->get_type_name();
    for (const std::string& text : option->results()) {
      char* end = nullptr;
      const double number = std::strtod(text.c_str(), &end);
      if (end == text.c_str() || *end != '\0') continue;
      if (type.starts_with("FLOAT") && !std::isfinite(number))
        return fmt::format("{}: {} is not a finite number", option->get_name(), text);
      if (type.starts_with("UINT") && std::signbit(number))
        return fmt::format("{}: {} is below 0", option->get_name(), text);
    }
  }
  return "";
}

}  // namespace weft::bench
