#include "bench/drive/sweep.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "bench/drive/each_target.h"
#include "bench/drive/latency_limit.h"
#include "bench/drive/rate_search.h"
#include "bench/harness/report.h"

namespace weft::bench {
namespace {

constexpr double kAbove = 1.05;  // of what the closed loop had: there it can't keep up
constexpr double kBehind = 0.01;
constexpr int kConfirmationsMax = 4;

// One workload on one target.
class Sweep {
 public:
  Sweep(const SweepOptions& options, const std::optional<LatencyLimit>& limit, Driver* driver,
        const OperationMix& mix)
      : options_(options), limit_(limit), driver_(*driver), mix_(mix) {}

  Status Run();

 private:
  Result<LoadFigures> RunAt(double per_s, const char* part);
  bool Holds(double per_s, const LoadFigures& figures) const {
    return limit_->Holds(figures.latency_ns) &&
           figures.OperationsPerSecond() >= (1 - kBehind) * per_s;
  }
  Result<bool> MostHold(double per_s, const char* part);
  Status Curve(double top_per_s);
  Status FindHighest(double top_per_s);
  void Print(const std::optional<double>& highest, double top_per_s) const;

  const SweepOptions& options_;
  const std::optional<LatencyLimit>& limit_;
  Driver& driver_;
  const OperationMix& mix_;
  std::vector<std::pair<double, bool>> told_;  // by the curve
  double latency_us_ = 0;                      // of the last run
};

Result<LoadFigures> Sweep::RunAt(double per_s, const char* part) {
  LoadOptions load = options_.measure.load;
  nlohmann::json notes = {{"part", part}};
  if (per_s > 0) load.rate = RateSchedule::Constant(per_s);
  if (limit_) notes["limit"] = limit_->ToText();
  return driver_.Run(mix_, load, [&](const LoadFigures& figures, const Readings&) {
    if (limit_ && per_s > 0) notes["holds"] = Holds(per_s, figures);
    return nlohmann::json{{"sweep", notes}};
  });
}

Status Sweep::Run() {
  auto top = RunAt(0, "top");
  if (!top) return top.error();
  const double top_per_s = top->OperationsPerSecond();
  if (top_per_s <= 0) return {Code::kRetryLater, "nothing was done in the closed loop"};
  Status status = Curve(top_per_s);
  return status.ok() && limit_ ? FindHighest(top_per_s) : status;
}

Status Sweep::Curve(double top_per_s) {
  for (const double per_s :
       options_.rates.empty() ? CurveRates(top_per_s, options_.points) : options_.rates) {
    auto figures = RunAt(per_s, "curve");
    if (!figures) return figures.error();
    if (limit_) told_.emplace_back(per_s, Holds(per_s, *figures));
  }
  return Status::Ok();
}

// As soon as it can't be otherwise any more. Where the client was late, so that nobody knows whose
// the latency is, a run that fails is made again, as often as there are tries.
Result<bool> Sweep::MostHold(double per_s, const char* part) {
  const int most = options_.tries / 2 + 1;
  for (int held = 0, failed = 0, repeated = 0;;) {
    auto figures = RunAt(per_s, part);
    if (!figures) return figures.error();
    const bool holds = Holds(per_s, *figures);
    if (!holds && repeated < options_.tries && figures->ClientSaturated(*driver_.target(), true)) {
      repeated++;
      continue;
    }
    latency_us_ = limit_->UsOf(figures->latency_ns);
    (holds ? held : failed)++;
    if (held >= most) return true;
    if (failed > options_.tries - most) return false;
  }
}

Status Sweep::FindHighest(double top_per_s) {
  RateSearch search(top_per_s * kAbove, options_.tolerance);
  // A point of the curve is one run: a failure alone says less than what holds above it.
  std::sort(told_.begin(), told_.end());
  double above_all = 0;
  for (const auto& [per_s, holds] : told_) above_all = holds ? per_s : above_all;
  for (const auto& [per_s, holds] : told_) {
    if (holds || per_s > above_all) search.Told(per_s, holds);
  }
  std::optional<double> highest;
  for (int i = 0; i < kConfirmationsMax && !highest; i++) {
    while (const auto per_s = search.Next()) {
      auto holds = MostHold(*per_s, "search");
      if (!holds) return holds.error();
      search.Told(*per_s, *holds);
    }
    if (!search.Highest()) break;
    auto holds = MostHold(*search.Highest(), "highest");
    if (!holds) return holds.error();
    if (*holds) {
      highest = search.Highest();
    } else {
      search.Told(*search.Highest(), false);
    }
  }
  Print(highest, top_per_s);
  return Status::Ok();
}

void Sweep::Print(const std::optional<double>& highest, double top_per_s) const {
  const std::string what = fmt::format("{} {}", driver_.spec(), mix_.name);
  if (highest) {
    fmt::print("{}: {} up to {} op/s ({} us there), {:.0f} % of the closed loop's {}\n", what,
               limit_->ToText(), Short(*highest), Short(latency_us_), 100 * *highest / top_per_s,
               Short(top_per_s));
  } else {
    fmt::print("{}: {} at no rate that could be found\n", what, limit_->ToText());
  }
}

}  // namespace

std::vector<double> CurveRates(double top_per_s, int points) {
  std::vector<double> rates;
  for (int i = 1; i <= points; i++)
    rates.push_back(kAbove * top_per_s * std::sin(std::numbers::pi / 2 * i / points));
  return rates;
}

Status RunSweep(const SweepOptions& options) {
  const MeasureOptions& measure = options.measure;
  std::optional<LatencyLimit> limit;
  if (!options.limit.empty()) {
    auto parsed = LatencyLimit::Parse(options.limit);
    if (!parsed) return parsed.error();
    limit = *parsed;
  }
  auto mixes = MixesOf(measure);
  if (!mixes) return mixes.error();
  for (const OperationMix& mix : *mixes) {
    if (mix.loads || mix.rate)
      return {Code::kInvalidArgument,
              mix.name + ": a sweep takes workloads that go on, at rates of its own"};
  }
  auto log = RunLog::Open(measure.log);
  if (!log) return log.error();
  log->PrintHead();
  return ForEachTarget(measure, *mixes, &*log, [&](Driver* driver) {
    for (const OperationMix& mix : *mixes) {
      Status status = Sweep(options, limit, driver, mix).Run();
      if (status.ok()) continue;
      if (status.code() != Code::kUnsupported || driver->target() == nullptr) return status;
      RunLog::LeaveOut(driver->spec() + " " + mix.name, std::string(status.message()));
    }
    return Status::Ok();
  });
}

}  // namespace weft::bench
