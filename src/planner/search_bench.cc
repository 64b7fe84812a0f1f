// What it takes to find a plan: build/release/src/planner/search_bench. On the machine of
// machine_test_kit.h, by how many of its devices there are (1: coupled, 2: a mirrored one besides)
// and the exponent of the keys' popularity in hundredths; half of the queries are stores.
#include <benchmark/benchmark.h>

#include "planner/machine_test_kit.h"
#include "planner/search.h"

namespace weft::planner {
namespace {

struct Scene {
  explicit Scene(const benchmark::State& state) {
    machine.devices.resize(static_cast<size_t>(state.range(0)));
    machine.cpu.cache_bytes = 32e6;
    profile.get_share = 0.5;
    profile.zipf = static_cast<double>(state.range(1)) / 100;
    profile.objects = 1e8;
    conditions.workers = 15;
    conditions.queries_max = 8192;
    candidates = AllPlans(machine);
  }
  Calibration machine = TestMachine();
  Profile profile;
  Conditions conditions;
  std::vector<Candidate> candidates;
};

void BM_RankPlans(benchmark::State& state) {
  Scene scene(state);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        RankPlans(scene.machine, scene.profile, scene.conditions, scene.candidates));
  state.counters["plans"] = static_cast<double>(scene.candidates.size());
}
BENCHMARK(BM_RankPlans)
    ->ArgNames({"devices", "zipf"})
    ->ArgsProduct({{1, 2}, {0, 99}})
    ->Unit(benchmark::kMicrosecond);

// What a server does: it wants the best alone.
void BM_EstimateAll(benchmark::State& state) {
  Scene scene(state);
  for (auto _ : state) {
    Model model(scene.machine, scene.profile, scene.conditions);
    benchmark::DoNotOptimize(EstimateAll(&model, scene.candidates, 0));
  }
  state.counters["plans"] = static_cast<double>(scene.candidates.size());
}
BENCHMARK(BM_EstimateAll)
    ->ArgNames({"devices", "zipf"})
    ->ArgsProduct({{1, 2}, {0, 99}})
    ->Unit(benchmark::kMicrosecond);

void BM_FewestQueriesOf(benchmark::State& state) {
  Scene scene(state);
  for (auto _ : state)
    benchmark::DoNotOptimize(FewestQueriesOf(scene.machine, scene.profile, scene.conditions,
                                             scene.candidates.back(), 8192));
}
BENCHMARK(BM_FewestQueriesOf)
    ->ArgNames({"devices", "zipf"})
    ->ArgsProduct({{2}, {0, 99}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace weft::planner

BENCHMARK_MAIN();
