#include "bench/drive/latency_limit.h"

#include <optional>

#include <fmt/format.h>

#include "bench/workload/words.h"

namespace weft::bench {
namespace {

constexpr double kMean = -1;
constexpr double kLeastUs = 1e-3;  // a nanosecond
constexpr double kMostUs = 3.6e9;  // an hour
constexpr int kLimitDigits = 12;   // more than anybody writes, less than rounding shows in

std::optional<double> PercentOf(std::string_view which) {
  if (which == "mean") return kMean;
  if (which == "max") return 100;
  if (!which.starts_with('p')) return std::nullopt;
  const auto percent = NumberOf(which.substr(1));
  return percent > 0 && percent <= 100 ? percent : std::nullopt;
}

std::optional<double> UsOfTime(std::string_view text) {
  const auto us = TimeOf(text, 1e3);
  return us >= kLeastUs && us <= kMostUs ? us : std::nullopt;
}

}  // namespace

Result<LatencyLimit> LatencyLimit::Parse(std::string_view text) {
  const auto words = WordsOf(text);
  const std::string_view which = words.empty() ? "" : words[0];
  const auto percent = PercentOf(which);
  const auto most_us = UsOfTime(text.substr(text.find(which) + which.size()));
  if (!percent || !most_us)
    return Status(Code::kInvalidArgument,
                  fmt::format("'{}' is not a latency limit such as 'p99 1ms', 'p99.9 500us', 'mean "
                              "80us' or 'max 1s', from a nanosecond to an hour",
                              text));
  return LatencyLimit{.percent = *percent, .most_us = *most_us};
}

std::string LatencyLimit::Which() const {
  if (is_mean()) return "mean";
  return percent >= 100 ? "max" : fmt::format("p{}", percent);
}

std::string LatencyLimit::ToText() const {
  return fmt::format("{} <= {}", Which(), TimeText(most_us, kLimitDigits));
}

std::string LatencyLimit::RecordText() const {
  return fmt::format("{} <= {} us", Which(), most_us);
}

double LatencyLimit::UsOf(const base::Histogram& latency_ns) const {
  if (is_mean()) return latency_ns.Mean() * 1e-3;
  if (percent >= 100) return static_cast<double>(latency_ns.max()) * 1e-3;
  return static_cast<double>(latency_ns.Percentile(percent)) * 1e-3;
}

std::string TimeText(double us, int digits) {
  struct Unit {
    double us;
    const char* name;
  };
  for (const Unit& unit : {Unit{1e6, "s"}, Unit{1e3, "ms"}, Unit{1, "us"}})
    if (us >= unit.us) return fmt::format("{:.{}g} {}", us / unit.us, digits, unit.name);
  return fmt::format("{:.{}g} ns", us * 1e3, digits);
}

}  // namespace weft::bench
