// What following the workload costs: build/release/src/planner/planner_bench. By how many workers
// there are, whose queries one thread counts, a batch of 1,024 of K16-G95-S after the other:
//
//   look_us    microseconds of a look at all workers' counts
//   window_us  of all looks in a window, with what is done now and then
//   percent    of the workers' time, where windows take as long as Planner::Options::window_us says
//   plan_us    a look that finds another workload, estimates all plans and chooses one
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/ticks.h"
#include "planner/machine_test_kit.h"
#include "planner/planner.h"
#include "planner/workload_test_kit.h"

namespace weft::planner {
namespace {

constexpr uint32_t kTurns = 4000;
constexpr double kInterruptedNs = 5e5;  // by whoever else is on the machine

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return values.empty() ? 0 : *middle;
}

void BM_Follow(benchmark::State& state) {
  Planner::Options options;
  options.conditions.workers = static_cast<uint32_t>(state.range(0));
  options.conditions.queries_max = 8192;
  options.window_us = 0;  // as often as it may be
  auto store = cache::Store::Open({});
  if (!store) return state.SkipWithError(store.error().ToString().c_str());
  std::vector<std::unique_ptr<cache::Session>> sessions;
  for (uint32_t i = 0; i < 4 * options.conditions.workers; i++)
    sessions.push_back((*store)->NewSession());
  Planner planner(TestMachine(), options, store->get());
  RandomQueries loads[] = {{*ProfileOfWorkload("K16-G95-S"), 1},
                           {*ProfileOfWorkload("K8-G50-U"), 1}};
  std::vector<double> looks, plans;
  double ns = 0;
  // Each worker counts a batch, and is asked what it does next.
  const auto turn = [&](uint32_t load) {
    for (uint32_t worker = 0; worker < options.conditions.workers; worker++) {
      loads[load].Count(1, &planner.profiler(worker));
      const uint64_t start = base::ReadTicks();
      planner.Note(worker);
      benchmark::DoNotOptimize(planner.Current(worker).number);
      const auto took = static_cast<double>(base::NsOfTicks(base::ReadTicks() - start));
      if (took > kInterruptedNs) continue;
      ns += took;
      if (took > 400) looks.push_back(took * 1e-3);
    }
  };
  for (auto _ : state) {
    for (uint32_t i = 0; i < kTurns; i++) turn(0);
    const double window_us = ns * 1e-3 / static_cast<double>(planner.Stats().windows);
    state.counters["window_us"] = window_us;
    state.counters["percent"] =
        100 * window_us / (Planner::Options().window_us * options.conditions.workers);
    state.counters["look_us"] = Median(looks);
    for (uint32_t i = 0; i < kTurns / 4; i++) {
      const uint64_t plannings = planner.Stats().plannings;
      looks.clear();
      turn(i / 8 % 2);
      if (planner.Stats().plannings != plannings && !looks.empty())
        plans.push_back(*std::max_element(looks.begin(), looks.end()));
    }
    state.counters["plan_us"] = Median(plans);
  }
}

BENCHMARK(BM_Follow)->ArgName("workers")->Arg(1)->Arg(16)->Iterations(1)->Unit(
    benchmark::kMillisecond);

}  // namespace
}  // namespace weft::planner

BENCHMARK_MAIN();
