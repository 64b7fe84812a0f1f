#include "bench/drive/latency_limit.h"

#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace weft::bench {
namespace {

constexpr double kMean = -1;
constexpr double kMostUs = 3.6e9;  // an hour

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
  const double factor = unit == "us" ? 1 : unit == "ms" ? 1e3 : unit == "s" ? 1e6 : 0;
  if (!value || *value * factor <= 0 || *value * factor > kMostUs) return std::nullopt;
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
                  fmt::format("'{}' is no limit of latency: as in 'p99 1ms', 'p99.9 500us', 'mean "
                              "80us', 'max 1s', up to an hour",
                              text));
  return LatencyLimit{.percent = *percent, .most_us = *most_us};
}

std::string LatencyLimit::ToText() const {
  const std::string which = is_mean()        ? "mean"
                            : percent >= 100 ? "max"
                                             : fmt::format("p{}", percent);
  return fmt::format("{} <= {} us", which, most_us);
}

double LatencyLimit::UsOf(const base::Histogram& latency_ns) const {
  if (is_mean()) return latency_ns.Mean() * 1e-3;
  if (percent >= 100) return static_cast<double>(latency_ns.max()) * 1e-3;
  return static_cast<double>(latency_ns.Percentile(percent)) * 1e-3;
}

}  // namespace weft::bench
