#include "bench/drive/latency_limit.h"

#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace weft::bench {
namespace {

constexpr double kMean = -1;
constexpr double kLeastUs = 1e-3;  // a nanosecond: latencies are whole ones
constexpr double kMostUs = 3.6e9;  // an hour
constexpr int kLimitDigits = 12;   // more than anybody writes, less than rounding shows in

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// A number at the beginning, which is taken off.
std::optional<double> TakeNumber(std::string_view* text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return value;
}

std::optional<double> PercentOf(std::string_view which) {
  if (which == "mean") return kMean;
  if (which == "max") return 100;
  if (!which.starts_with('p')) return std::nullopt;
  which.remove_prefix(1);
  const auto percent = TakeNumber(&which);
  if (!percent || !which.empty() || *percent <= 0 || *percent > 100) return std::nullopt;
  return percent;
}

std::optional<double> UsOfTime(std::string_view text) {
  const auto value = TakeNumber(&text);
  const std::string_view unit = Trimmed(text);
  const double factor = unit == "ns"   ? 1e-3
                        : unit == "us" ? 1
                        : unit == "ms" ? 1e3
                        : unit == "s"  ? 1e6
                                       : 0;
  if (!value || *value * factor < kLeastUs || *value * factor > kMostUs) return std::nullopt;
  return *value * factor;
}

}  // namespace

Result<LatencyLimit> LatencyLimit::Parse(std::string_view text) {
  const std::string_view whole = Trimmed(text);
  const size_t space = std::min(whole.find(' '), whole.size());
  const auto percent = PercentOf(whole.substr(0, space));
  const auto most_us = UsOfTime(Trimmed(whole.substr(space)));
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
