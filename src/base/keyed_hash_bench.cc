// The hash of a key of so many bytes, with a secret and without:
// build/release/src/base/keyed_hash_bench
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/hash.h"
#include "base/keyed_hash.h"

namespace {

template <typename Hash>
void HashAll(benchmark::State& state, const Hash& hash) {
  std::vector<std::string> keys;
  for (int i = 0; i < 512; i++) {
    keys.push_back(std::to_string(i));
    keys.back().resize(static_cast<size_t>(state.range(0)), 'x');
  }
  uint64_t sum = 0;
  for (auto _ : state)
    for (const std::string& key : keys) sum += hash(key);
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations() * 512);
}

void BM_KeyedHash(benchmark::State& state) { HashAll(state, weft::base::KeyedHash::FromSeed(1)); }
void BM_HashBytes(benchmark::State& state) {
  HashAll(state, [](const std::string& key) { return weft::base::HashBytes(key); });
}
BENCHMARK(BM_KeyedHash)->Arg(8)->Arg(16)->Arg(31)->Arg(64)->Arg(250);
BENCHMARK(BM_HashBytes)->Arg(8)->Arg(16)->Arg(31)->Arg(64)->Arg(250);

}  // namespace

BENCHMARK_MAIN();
