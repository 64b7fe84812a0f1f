// What following a store costs: build/release/src/processor/mirror_bench.
// Advance of a mirror whose memory keeps nothing, by MiB of the index: where nothing has changed;
// where another core has just changed some lines here and there, announced in its session's ring or
// by marks; and where a round of use ends each time, by GiB of a full log of which half is held.
// What being followed costs who stores.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "processor/mirror/copy_buckets.h"
#include "processor/mirror/mirror.h"

namespace weft::processor {
namespace {

// Gathers lines as a device's does, and forgets them.
class NoMemory final : public MirrorMemory {
 public:
  uint32_t segments_max = UINT32_MAX;

  Status NewIndex(uint64_t) override { return {}; }
  Status NewLog(uint32_t, uint64_t) override { return {}; }
  uint32_t SegmentsMax() const override { return segments_max; }
  Status CopyIndex(const task::Bucket* table, std::span<const uint64_t> numbers) override {
    CopyBuckets(table, numbers, [&](size_t) { return &lines_[next_++ % kLines]; });
    return {};
  }
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

 private:
  static constexpr size_t kLines = 65536;
  std::vector<task::Bucket> lines_ = std::vector<task::Bucket>(kLines);
  size_t next_ = 0;
};

// A store with an index of so many MiB, and its mirror.
class Followed {
 public:
  explicit Followed(int64_t index_mib) {
    const uint64_t index_bytes = static_cast<uint64_t>(index_mib) << 20;
    CacheOptions options;
    options.memory_bytes = index_bytes * 3;
    options.expected_items = index_bytes / sizeof(task::Bucket) * 6;  // of 8 slots three in four
    options.huge_pages = false;
    auto opened = cache::Store::Open(options);
    if (!opened) return;
    store_ = std::move(*opened);
    session_ = store_->NewSession();
    mirror_ = std::make_unique<Mirror>(store_.get(), &memory_);
  }

  // The mirror is as new as the store. False: there is no memory for it.
  bool Open() {
    if (store_ == nullptr || !mirror_->Open().ok()) return false;
    while (!Advance()) {
    }
    return true;
  }
  bool Advance() {
    session_->BeginReading();  // as a batch that waits for its device
    auto ready = mirror_->Advance(session_->index(), session_->log());
    session_->End();
    return ready && *ready;
  }
  cache::Store& store() { return *store_; }
  uint64_t index_lines() const { return mirror_->counters().index_lines; }

 private:
  NoMemory memory_;
  std::unique_ptr<cache::Store> store_;
  std::unique_ptr<cache::Session> session_;
  std::unique_ptr<Mirror> mirror_;
};

void BM_Advance(benchmark::State& state) {
  Followed followed(state.range(0));
  if (!followed.Open()) return state.SkipWithError("no memory");
  const uint64_t lines = followed.index_lines();
  for (auto _ : state) benchmark::DoNotOptimize(followed.Advance());
  if (followed.index_lines() != lines) state.SkipWithError("there was something to do");
  state.counters["index_bytes"] = static_cast<double>(followed.store().index_bytes());
}
BENCHMARK(BM_Advance)->RangeMultiplier(8)->Range(16, 8192);

constexpr uint32_t kChanges = 24576;  // less than a ring's

// Changes lines anywhere in the index, on another core. Seconds that it took.
double ChangeLines(cache::Store* store, bool by_marks, uint64_t seed) {
  double seconds = 0;
  std::thread changer([&] {
    const auto session = store->NewSession();
    std::mt19937_64 random(seed);
    std::vector<uint64_t> numbers(kChanges);
    for (uint64_t& number : numbers) number = random() % store->index().bucket_count();
    session->Begin();
    const task::IndexRef index = by_marks ? session->index() : session->index_to_change();
    const auto start = std::chrono::steady_clock::now();
    for (uint32_t i = 0; i < kChanges; i++) {
      // As a batch asks for its buckets ahead.
      task::Prefetch(&index.older.buckets[numbers[std::min(i + 16, kChanges - 1)]]);
      uint64_t* const slot = &index.older.buckets[numbers[i]].slots[i % kBucketSlots];
      task::MarkSlot(index, slot);
      task::CompareAndSwap64(slot, 0, 0);
    }
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    session->End();
  });
  changer.join();
  return seconds;
}

void BM_Changes(benchmark::State& state, bool by_marks) {
  Followed followed(state.range(0));
  if (!followed.Open()) return state.SkipWithError("no memory");
  double changing = 0, copying = 0;
  uint64_t changes = 0;
  const uint64_t lines = followed.index_lines();
  for (auto _ : state) {
    changing += ChangeLines(&followed.store(), by_marks, changes);
    const auto start = std::chrono::steady_clock::now();
    followed.Advance();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    state.SetIterationTime(seconds);
    copying += seconds;
    changes += kChanges;
  }
  const double count = static_cast<double>(changes);
  state.counters["change_ns"] = changing * 1e9 / count;
  state.counters["advance_ns"] = copying * 1e9 / count;
  state.counters["copies"] = static_cast<double>(followed.index_lines() - lines) / count;
}
BENCHMARK_CAPTURE(BM_Changes, ring, false)->Arg(1024)->Arg(2048)->UseManualTime();
BENCHMARK_CAPTURE(BM_Changes, marks, true)->Arg(1024)->Arg(2048)->UseManualTime();

// Stores of 2 million keys in turn, after which they are there; followed or not.
void BM_Store(benchmark::State& state) {
  Followed followed(1024);
  const bool is_followed = state.range(0) != 0;
  if (is_followed && !followed.Open()) return state.SkipWithError("no memory");
  const auto session = followed.store().NewSession();
  std::string key = "0123456789abcdef";
  uint64_t number = 0;
  const auto store = [&] {
    const uint64_t mixed = number++ % 2'000'000 * 0x9e3779b97f4a7c15u;
    std::memcpy(key.data(), &mixed, sizeof mixed);
    cache::Command command;
    command.verb = cache::Verb::kStore;
    command.key = key;
    command.value = "12345678";
    command.hash = followed.store().HashOf(key);
    benchmark::DoNotOptimize(ExecuteWithRoom(*session, command).outcome);
  };
  constexpr uint32_t kBatch = 4096;
  const auto store_batch = [&] {
    session->Begin();
    for (uint32_t i = 0; i < kBatch; i++) store();
    session->End();
    followed.store().Maintain(*session, kBatch);
  };
  while (number < 2'000'000) store_batch();
  for (auto _ : state) {
    store_batch();
    state.PauseTiming();
    if (is_followed) followed.Advance();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kBatch));
}
BENCHMARK(BM_Store)->ArgName("followed")->Arg(0)->Arg(1);

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
