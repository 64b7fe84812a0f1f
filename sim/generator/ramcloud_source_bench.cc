// What a record costs to make, and a layout to build.

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "sim/generator/ramcloud_source.h"

namespace weft::sim {
namespace {

RamcloudOptions Options(std::string_view mix, std::string_view pop) {
  RamcloudOptions options;
  options.store.mix = Mix::Find(mix).value();
  options.store.popularity = ParseKeyPopularity(pop).value();
  options.ops = 20'000'000;
  return options;
}

void Records(benchmark::State& state, std::string_view mix, std::string_view pop) {
  Result<std::unique_ptr<RamcloudSource>> source = RamcloudSource::Make(Options(mix, pop));
  WEFT_CHECK(source);
  Record record;
  int core = 0;
  int64_t ops = 0;
  for (auto _ : state) {
    const Result<bool> next = source.value()->Next(core, &record);
    WEFT_CHECK(next && next.value());
    if (record.kind != RecordKind::kOpEnd) continue;
    core = (core + 1) % 8;
    ++ops;
  }
  state.counters["records/op"] = static_cast<double>(state.iterations()) / static_cast<double>(ops);
}
BENCHMARK_CAPTURE(Records, Mix1Uniform, "1", "uniform");
BENCHMARK_CAPTURE(Records, Mix1Zipf, "1", "zipf:0.99");
BENCHMARK_CAPTURE(Records, Mix12Zipf, "12", "zipf:0.99");

void Build(benchmark::State& state) {
  StoreOptions options;
  options.utilization = ParseUtilization("poisson:10").value();
  for (auto _ : state) {
    WEFT_CHECK(RamcloudStore::Build(options));
  }
}
BENCHMARK(Build)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace weft::sim
BENCHMARK_MAIN();
