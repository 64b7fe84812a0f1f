#include "bench/meter/power_trace.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace weft::bench {

Status PowerTrace::Add(Seconds at, Watts power) {
  if (!std::isfinite(at.value()) || !std::isfinite(power.value()) || power < Watts(0)) {
    return {Code::kInvalidArgument,
            fmt::format("{} W at {} s is not a reading", power.value(), at.value())};
  }
  if (!readings_.empty() && at <= readings_.back().time) {
    return {Code::kInvalidArgument,
            fmt::format("readings are out of order: {:.3f} s after {:.3f} s", at.value(),
                        readings_.back().time.value())};
  }
  readings_.push_back({at, power});
  return Status::Ok();
}

Watts PowerTrace::PowerAt(const At& a, const At& b, Seconds time) {
  const double share = (time - a.time) / (b.time - a.time);
  return a.power + (b.power - a.power) * share;
}

Result<Joules> PowerTrace::Between(Seconds from, Seconds to, Seconds gap_max) const {
  if (readings_.empty()) return Status(Code::kInvalidArgument, "there are no readings of power");
  if (to < from) return Status(Code::kInvalidArgument, "the interval ends before it begins");
  const At& first = readings_.front();
  const At& last = readings_.back();
  if (first.time - from > gap_max || to - last.time > gap_max) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("readings from {:.3f} s to {:.3f} s do not cover {:.3f} s to {:.3f} s",
                    first.time.value(), last.time.value(), from.value(), to.value()));
  }
  Joules sum(0);
  if (from < first.time) sum += first.power * (std::min(to, first.time) - from);
  if (last.time < to) sum += last.power * (to - std::max(from, last.time));
  for (size_t i = 1; i < readings_.size(); ++i) {
    const At& a = readings_[i - 1];
    const At& b = readings_[i];
    const Seconds begin = std::max(a.time, from);
    const Seconds end = std::min(b.time, to);
    if (end <= begin) continue;
    if (b.time - a.time > gap_max) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("no reading for {:.3f} s from {:.3f} s on, at most {:.3f} s may lie "
                      "between two",
                      (b.time - a.time).value(), a.time.value(), gap_max.value()));
    }
    sum += 0.5 * (PowerAt(a, b, begin) + PowerAt(a, b, end)) * (end - begin);
  }
  return sum;
}

}  // namespace weft::bench
