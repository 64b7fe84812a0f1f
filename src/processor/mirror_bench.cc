// What following a store costs where nothing has changed: build/release/src/processor/mirror_bench.
// Advance of a mirror whose memory keeps nothing: by MiB of the index; and where a round of use
// ends each time, by GiB of a full log of which half is held.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <memory>

#include "processor/mirror.h"

namespace weft::processor {
namespace {

class NoMemory final : public MirrorMemory {
 public:
  uint32_t segments_max = UINT32_MAX;

  Status NewIndex(uint64_t) override { return {}; }
  Status NewLog(uint32_t, uint64_t) override { return {}; }
  uint32_t SegmentsMax() const override { return segments_max; }
  Status WriteIndex(std::span<const Piece>) override { return {}; }
  Status WriteLog(uint64_t, const uint8_t*, uint64_t) override { return {}; }
  Status SetResident(uint32_t, uint32_t, uint64_t) override { return {}; }
  Status Hold(uint32_t) override { return {}; }
  Status Drop(uint32_t) override { return {}; }
  Status ReadUses(std::span<uint32_t> uses) override {
    for (uint32_t& use : uses) use++;
    return {};
  }
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

void BM_RoundOfUse(benchmark::State& state) {
  CacheOptions options;
  options.memory_bytes = static_cast<uint64_t>(state.range(0)) << 30;
  options.huge_pages = false;
  auto store = cache::Store::Open(options);
  if (!store) return state.SkipWithError(store.error().ToString().c_str());
  const auto session = (*store)->NewSession();
  cache::ObjectLog& log = (*store)->log();
  // Room alone: nothing is written, and nobody will look.
  while (log.Append(0, cache::Generation::kYoung, 0, log.geometry().segment_bytes / 2,
                    cache::kNeverExpires) != 0) {
  }
  NoMemory memory;
  memory.segments_max = log.geometry().budget_segments / 2;
  Mirror mirror(store->get(), &memory);
  if (!mirror.Open().ok()) return state.SkipWithError("no mirror");
  const auto advance = [&] {
    session->Begin();
    benchmark::DoNotOptimize(mirror.Advance(session->index(), session->log()).has_value());
    session->End();
  };
  for (uint64_t bytes = UINT64_MAX; bytes != mirror.counters().log_bytes; advance()) {
    bytes = mirror.counters().log_bytes;
    advance();
    advance();
  }
  task::QueryJob job{};
  job.end = 1u << 30;  // a round
  for (auto _ : state) {
    mirror.Replace(&job);
    advance();
  }
  state.counters["segments"] = static_cast<double>(log.geometry().budget_segments);
}
BENCHMARK(BM_RoundOfUse)->RangeMultiplier(4)->Range(1, 64);

}  // namespace
}  // namespace weft::processor

BENCHMARK_MAIN();
