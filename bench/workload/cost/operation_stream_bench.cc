// What one operation of a stream costs, by the mix's keys; and what its key and value cost.
#include <benchmark/benchmark.h>

#include "bench/workload/builtin_mixes.h"
#include "bench/workload/operation_stream.h"

namespace weft::bench {
namespace {

void Stream(benchmark::State& state, const char* name, const char* keys) {
  OperationMix mix = *BuiltinMix(name);
  if (keys != nullptr) mix.keys = *KeyDistribution::Parse(keys);
  RecordSpace space(mix.records);
  OperationStream stream(mix, &space, 1);
  Operation operation;
  for (auto _ : state) {
    stream.Next(&operation);
    benchmark::DoNotOptimize(operation);
    stream.Settle(operation, OutcomeKind::kDone);
  }
}
BENCHMARK_CAPTURE(Stream, ycsb_a_scrambled_zipf, "ycsb-a", nullptr);
BENCHMARK_CAPTURE(Stream, ycsb_a_permuted_zipf, "ycsb-a", "permuted-zipf 0.99");
BENCHMARK_CAPTURE(Stream, ycsb_a_uniform, "ycsb-a", "uniform");
BENCHMARK_CAPTURE(Stream, ycsb_d_latest, "ycsb-d", nullptr);
BENCHMARK_CAPTURE(Stream, ycsb_e_scans, "ycsb-e", nullptr);

void KeyAndValue(benchmark::State& state) {
  const OperationMix mix = *BuiltinMix("ycsb-a");
  const RecordFormat format = *RecordFormat::Make(mix.record);
  char key[kRecordKeyBytesMax];
  uint64_t record = 0;
  for (auto _ : state) {
    ++record;
    benchmark::DoNotOptimize(format.WriteKey(record, key));
    benchmark::DoNotOptimize(key);
    benchmark::DoNotOptimize(format.Body(record, 1));
  }
}
BENCHMARK(KeyAndValue);

}  // namespace
}  // namespace weft::bench

BENCHMARK_MAIN();
