#include "planner/search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "base/check.h"
#include "task/query_job.h"

namespace weft::planner {
namespace {

using pipeline::Task;

// The read of a query, task by task: a stage on the device has some of them that follow each other.
constexpr std::array<Task, 3> kReadTasks = {Task::kSearch, Task::kCompare, Task::kRead};

enum class Where : uint8_t { kFirst, kDevice, kLast };

// The plan whose device has the reads' tasks [begin, end) and what is said of the changes. Empty
// where the device has nothing.
std::string TextOf(size_t begin, size_t end, Where inserts, Where deletes,
                   const std::string& device) {
  std::array<std::string, 3> tasks = {"RV PP MM", "", ""};
  const auto add = [&](size_t stage, Task task) {
    if (!tasks[stage].empty()) tasks[stage] += ' ';
    tasks[stage] += pipeline::TaskName(task);
  };
  for (size_t i = 0; i < kReadTasks.size(); i++)
    add(i < begin ? 0 : i < end ? 1 : 2, kReadTasks[i]);
  add(static_cast<size_t>(inserts), Task::kInsert);
  add(static_cast<size_t>(deletes), Task::kDelete);
  add(2, Task::kWrite);
  add(2, Task::kSend);
  if (tasks[1].empty()) return {};
  return "[" + tasks[0] + "]cpu -> [" + tasks[1] + "]" + device + " -> [" + tasks[2] + "]cpu";
}

std::vector<Where> PlacesOf(const ProcessorCosts& device, Work change) {
  if (device.mirrored) return {Where::kLast};
  if (device.unit(change) == UnitCost{}) return {Where::kFirst, Where::kLast};
  return {Where::kFirst, Where::kDevice, Where::kLast};
}

void AddPlansOf(size_t number, const ProcessorCosts& costs, std::vector<Candidate>* plans) {
  const std::string device = "gpu" + std::to_string(number);
  for (size_t begin = 0; begin <= kReadTasks.size(); begin++) {
    for (size_t end = begin; end <= kReadTasks.size(); end++) {
      for (const Where inserts : PlacesOf(costs, Work::kInsert)) {
        for (const Where deletes : PlacesOf(costs, Work::kDelete)) {
          const std::string text = TextOf(begin, end, inserts, deletes, device);
          if (text.empty()) continue;
          auto plan = pipeline::Plan::Parse(text);
          WEFT_CHECK(plan);
          plans->push_back({*plan, true});
          plans->push_back({std::move(*plan), false});
        }
      }
    }
  }
}

Estimate EstimateOf(Model* model, const Candidate& candidate, double batch_queries, double yield) {
  auto estimate = model->Of(candidate.plan, candidate.steal, batch_queries, yield);
  WEFT_CHECK(estimate);
  return std::move(*estimate);
}

// Whether `a` is to take the place of `b`, which is in force and takes `b_latency_us`: then it fits
// the interval up to that part more of it, so that a latency near it does not make plans change in
// turns.
bool IsBetterBy(double part, double interval_us, const Estimate& a, const Estimate& b,
                double b_latency_us) {
  const bool b_fits = b.fits || b_latency_us <= interval_us * (1 + part);
  if (a.fits != b_fits) return a.fits;
  return a.fits ? a.queries_per_s > b.queries_per_s * (1 + part)
                : a.latency_us * (1 + part) < b.latency_us;
}

// The largest batch with which a plan that was tried is within the interval. The larger it is, the
// more is promised, and the less is the yield of that.
double SizeWhereTried(const auto& estimate_of, const auto& yield_of) {
  constexpr double kExact = 1.005;
  double fits = Yields::kMin, too_much = Yields::kMax;  // yields
  double size = estimate_of(fits).batch_queries;
  double next = yield_of(estimate_of(1).queries_per_s);
  while (too_much > fits * kExact) {
    const Estimate estimate = estimate_of(next);
    const double yield = yield_of(estimate.queries_per_s / next);
    if (yield < next) {
      too_much = next;
    } else {
      size = estimate.batch_queries;
      if (yield <= next * kExact) break;
      fits = next;
    }
    next = std::sqrt(fits * too_much);
  }
  return size;
}

}  // namespace

bool IsBetter(const Estimate& a, const Estimate& b) {
  if (a.fits != b.fits) return a.fits;
  return a.fits ? a.queries_per_s > b.queries_per_s : a.latency_us < b.latency_us;
}

Estimate ForChoice(const Candidate& candidate, Estimate estimate, bool is_known) {
  double better = 1;
  if (candidate.plan.stages().size() == 1) {
    better = 1 + kDeviceGainMin;
  } else if (is_known) {
    better = (1 + kDeviceGainMin) / (1 + kKnownGainMin);
  }
  estimate.queries_per_s *= better;
  estimate.latency_us /= better;
  return estimate;
}

std::vector<Estimate> EstimateAll(Model* model, const std::vector<Candidate>& candidates,
                                  double batch_queries, std::span<const Yields::Yield> yields) {
  WEFT_DCHECK(yields.empty() || yields.size() == candidates.size());
  std::vector<Estimate> estimates;
  estimates.reserve(candidates.size());
  for (size_t i = 0; i < candidates.size(); i++)
    estimates.push_back(
        EstimateOf(model, candidates[i], batch_queries, yields.empty() ? 1 : yields[i].ratio));
  return estimates;
}

Outlook OutlookOf(Model* model, const std::vector<Candidate>& candidates, double batch_queries,
                  const Yields& yields, bool is_fresh, std::optional<Yields::Held> held) {
  std::vector<double> sizes(candidates.size(), batch_queries), promises;
  for (size_t i = 0; i < candidates.size(); i++) {
    const auto yield_of = [&](double promise) {
      return yields.OfTried(i, promise, is_fresh).ratio;
    };
    const auto estimate_of = [&](double yield) {
      return EstimateOf(model, candidates[i], batch_queries, yield);
    };
    const Yields::Yield tried = yields.OfTried(i, 1, is_fresh);
    const bool is_held = held && held->candidate == i && !tried.is_known;
    if (tried.trials != 0 && batch_queries == 0 && !is_held)
      sizes[i] = SizeWhereTried(estimate_of, yield_of);
    promises.push_back(EstimateOf(model, candidates[i], sizes[i], 1).queries_per_s);
  }
  Outlook outlook;
  outlook.yields = yields.Of(promises, is_fresh, held);
  for (size_t i = 0; i < candidates.size(); i++)
    outlook.estimates.push_back(
        EstimateOf(model, candidates[i], sizes[i], outlook.yields[i].ratio));
  return outlook;
}

std::vector<Candidate> AllPlans(const Calibration& calibration) {
  std::vector<Candidate> plans = {{pipeline::Plan::OneStageCpu(), false}};
  for (size_t i = 0; i < calibration.devices.size(); i++)
    AddPlansOf(i, calibration.devices[i], &plans);
  return plans;
}

size_t BestInPlaceOf(size_t standing, std::span<const Candidate> candidates,
                     std::span<const Estimate> estimates, std::span<const Yields::Yield> yields,
                     double hysteresis, double interval_us) {
  const auto of = [&](size_t i) {
    return ForChoice(candidates[i], estimates[i], yields[i].is_known);
  };
  size_t best = 0;
  for (size_t i = 1; i < estimates.size(); i++)
    if (IsBetter(of(i), of(best))) best = i;
  return IsBetterBy(hysteresis, interval_us, of(best), of(standing), estimates[standing].latency_us)
             ? best
             : standing;
}

std::vector<Choice> RankPlans(const Calibration& calibration, const Profile& profile,
                              const Conditions& conditions,
                              const std::vector<Candidate>& candidates) {
  Model model(calibration, profile, conditions);
  std::vector<Estimate> estimates = EstimateAll(&model, candidates, profile.batch_queries);
  std::vector<size_t> order(estimates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return IsBetter(ForChoice(candidates[a], estimates[a]), ForChoice(candidates[b], estimates[b]));
  });
  std::vector<Choice> choices;
  choices.reserve(order.size());
  for (const size_t i : order) choices.push_back({candidates[i], std::move(estimates[i])});
  return choices;
}

uint32_t FewestQueriesOf(Model* model, const Candidate& candidate, uint32_t limit, double yield,
                         double one_stage_yield) {
  const Candidate one_stage = {pipeline::Plan::OneStageCpu(), false};
  // Every size, and of large ones every eighth part more.
  for (uint32_t queries = kSetQueries; queries <= limit;
       queries += std::max(queries / 8 / kSetQueries, 1u) * kSetQueries) {
    const Estimate estimate = EstimateOf(model, candidate, queries, yield);
    const Estimate without = EstimateOf(model, one_stage, queries, one_stage_yield);
    if (estimate.fits && estimate.queries_per_s > without.queries_per_s) return queries;
  }
  return limit + 1;
}

uint32_t FewestQueriesOf(const Calibration& calibration, const Profile& profile,
                         const Conditions& conditions, const Candidate& candidate, uint32_t limit) {
  Model model(calibration, profile, conditions);
  return FewestQueriesOf(&model, candidate, limit);
}

}  // namespace weft::planner
