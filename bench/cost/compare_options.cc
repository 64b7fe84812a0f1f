#include "bench/cost/compare_options.h"

#include <cmath>

#include <fmt/format.h>

#include "base/parse_number.h"

namespace weft::bench {
namespace {

Status Bad(std::string_view text, std::string_view why) {
  return {Code::kInvalidArgument,
          fmt::format("--server {}: {}; it is NAME=price,idle_w,busy_w or NAME=price", text, why)};
}

std::optional<double> NumberOf(std::string_view text) {
  double number = 0;
  if (!base::ParseFinite(text, &number) || number < 0) return std::nullopt;
  return number;
}

std::vector<std::string_view> Parts(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

Status CheckAll(const std::vector<double>& numbers, const char* option, double least) {
  for (const double number : numbers) {
    if (std::isfinite(number) && number >= least) continue;
    return {Code::kInvalidArgument,
            fmt::format("{}: {} is not a number of at least {}", option, number, least)};
  }
  return Status::Ok();
}

// Of a lifetime or a throughput, which must be above 0.
constexpr double kLeast = 1e-6;

}  // namespace

Result<ServerSpec> ParseServerSpec(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return Bad(text, "has no name");
  ServerSpec spec;
  spec.name = text.substr(0, equals);
  const std::vector<std::string_view> parts = Parts(text.substr(equals + 1));
  if (parts.size() != 1 && parts.size() != 3) return Bad(text, "it needs one or three numbers");
  std::optional<double> numbers[3];
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i == 0 && parts[i].empty() && parts.size() == 3) continue;
    numbers[i] = NumberOf(parts[i]);
    if (!numbers[i]) return Bad(text, fmt::format("'{}' is not a number of at least 0", parts[i]));
  }
  if (numbers[0]) spec.price = Dollars(*numbers[0]);
  if (parts.size() == 1) return spec;
  if (*numbers[1] > *numbers[2]) return Bad(text, "idle power is above busy power");
  spec.idle = Watts(*numbers[1]);
  spec.busy = Watts(*numbers[2]);
  return spec;
}

Status CheckOptions(const CompareOptions& options) {
  if (options.files.empty()) return {Code::kInvalidArgument, "compare: no files"};
  for (const Status& status :
       {CheckAll({options.target_throughput_per_s}, "--target-throughput", kLeast),
        CheckAll(options.prices, "--price", 0),
        CheckAll(options.lifetimes_years, "--lifetime", kLeast),
        CheckAll(options.electricity_dollars_per_kwh, "--electricity", 0)}) {
    if (!status.ok()) return status;
  }
  if (options.utilization && !(*options.utilization >= 0 && *options.utilization <= 1)) {
    return {Code::kInvalidArgument,
            fmt::format("--utilization: {} is not between 0 and 1", *options.utilization)};
  }
  return Status::Ok();
}

}  // namespace weft::bench
