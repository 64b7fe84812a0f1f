// Requests a second of the simulator: of a channel whose queue is always full, of one that is half
// loaded, and of one without skipping. The promise is a million.

#include <random>

#include <benchmark/benchmark.h>

#include "sim/dram/memory.h"

namespace weft::sim {
namespace {

constexpr int64_t kRequests = 100'000;

// A random line every `every` clocks; every other line of it, the one after it.
void Simulate(benchmark::State& state, Clock every, bool skips) {
  const Preset preset = FindPreset(kDefaultPreset).value();
  for (auto _ : state) {
    Memory memory(preset, Interleave::kRank, {.skips = skips});
    std::mt19937_64 random(1);
    uint64_t line = 0;
    for (int64_t i = 0; i < kRequests; ++i) {
      line = i % 2 == 0 ? random() % memory.map().lines() : line ^ 1;
      memory.Accept(static_cast<uint64_t>(i), line, i % 8 == 0, i * every, kNever);
      memory.channel(0).completions().clear();
    }
    memory.AdvanceTo(memory.channel(0).now() + 10'000);
    benchmark::DoNotOptimize(memory.channel(0).Counts());
  }
  state.SetItemsProcessed(state.iterations() * kRequests);
}

void BM_Saturated(benchmark::State& state) { Simulate(state, 0, true); }
void BM_HalfLoaded(benchmark::State& state) { Simulate(state, 12, true); }
void BM_HalfLoadedWithoutSkipping(benchmark::State& state) { Simulate(state, 12, false); }

BENCHMARK(BM_Saturated)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_HalfLoaded)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_HalfLoadedWithoutSkipping)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weft::sim

BENCHMARK_MAIN();
