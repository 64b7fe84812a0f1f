#include "planner/planner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/ticks.h"

namespace weft::planner {
namespace {

// Between two looks, at least, and as a multiple of the mean.
constexpr double kPauseNs = 20e6;
constexpr double kPauseWindows = 8;
constexpr double kWindowsOfMean = 16;
constexpr uint64_t kRateNs = 500'000'000;  // after which the throughput is measured anew
constexpr double kLearnedMoved = 0.05;     // of a factor: then all plans are estimated anew
constexpr double kYieldMoved = 0.05;       // likewise, of a yield
// Of what a span has of looks at victims: they come by fits and starts.
constexpr double kPartOfLooks = 0.125;
constexpr double kNearlyEqual = 0.05;  // of the share of equal pairs: 0.01 of the exponent
// Batches that are nearly full are as large as they may be.
constexpr double kFull = 0.9;

std::vector<const Profiler*> ProfilersOf(const auto& workers) {
  std::vector<const Profiler*> profilers;
  for (const auto& worker : workers) profilers.push_back(&worker->profiler);
  return profilers;
}

bool AreNear(double a, double b) { return std::abs(a - b) <= kNearlyEqual * std::abs(b); }

// Takes some time the first time, so not within a batch.
uint64_t TicksOfUs(uint32_t us) {
  constexpr uint64_t kMany = 1'000'000'000;
  return static_cast<uint64_t>(static_cast<double>(kMany) /
                               static_cast<double>(base::NsOfTicks(kMany)) * us * 1e3);
}

}  // namespace

Planner::Planner(const Calibration& calibration, const Options& options, cache::Store* store)
    : Planner(&calibration, options, store) {}

Planner::Planner(const Options& options, cache::Store* store) : Planner(nullptr, options, store) {}

// `calibration`: null where there is none yet.
Planner::Planner(const Calibration* calibration, const Options& options, cache::Store* store)
    : options_(options),
      store_(store),
      workers_([&] {
        std::vector<std::unique_ptr<Worker>> workers(options.conditions.workers);
        for (auto& worker : workers) {
          worker = std::make_unique<Worker>();
          worker->next_look = options.window_queries;
        }
        return workers;
      }()),
      window_ticks_(TicksOfUs(options.window_us)),
      reader_(ProfilersOf(workers_)),
      is_calibrated_(calibration != nullptr),
      candidates_(AllPlans(is_calibrated_ ? *calibration : Calibration())),
      learner_(is_calibrated_ ? *calibration : Calibration()),
      yields_(candidates_.size()),
      known_(options.profile),
      planned_(options.profile) {
  base::MutexLock lock(&mutex_);
  rate_.begin_ns = options_.now_ns();
  PutInForceLocked(FirstDecisionLocked());
}

Planner::~Planner() = default;

void Planner::Watch(uint32_t worker, const pipeline::TaskTimes* times,
                    const pipeline::RunnerCounters* runner) {
  base::MutexLock lock(&mutex_);
  workers_[worker]->times = times;
  workers_[worker]->runner = runner;
  BeginLessonLocked();
}

void Planner::TimeBy(uint32_t worker, std::optional<clockid_t> cpu_clock) {
  base::MutexLock lock(&mutex_);
  workers_[worker]->cpu_clock = cpu_clock;
  BeginLessonLocked();
}

// A decision is freed when no worker has it in use. A worker says so before it looks whether the
// decision is still in force; one that is replaced before that look is not used. Sequentially
// consistent, all three: either PutInForceLocked sees what the worker says, or the worker sees that
// another decision is in force.
const Decision& Planner::Current(uint32_t worker) {
  std::atomic<const Decision*>& in_use = workers_[worker]->in_use;
  const Decision* decision = current_.load();
  // Relaxed: only this thread writes it.
  while (in_use.load(std::memory_order_relaxed) != decision) {
    in_use.store(decision);
    decision = current_.load();
  }
  return *decision;
}

void Planner::PutInForceLocked(std::unique_ptr<Decision> decision) {
  current_.store(decision.get());
  if (in_force_ != nullptr) replaced_.push_back(std::move(in_force_));
  in_force_ = std::move(decision);
  std::erase_if(replaced_, [this](const std::unique_ptr<Decision>& old) {
    return std::none_of(workers_.begin(), workers_.end(),
                        [&](const auto& worker) { return worker->in_use.load() == old.get(); });
  });
}

void Planner::Look() {
  if (!mutex_.TryLock()) return;  // somebody does
  LookLocked();
  mutex_.Unlock();
}

void Planner::LookLocked() {
  WorkloadCounts window;
  if (!reader_.Next(options_.window_queries, &window)) return;
  for (size_t i = 0; i < workers_.size(); i++)
    // Relaxed: see Note.
    workers_[i]->next_look.store(reader_.begin_queries(i) + options_.window_queries,
                                 std::memory_order_relaxed);
  // Relaxed: see Note.
  next_look_ticks_.store(base::ReadTicks() + window_ticks_, std::memory_order_relaxed);
  windows_++;
  rate_ = RateLocked();
  const uint64_t now_ns = options_.now_ns();
  const auto window_ns = static_cast<double>(now_ns - looked_ns_);
  if (window_ns > std::max(kPauseNs, kPauseWindows * window_ns_)) {
    if (exploration_.is_under_way()) exploration_.Prolong(now_ns - looked_ns_);
    // Whoever always has queries has done something else in between.
    if (options_.has_always_queries) {
      trial_ = {};
      BeginLessonLocked();
    }
  }
  if (looked_ns_ != 0) window_ns_ += (window_ns - window_ns_) / kWindowsOfMean;
  looked_ns_ = now_ns;
  const bool is_first = settled_.queries == 0;
  if (is_first || has_begun_ || IsAnother(settled_, window)) {
    EndTrialLocked();
    // The second one takes the place of the first, unless that is followed by yet another. The
    // first one has the change in its middle and is of neither workload.
    const bool is_whole = is_first || has_begun_;
    has_begun_ = is_first || !has_begun_ || IsAnother(settled_, window);
    settled_ = window;
    settled_windows_ = 1;
    BeginSpanLocked();
    BeginLessonLocked();
    known_ = ProfileLocked();
    if (is_whole) PlanIfMovedLocked();
    return;
  }
  span_.Add(window);
  AddToTrialLocked(window);
  if (++span_windows_ == kSpanWindows) {
    EndSpanLocked();
  } else if (trial_.windows >= kTrialWindows) {
    EndTrialLocked();
    PlanIfMovedLocked();
  }
}

void Planner::AddToTrialLocked(const WorkloadCounts& window) {
  if (trial_.rest < kTrialRest) {
    if (++trial_.rest < kTrialRest) return;
    trial_.begin_ns = looked_ns_;
    trial_.begin = TakenLocked();
    return;
  }
  trial_.windows++;
  trial_.queries += window.queries;
  trial_.end_ns = looked_ns_;
  trial_.end = TakenLocked();
}

// What there is of it counts, if it is half of one, and another one begins.
void Planner::EndTrialLocked() {
  const Trial ended = std::exchange(trial_, {});
  if (ended.windows < kTrialWindows / 2 || !options_.learns || !is_calibrated_) return;
  has_counted_ = false;
  const auto elapsed_ns = static_cast<double>(ended.end_ns - ended.begin_ns);
  const auto queries = static_cast<double>(ended.queries);
  if (!options_.has_always_queries) {
    const double cpu_ns = ended.begin.cpu_ns == 0 ? 0 : ended.end.cpu_ns - ended.begin.cpu_ns;
    if (cpu_ns < kBusy * elapsed_ns * static_cast<double>(workers_.size())) return;
  }
  const double behind = ended.end.behind_queries - ended.begin.behind_queries;
  const bool is_late = ended.begin_ns - began_ns_ > kCatchUpNs;
  if (behind > kNotable * queries && !is_late) fresh_since_ns_ = ended.end_ns;
  const bool is_fresh = ended.begin_ns < fresh_since_ns_ + Yields::kFreshNs;
  // Batches that went through one stage, for they were small or the device is lost, say nothing of
  // a plan with a device. Nor do those while it was catching up with the store, unless it never
  // does, or the stay may be over by then.
  double on_device = ended.end.device_queries - ended.begin.device_queries;
  if (is_fresh || is_late) on_device += behind;
  if (candidate_ != 0 && on_device < kOnDevice * queries && IsWatchedLocked()) return;
  has_counted_ = true;
  yields_.Note(candidate_, is_fresh, queries * 1e9 / elapsed_ns,
               static_cast<double>(ended.windows) / kTrialWindows);
}

bool Planner::IsWatchedLocked() const {
  return std::any_of(workers_.begin(), workers_.end(),
                     [](const auto& worker) { return worker->runner != nullptr; });
}

void Planner::BeginSpanLocked() {
  span_ = {};
  span_windows_ = 0;
  if (store_ == nullptr) return;
  cache::SessionCounters counters;
  store_->SumCounters(&counters);
  looks_begin_ = counters.victim_looks.value();
}

void Planner::EndSpanLocked() {
  const bool is_another = IsAnother(settled_, span_);
  if (is_another) {
    trial_ = {};
    settled_ = span_;
    settled_windows_ = 0;
  } else {
    settled_.Add(span_);
  }
  settled_windows_ += kSpanWindows;
  FollowStoreLocked();
  known_ = ProfileLocked();
  lesson_.spans++;
  lesson_.queries += span_.queries;
  lesson_.batches += span_.batches;
  if (is_another) {
    BeginLessonLocked();
  } else if (lesson_.spans == kSpansToLearn) {
    if (options_.learns && is_calibrated_) LearnLocked();
    BeginLessonLocked();
  }
  PlanIfMovedLocked();
  if (settled_windows_ >= kWindowsKept) {
    settled_.Halve();
    settled_windows_ /= 2;
  }
  BeginSpanLocked();
}

void Planner::FollowStoreLocked() {
  if (store_ == nullptr || span_.stores == 0) return;
  cache::SessionCounters counters;
  store_->SumCounters(&counters);
  const double looks = static_cast<double>(counters.victim_looks.value() - looks_begin_) /
                       static_cast<double>(span_.stores);
  known_.looks_per_store += (looks - known_.looks_per_store) * kPartOfLooks;
}

// Of what has settled.
Profile Planner::ProfileLocked() {
  Profile known = known_;
  if (store_ != nullptr) known.objects = std::max(static_cast<double>(store_->ItemCount()), 1.0);
  if (options_.measures_batches && settled_.batches != 0) {
    const double mean =
        static_cast<double>(settled_.queries) / static_cast<double>(settled_.batches);
    known.batch_queries = mean < kFull * options_.conditions.one_stage_max ? mean : 0;
  }
  WorkloadCounts counts = settled_;
  const double equal_share = static_cast<double>(counts.equal_pairs) /
                             static_cast<double>(std::max<uint64_t>(counts.pairs, 1));
  if (AreNear(equal_share, equal_share_) && AreNear(known.objects, equal_objects_)) {
    counts.pairs = 0;  // the exponent stays
  } else if (counts.pairs != 0) {
    equal_share_ = equal_share;
    equal_objects_ = known.objects;
  }
  return ProfileOf(counts, known);
}

void Planner::PlanIfMovedLocked() {
  if (!is_calibrated_) return;
  std::string why = plannings_ == 0 ? "first counts" : WhatMoved(planned_, known_);
  if (why.empty() && !learner_.HasMoved(kLearnedMoved, &why)) {
    const double promise = PromiseLocked();
    const Yields::Yield yield = yields_.OfTried(candidate_, promise, is_short_);
    const bool has_moved = std::abs(std::log(yield.ratio / in_force_->yield)) > kYieldMoved;
    if (is_short_ && yields_.IsLong(looked_ns_)) {
      why = "the workload is unchanged";
    } else if (exploration_.is_under_way() && exploration_.IsOver(yield, promise, looked_ns_)) {
      why = fmt::format("the plan on trial yields {:.2f} times what was promised", yield.ratio);
    } else if (yield.is_known && has_moved) {
      why = fmt::format("the plan yields {:.2f} times what was promised", yield.ratio);
    } else if (has_more_to_explore_ && MayExploreLocked()) {
      why = "there is time to try another plan";
    } else {
      return;
    }
  }
  PlanLocked(known_, std::move(why));
}

double Planner::PromiseLocked() const {
  return in_force_->estimate.queries_per_s / in_force_->yield;
}

bool Planner::MayExploreLocked() const {
  return options_.learns && !is_short_ && has_counted_ && !exploration_.is_under_way() &&
         looked_ns_ - began_ns_ >= Yields::kLongNs &&
         yields_.OfTried(candidate_, PromiseLocked(), is_short_).is_known;
}

void Planner::PlanLocked(const Profile& profile, std::string why) {
  Model model(learner_.learned(), profile, options_.conditions);
  size_t standing = candidate_;  // that a better one takes the place of
  const Yields::Yield tried = yields_.OfTried(candidate_, PromiseLocked(), is_short_);
  const bool has_explored =
      exploration_.is_under_way() && exploration_.IsOver(tried, PromiseLocked(), looked_ns_);
  if (has_explored) standing = exploration_.End(tried, &yields_);
  const bool is_another = yields_.Visit(profile, looked_ns_);
  const bool was_short = std::exchange(is_short_, !yields_.IsLong(looked_ns_));
  // Within a stay a plan is not judged before it is known, and none takes its place before that
  // can be: plans that make each other look better would change for ever.
  const bool goes_on = !is_another && was_short == is_short_;
  if (!goes_on && exploration_.is_under_way()) standing = exploration_.Abandon();
  std::optional<Yields::Held> held;
  if (goes_on && !has_explored) held = {candidate_, in_force_->yield};
  auto [estimates, yields] =
      OutlookOf(&model, candidates_, profile.batch_queries, yields_, is_short_, held);
  const bool is_new = goes_on && !has_explored &&
                      (exploration_.is_under_way() || looked_ns_ - began_ns_ < Yields::kLongNs);
  size_t next = standing;
  if (!is_new)
    next = BestInPlaceOf(standing, candidates_, estimates, yields, options_.hysteresis,
                         options_.conditions.interval_us);
  const std::optional<size_t> to_explore = Exploration::Next(yields_, estimates, yields, next);
  has_more_to_explore_ = to_explore.has_value();
  if (to_explore && goes_on && next == candidate_ && MayExploreLocked()) {
    next = *to_explore;
    const double standing_queries_per_s = estimates[candidate_].queries_per_s;
    why = fmt::format("on trial: it promises {:.2f} times as much",
                      estimates[next].queries_per_s / standing_queries_per_s);
    exploration_.Begin(next, yields[next].trials, candidate_, standing_queries_per_s, looked_ns_);
  }
  const bool changes = next != candidate_;
  candidate_ = next;
  auto decision = std::make_unique<Decision>();
  decision->candidate = candidates_[candidate_];
  decision->estimate = std::move(estimates[candidate_]);
  decision->yield = yields[candidate_].ratio;
  decision->workload = yields_.number();
  decision->profile = profile;
  decision->why = std::move(why);
  if (candidate_ != 0)
    decision->device_batch_min =
        FewestQueriesOf(&model, decision->candidate, options_.conditions.queries_max,
                        decision->yield, yields[0].ratio);
  ReplaceLocked(std::move(decision), changes, is_another);
}

void Planner::ReplaceLocked(std::unique_ptr<Decision> decision, bool changes, bool is_another) {
  const bool differs =
      changes || is_another || decision->device_batch_min != in_force_->device_batch_min;
  decision->number = in_force_->number + (differs ? 1 : 0);
  if (changes || is_another) {
    trial_ = {};
    has_counted_ = false;
    began_ns_ = fresh_since_ns_ = looked_ns_;
  }
  planned_ = decision->profile;
  planned_.counted = 0;  // it was taken for true
  learner_.NoteUse();
  plannings_++;
  if (changes) {
    changes_++;
    if (last_changes_.size() == kChangesKept) last_changes_.erase(last_changes_.begin());
    last_changes_.push_back({looked_ns_, in_force_->candidate, decision->candidate,
                             decision->estimate.queries_per_s, decision->why});
    BeginLessonLocked();
  }
  PutInForceLocked(std::move(decision));
}

// Since the workers began.
Measured Planner::TakenLocked() const {
  Measured taken;
  uint64_t device_ticks = 0;
  std::array<uint64_t, pipeline::kTaskCount> ticks{};
  for (const auto& worker : workers_) {
    if (worker->times != nullptr)
      for (size_t i = 0; i < ticks.size(); i++) ticks[i] += worker->times->time_ticks[i].value();
    if (worker->runner == nullptr) continue;
    const pipeline::RunnerCounters& runner = *worker->runner;
    taken.device_batches += static_cast<double>(runner.device_batches.value());
    taken.device_queries += static_cast<double>(runner.device_queries.value());
    taken.stolen_queries += static_cast<double>(runner.stolen_queries.value());
    taken.behind_queries += static_cast<double>(runner.behind_queries.value());
    device_ticks += runner.device_ticks.value();
  }
  for (size_t i = 0; i < ticks.size(); i++)
    taken.task_ns[i] = static_cast<double>(base::NsOfTicks(ticks[i]));
  taken.device_ns = static_cast<double>(base::NsOfTicks(device_ticks));
  for (const auto& worker : workers_) {
    timespec used;
    if (!worker->cpu_clock || clock_gettime(*worker->cpu_clock, &used) != 0) {
      taken.cpu_ns = 0;  // of all, or of none
      break;
    }
    taken.cpu_ns += static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
  }
  return taken;
}

void Planner::BeginLessonLocked() {
  lesson_ = {};
  lesson_.begin = TakenLocked();
  lesson_.begin_ns = options_.now_ns();
}

void Planner::LearnLocked() {
  Measured measured = TakenLocked();
  for (size_t i = 0; i < measured.task_ns.size(); i++)
    measured.task_ns[i] -= lesson_.begin.task_ns[i];
  measured.device_batches -= lesson_.begin.device_batches;
  measured.device_queries -= lesson_.begin.device_queries;
  measured.stolen_queries -= lesson_.begin.stolen_queries;
  measured.device_ns -= lesson_.begin.device_ns;
  measured.cpu_ns = lesson_.begin.cpu_ns == 0 ? 0 : measured.cpu_ns - lesson_.begin.cpu_ns;
  measured.elapsed_ns = static_cast<double>(options_.now_ns() - lesson_.begin_ns);
  measured.queries = static_cast<double>(lesson_.queries);
  measured.batch_queries =
      measured.queries / static_cast<double>(std::max<uint64_t>(lesson_.batches, 1));
  learner_.Learn(measured, known_, options_.conditions, candidates_[candidate_]);
}

// With a new begin where it is time for one.
Planner::Rate Planner::RateLocked() const {
  const uint64_t now_ns = options_.now_ns();
  if (now_ns - rate_.begin_ns < kRateNs) return rate_;
  Rate rate = rate_;
  WorkloadCounts counts;
  rate.begin_queries = 0;
  for (const auto& worker : workers_)
    if (worker->profiler.Read(&counts)) {
      rate.begin_queries += counts.queries;
    } else {
      return rate_;  // somebody is just counting
    }
  rate.begin_ns = now_ns;
  rate.queries_per_s = static_cast<double>(rate.begin_queries - rate_.begin_queries) /
                       (static_cast<double>(now_ns - rate_.begin_ns) * 1e-9);
  return rate;
}

PlannerStats Planner::Stats() const {
  base::MutexLock lock(&mutex_);
  PlannerStats stats;
  stats.decision = *in_force_;
  stats.last_changes = last_changes_;
  if (!last_changes_.empty()) stats.last_change = last_changes_.back().why;
  stats.changes = changes_;
  stats.plannings = plannings_;
  stats.windows = windows_;
  stats.profile = known_;
  rate_ = RateLocked();
  stats.measured_queries_per_s = rate_.queries_per_s;
  for (size_t i = 0; i < pipeline::kTaskCount; i++)
    stats.task_factors[i] = learner_.factor(static_cast<pipeline::Task>(i));
  for (size_t i = 0; i < learner_.learned().devices.size(); i++)
    stats.device_factors.push_back(learner_.device_factor(i));
  stats.sockets_ns = learner_.sockets_ns();
  stats.decisions_kept = replaced_.size();
  return stats;
}

Calibration Planner::learned() const {
  base::MutexLock lock(&mutex_);
  return learner_.learned();
}

}  // namespace weft::planner
