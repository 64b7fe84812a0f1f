// Checksums of a block, a log record and less: build/release/src/base/crc32c_bench
#include <benchmark/benchmark.h>

#include <string>

#include "base/crc32c.h"

namespace {

template <uint32_t (*kExtend)(uint32_t, const char*, size_t)>
void BM_Crc32c(benchmark::State& state) {
  const std::string text(static_cast<size_t>(state.range(0)), 'x');
  uint32_t crc = 0;
  for (auto _ : state) crc = kExtend(crc, text.data(), text.size());
  benchmark::DoNotOptimize(crc);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK_TEMPLATE(BM_Crc32c, weft::base::ExtendCrc32c)->Arg(16)->Arg(100)->Arg(290)->Arg(4096);
BENCHMARK_TEMPLATE(BM_Crc32c, weft::base::ExtendCrc32cByTables)->Arg(290)->Arg(4096);

}  // namespace

BENCHMARK_MAIN();
