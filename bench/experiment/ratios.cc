#include "bench/experiment/ratios.h"

#include <fmt/format.h>

#include "bench/harness/report.h"

namespace weft::bench {
namespace {

Reading NotThere(const std::string& name) { return Reading::Unavailable(name + ": no such meter"); }

Reading ReadingOf(const Readings& readings, const std::string& name) {
  const auto at = readings.find(name);
  if (at == readings.end()) return NotThere(name);
  if (at->second.available()) return at->second;
  return Reading::Unavailable(name + ": " + at->second.reason());
}

// `factor` * above / below.
Reading Ratio(const Readings& readings, const std::string& above, const std::string& below,
              const std::string& unit, double factor = 1) {
  const Reading over = ReadingOf(readings, above);
  const Reading under = ReadingOf(readings, below);
  for (const Reading* one : {&over, &under})
    if (!one->available()) return *one;
  if (!(under.value() > 0)) return Reading::Unavailable(below + " is 0");
  return Reading::Of(factor * over.value() / under.value(), unit, over.source());
}

Reading OperationsPerJoule(const Readings& readings, uint64_t operations) {
  const Reading energy = ReadingOf(readings, "energy_j");
  if (!energy.available()) return energy;
  if (!(energy.value() > 0)) return Reading::Unavailable("energy_j is 0");
  Reading ratio =
      Reading::Of(static_cast<double>(operations) / energy.value(), "1/J", energy.source());
  return energy.modelled() ? std::move(ratio).Modelled() : ratio;
}

struct Phrase {
  const char* name;
  const char* words;
  double factor;
};
constexpr Phrase kPhrases[] = {
    {"operations_per_j", "operations/J", 1},
    {"ipc_per_core", "instructions a cycle and core", 1},
    {"branch_miss_ratio", "% of branches missed", 100},
    {"cache_miss_ratio", "% of last-level references missed", 100},
};

}  // namespace

Readings RatiosOf(const Readings& readings, uint64_t operations, double threads_on_a_core) {
  Readings ratios;
  ratios.emplace("operations_per_j", OperationsPerJoule(readings, operations));
  ratios.emplace("ipc_per_core", Ratio(readings, "instructions", "cycles", "1", threads_on_a_core));
  ratios.emplace("branch_miss_ratio", Ratio(readings, "branch_misses", "branches", "1"));
  ratios.emplace("cache_miss_ratio", Ratio(readings, "cache_misses", "cache_references", "1"));
  return ratios;
}

std::string ToText(const Readings& ratios) {
  std::string text;
  for (const Phrase& phrase : kPhrases) {
    const Reading ratio = ReadingOf(ratios, phrase.name);
    if (!ratio.available()) continue;
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", Short(ratio.value() * phrase.factor),
                        phrase.words, ratio.modelled() ? " (modelled)" : "");
  }
  return text;
}

std::set<std::string> WhyUnavailable(const Readings& ratios) {
  std::set<std::string> reasons;
  for (const auto& [name, ratio] : ratios)
    if (!ratio.available()) reasons.insert(fmt::format("{}: {}", name, ratio.reason()));
  return reasons;
}

}  // namespace weft::bench
