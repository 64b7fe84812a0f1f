// planner/planner_test_kit.h: machines, workers and their queries for tests of the planner.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/ticks.h"
#include "cache/cache_test_kit.h"
#include "planner/machine_test_kit.h"
#include "planner/planner.h"
#include "planner/workload_test_kit.h"

namespace weft::planner {

inline constexpr uint32_t kWindowGroups = 2;

// With only gpu0, whose work takes `slower` times as long.
inline Calibration Machine(double slower = 1) {
  Calibration machine = TestMachine();
  machine.devices.resize(1);
  for (UnitCost& unit : machine.devices[0].units) {
    unit.instructions *= slower;
    unit.memory *= slower;
    unit.stream *= slower;
  }
  machine.devices[0].job *= slower;
  return machine;
}

// With a device that reads quickly and follows stores slowly: with half stores, the CPU is best.
inline Calibration ReadingMachine(uint32_t workers) {
  Calibration machine = TestMachine();
  machine.devices.erase(machine.devices.begin());
  machine.devices[0].change = 400.0 / workers;
  machine.cpu.unit(Work::kSearch).memory = 40;
  return machine;
}

inline Planner::Options OptionsFor(uint32_t workers) {
  Planner::Options options;
  options.conditions.workers = workers;
  options.conditions.queries_max = 16384;
  options.window_us = 0;  // only by queries
  return options;
}

// Queries of a workload to all workers, until each has counted a window.
inline void FeedWindow(RandomQueries* queries, Planner* planner, uint32_t workers) {
  for (uint32_t group = 0; group < kWindowGroups; group++)
    for (uint32_t worker = 0; worker < workers; worker++) {
      queries->Count(1, &planner->profiler(worker));
      planner->Note(worker);
    }
}

// Counts the times that the tasks of `queries` queries take on a worker of the machine.
inline void AddTimes(const Calibration& machine, const Profile& truth, const Decision& decision,
                     double queries, pipeline::TaskTimes* times) {
  static const double ticks_per_ns = 1e9 / static_cast<double>(base::NsOfTicks(1'000'000'000));
  Model model(machine, truth, Conditions());
  auto estimate = model.Of(decision.candidate.plan, decision.candidate.steal, 1024);
  for (size_t i = 0; i < pipeline::kTaskCount; i++)
    times->Add(static_cast<pipeline::Task>(i),
               static_cast<uint64_t>(estimate->task_ns[i] * queries * ticks_per_ns), 0);
}

// For the tests with Trials, which set the time.
inline uint64_t test_now_ns = 0;
inline uint64_t TestNow() { return test_now_ns; }

// For each plan with a device: the part of the predicted throughput that it reaches.
using YieldFunction = std::function<double(const Candidate&)>;

// A machine whose plans with a device have `yield` times their predicted throughput. In the first
// `kFreshNs` after each change of plan they have `fresh_yield` times.
class Trials {
 public:
  static constexpr uint64_t kFreshNs = 15'000'000;

  explicit Trials(double yield, Planner::Options options = OptionsFor(1),
                  std::optional<double> fresh_yield = {})
      : Trials([yield](const Candidate&) { return yield; },
               ReadingMachine(options.conditions.workers), options, fresh_yield) {}
  Trials(YieldFunction yield, const Calibration& machine, Planner::Options options = OptionsFor(1),
         std::optional<double> fresh_yield = {})
      : machine_(machine),
        yield_(std::move(yield)),
        fresh_yield_(fresh_yield),
        conditions_(options.conditions) {
    options.now_ns = TestNow;
    options.has_always_queries = true;
    planner_ = std::make_unique<Planner>(machine_, options);
  }

  void Run(const char* workload, int windows, uint64_t seed = cache::TestSeed()) {
    Profile truth = *ProfileOfWorkload(workload);
    truth.objects = RandomQueries::kKeys;
    RandomQueries queries(truth, seed);
    Model model(machine_, truth, conditions_);
    for (int i = 0; i < windows; i++) {
      const Candidate plan = planner_->Current(0).candidate;
      if (plan.plan != last_plan_) changed_ns_ = test_now_ns;
      last_plan_ = plan.plan;
      const bool is_left = is_behind_ && plan.plan.stages().size() > 1;
      const Candidate carried_out = is_left ? planner_->candidates()[0] : plan;
      const double rate =
          model.Of(carried_out.plan, carried_out.steal, 0)->queries_per_s * YieldOf(carried_out);
      const uint32_t workers = conditions_.workers;
      const double window = workers * kWindowGroups * Profiler::kGroupQueries;
      test_now_ns += static_cast<uint64_t>(window * 1e9 / rate);
      if (is_left) runner_.behind_queries.Add(static_cast<uint64_t>(window));
      FeedWindow(&queries, planner_.get(), workers);
      if (slower_) AddTimes(*slower_, truth, planner_->Current(0), window, &times_);
    }
  }
  // Tasks of the CPU take `times` times as long as calibrated. As the planner learns it, it looks
  // at all plans again and again.
  void SlowTasks(double times) {
    slower_ = machine_;
    for (UnitCost& unit : slower_->cpu.units) {
      unit.instructions *= times;
      unit.memory *= times;
      unit.stream *= times;
    }
    planner_->Watch(0, &times_, nullptr);
  }
  // From now on the device does not keep up with the store: its batches take one stage.
  void FallBehind() {
    planner_->Watch(0, &times_, &runner_);
    is_behind_ = true;
  }
  double Gain(const char* workload) const {
    Profile truth = *ProfileOfWorkload(workload);
    truth.objects = RandomQueries::kKeys;
    const auto choices = RankPlans(machine_, truth, conditions_, AllPlans(machine_));
    return choices.front().estimate.queries_per_s /
           EstimatePlan(machine_, truth, pipeline::Plan::OneStageCpu(), conditions_)->queries_per_s;
  }
  bool IsOneStage() { return planner_->Current(0).candidate.plan.stages().size() == 1; }
  Planner& planner() { return *planner_; }

 private:
  double YieldOf(const Candidate& candidate) const {
    if (candidate.plan.stages().size() == 1) return 1;
    const bool is_fresh = test_now_ns - changed_ns_ < kFreshNs;
    return is_fresh && fresh_yield_ ? *fresh_yield_ : yield_(candidate);
  }

  const Calibration machine_;  // it has few plans
  const YieldFunction yield_;
  const std::optional<double> fresh_yield_;
  const Conditions conditions_;
  pipeline::Plan last_plan_ = pipeline::Plan::OneStageCpu();
  uint64_t changed_ns_ = 0;
  std::optional<Calibration> slower_;
  pipeline::TaskTimes times_;
  pipeline::RunnerCounters runner_;
  bool is_behind_ = false;
  std::unique_ptr<Planner> planner_;
};

}  // namespace weft::planner
