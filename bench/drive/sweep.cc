#include "bench/drive/sweep.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "bench/drive/each_target.h"
#include "bench/drive/latency_limit.h"
#include "bench/drive/rate_search.h"
#include "bench/harness/report.h"

namespace weft::bench {
namespace {

constexpr double kAbove = 1.05;   // of what the closed loop had: there it can't keep up
constexpr double kFarAbove = 3;   // likewise: nothing is to be learned there
constexpr double kBehind = 0.01;  // of what was asked for: of its time, and of its operations
constexpr int kConfirmationsMax = 16;
constexpr int kLatencyDigits = 4;  // as Short has them

// What the repetitions of a workload on a target have in common: at other rates they would be
// points of a single run each.
struct SweepPlan {
  std::vector<double> rates;  // of the curve; empty: the first repetition finds them
  double top_per_s = 0;       // the most that a closed loop had
};

// A repetition of one workload on one target.
class Sweep {
 public:
  Sweep(const SweepOptions& options, const std::optional<LatencyLimit>& limit, Driver* driver,
        const OperationMix& mix, SweepPlan* plan)
      : options_(options), limit_(limit), driver_(*driver), mix_(mix), plan_(*plan) {}

  Status Run();

 private:
  struct Tried {
    bool holds = false;
    bool counts = true;
  };

  Result<Tried> RunAt(double per_s, const char* part, bool may_repeat);
  bool Holds(const LoadFigures& figures) const {
    // Where the limit is long against the run, nothing else tells that the rate was too much.
    const double late =
        std::min(limit_->most_us * 1e-6 / options_.measure.load.seconds, options_.tolerance);
    const auto operations = static_cast<double>(figures.operations);
    return operations > 0 && limit_->Holds(figures.latency_ns) &&
           figures.seconds <= options_.measure.load.seconds * (1 + std::max(late, kBehind)) &&
           static_cast<double>(figures.outcomes.refused) <= kBehind * operations;
  }
  Result<bool> MostHold(double per_s, const char* part);
  Status Curve(double top_per_s);
  Status FindHighest(double top_per_s);
  void Print(bool is_found, double top_per_s) const;

  const SweepOptions& options_;
  const std::optional<LatencyLimit>& limit_;
  Driver& driver_;
  const OperationMix& mix_;
  SweepPlan& plan_;
  double held_ = 0;  // the highest rate of the curve that did
  // Of the last run:
  double done_per_s_ = 0;
  double latency_us_ = 0;
};

Result<Sweep::Tried> Sweep::RunAt(double per_s, const char* part, bool may_repeat) {
  LoadOptions load = options_.measure.load;
  if (per_s > 0) load.rate = RateSchedule::Constant(per_s);
  Tried tried;
  auto figures = driver_.Run(mix_, load, [&](const LoadFigures& of, const Readings&) {
    nlohmann::json notes = {{"part", part}};
    if (limit_) notes["limit"] = limit_->RecordText();
    if (limit_ && per_s > 0) {
      tried.holds = Holds(of);
      tried.counts = tried.holds || !(may_repeat && of.ClientSaturated(*driver_.target(), true));
      notes["holds"] = tried.holds;
      notes["counts"] = tried.counts;
    }
    return nlohmann::json{{"sweep", notes}};
  });
  if (!figures) return figures.error();
  done_per_s_ = figures->OperationsPerSecond();
  if (limit_) latency_us_ = limit_->UsOf(figures->latency_ns);
  return tried;
}

Status Sweep::Run() {
  auto top = RunAt(0, "top", false);
  if (!top) return top.error();
  const double top_per_s = done_per_s_;
  if (top_per_s <= 0) return {Code::kRetryLater, "nothing was done in the closed loop"};
  Status status = Curve(top_per_s);
  return status.ok() && limit_ ? FindHighest(top_per_s) : status;
}

Status Sweep::Curve(double top_per_s) {
  if (plan_.rates.empty()) plan_.rates = CurveRates(top_per_s, options_.points);
  plan_.top_per_s = std::max(plan_.top_per_s, top_per_s);
  for (const double per_s : plan_.rates) {
    if (per_s > kFarAbove * plan_.top_per_s) {
      driver_.LeaveOut(mix_, fmt::format("at {}/s", Short(per_s)),
                       "far above the closed loop's rate");
      continue;
    }
    auto tried = RunAt(per_s, "curve", false);
    if (!tried) return tried.error();
    if (tried->holds) held_ = std::max(held_, per_s);
  }
  return Status::Ok();
}

// As soon as it can't be otherwise any more. Where the client was late, so that nobody knows whose
// the latency is, a run that fails is made again, as often as there are tries.
Result<bool> Sweep::MostHold(double per_s, const char* part) {
  const int most = options_.tries / 2 + 1;
  for (int held = 0, failed = 0, repeated = 0;;) {
    auto tried = RunAt(per_s, part, repeated < options_.tries);
    if (!tried) return tried.error();
    if (!tried->counts) {
      repeated++;
      continue;
    }
    (tried->holds ? held : failed)++;
    if (held >= most) return true;
    if (failed > options_.tries - most) return false;
  }
}

Status Sweep::FindHighest(double top_per_s) {
  RateSearch search(top_per_s * kAbove, options_.tolerance);
  if (held_ > 0) search.Told(std::min(held_, top_per_s * kAbove), true);
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
  Print(highest.has_value(), top_per_s);
  return Status::Ok();
}

// The last run was the one that settled it.
void Sweep::Print(bool is_found, double top_per_s) const {
  const std::string what = fmt::format("{} {}", driver_.spec(), mix_.name);
  if (is_found) {
    fmt::print("{}: {} up to {} op/s ({} there), {:.0f} % of the closed loop's {}\n", what,
               limit_->ToText(), Short(done_per_s_), TimeText(latency_us_, kLatencyDigits),
               100 * done_per_s_ / top_per_s, Short(top_per_s));
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
    if (mix.fills || mix.rate)
      return {Code::kInvalidArgument,
              mix.name + ": a sweep sets its own rates and needs workloads that do not end"};
  }
  auto log = RunLog::Open(measure.log);
  if (!log) return log.error();
  log->PrintHead();
  std::map<std::pair<std::string, std::string>, SweepPlan> plans;  // by target and workload
  return ForEachTarget(measure, *mixes, &*log, [&](Driver* driver) {
    for (const OperationMix& mix : *mixes) {
      SweepPlan& plan = plans[{driver->spec(), mix.name}];
      if (plan.rates.empty()) plan.rates = options.rates;
      Status status = Sweep(options, limit, driver, mix, &plan).Run();
      if (!status.ok()) status = LeaveOutUnsupported(*driver, mix, status);
      if (!status.ok()) return status;
    }
    return Status::Ok();
  });
}

}  // namespace weft::bench
