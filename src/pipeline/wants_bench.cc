// What it costs to tell which queries of a mixed batch may go to a stage before the last:
// build/release/src/pipeline/wants_bench. WantMarker::Mark by queries of a batch and commands in a
// hundred of them, all deletes without graves, of keys that hardly ever repeat; items are queries.
#include <benchmark/benchmark.h>

#include <memory>
#include <random>
#include <string>

#include "cache/store.h"
#include "pipeline/wants.h"

namespace weft::pipeline {
namespace {

void BM_Mark(benchmark::State& state) {
  const auto queries = static_cast<uint32_t>(state.range(0));
  const auto commands_percent = static_cast<uint32_t>(state.range(1));
  auto store = cache::Store::Open({});
  if (!store) return state.SkipWithError(store.error().ToString().c_str());
  const auto session = (*store)->NewSession();
  BatchOptions options;
  options.queries_max = queries;
  auto batch = Batch::Create(Plan::OneStageCpu(), options);
  if (!batch) return state.SkipWithError(batch.error().ToString().c_str());
  const uint32_t source = (*batch)->AddSource(INT64_MAX / 2);
  std::mt19937 random(1);
  for (uint32_t i = 0; i < queries; i++) {
    const std::string key = std::to_string(random());
    cache::Command command;
    command.verb = cache::Verb::kDelete;
    command.key = key;
    command.hash = (*store)->HashOf(key);
    if (random() % 100 < commands_percent) {
      (*batch)->AddCommand(source, 0, command);
    } else {
      (*batch)->AddRead(source, 0, key, command.hash);
    }
  }
  WantMarker marker(queries);
  session->Begin();
  for (auto _ : state) {
    marker.Mark(batch->get(), *session, kRunSearch | kRunCompare | kRunRead);
    benchmark::DoNotOptimize((*batch)->wanted(0));
  }
  session->End();
  state.SetItemsProcessed(state.iterations() * queries);
}
BENCHMARK(BM_Mark)->ArgNames({"batch", "commands"})->ArgsProduct({{1024, 3712, 8192}, {5, 50}});

}  // namespace
}  // namespace weft::pipeline

BENCHMARK_MAIN();
