// What following a store costs where nothing has changed: build/release/src/processor/mirror_bench.
// Advance of a mirror whose memory keeps nothing, by the bytes of the index.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <memory>

#include "processor/mirror.h"

namespace weft::processor {
namespace {

class NoMemory final : public MirrorMemory {
 public:
  Status NewIndex(uint64_t) override { return {}; }
  Status NewLog(uint32_t, uint64_t) override { return {}; }
  uint32_t SegmentsMax() const override { return UINT32_MAX; }
  Status WriteIndex(std::span<const Piece>) override { return {}; }
  Status WriteLog(uint64_t, const uint8_t*, uint64_t) override { return {}; }
  Status SetResident(uint32_t, uint32_t, uint64_t) override { return {}; }
  task::IndexRef index() const override { return {}; }
  task::LogRef log() const override { return {}; }
};

void BM_Advance(benchmark::State& state) {
  const uint64_t index_bytes = static_cast<uint64_t>(state.range(0)) << 20;
  CacheOptions options;
  options.memory_bytes = index_bytes * 3;
  options.expected_items = index_bytes / sizeof(task::Bucket) * 6;  // of 8 slots three in four
  options.huge_pages = false;
  auto store = cache::Store::Open(options);
  if (!store) return state.SkipWithError(store.error().ToString().c_str());
  const auto session = (*store)->NewSession();
  NoMemory memory;
  Mirror mirror(store->get(), &memory);
  if (!mirror.Open().ok()) return state.SkipWithError("no mirror");
  const auto advance = [&] {
    session->Begin();
    auto ready = mirror.Advance(session->index(), session->log());
    session->End();
    return ready && *ready;
  };
  while (!advance()) {
  }
  const uint64_t pieces = mirror.counters().index_pieces;
  for (auto _ : state) benchmark::DoNotOptimize(advance());
  if (mirror.counters().index_pieces != pieces) state.SkipWithError("there was something to do");
  state.counters["index_bytes"] = static_cast<double>((*store)->index_bytes());
}
BENCHMARK(BM_Advance)->RangeMultiplier(8)->Range(16, 8192);

}  // namespace
}  // namespace weft::processor

BENCHMARK_MAIN();
