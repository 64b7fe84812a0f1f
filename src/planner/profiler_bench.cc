// What counting costs: build/release/src/planner/profiler_bench. By queries of a batch and how many
// in a hundred of them are stores; keys and values of 8 bytes, 1 M objects, uniform. Batches are
// filled and carried out on the CPU with Profiler::Note and without, in turns; medians:
//
//   without  nanoseconds a query
//   note     how many more it takes with Note: the median of the differences of neighbouring turns
//   percent  of `without`
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "base/check.h"
#include "base/ticks.h"
#include "cache/store.h"
#include "pipeline/cpu_stage.h"
#include "planner/profiler.h"

namespace weft::planner {
namespace {

constexpr uint64_t kObjects = 1 << 20;
constexpr uint32_t kTurnQueries = 1 << 14;
constexpr size_t kTurns = 2000;

using Key = std::array<char, 8>;

Key KeyOf(uint64_t number) {
  Key key;
  std::memcpy(key.data(), &number, 8);
  return key;
}

class NoReplies final : public pipeline::Sink {
 public:
  void Write(pipeline::Batch&, uint32_t, uint32_t, cache::Session&) override {}
  void RunOther(pipeline::Batch&, uint32_t, cache::Session&) override {}
};

class Scene {
 public:
  Scene(uint32_t batch_queries, uint32_t store_percent)
      : batch_queries_(batch_queries), store_percent_(store_percent) {
    CacheOptions options;
    options.memory_bytes = 256 << 20;
    auto store = cache::Store::Open(options);
    WEFT_CHECK(store);
    store_ = std::move(*store);
    session_ = store_->NewSession();
    stage_ = std::make_unique<pipeline::CpuStage>(store_.get(), &times_);
    for (uint64_t next = 0; next < kObjects;) {
      Clear();
      for (; !batch_.full() && next < kObjects; next++) Add(KeyOf(next), true);
      stage_->Run(batch_, *session_, sink_);
    }
    std::mt19937_64 random(1);
    for (uint32_t i = 0; i < 64 * kTurnQueries; i++) keys_.push_back(KeyOf(random() % kObjects));
  }

  // Ticks.
  uint64_t Turn(bool notes) {
    const uint64_t start = base::ReadTicks();
    for (uint32_t i = 0; i < kTurnQueries; i += batch_queries_) {
      Clear();
      for (uint32_t j = 0; j < batch_queries_; j++) {
        Add(keys_[next_], next_ % 100 < store_percent_);
        next_ = (next_ + 1) % keys_.size();
      }
      stage_->Run(batch_, *session_, sink_);
      if (notes) profiler_.Note(batch_);
    }
    return base::ReadTicks() - start;
  }
  const Profiler& profiler() const { return profiler_; }

 private:
  void Clear() {
    batch_.Clear();
    batch_.AddSource(int64_t{1} << 40);
  }
  void Add(const Key& key, bool stores) {
    const std::string_view view(key.data(), key.size());
    if (!stores) return batch_.AddRead(0, 0, view, store_->HashOf(view));
    cache::Command command;
    command.verb = cache::Verb::kStore;
    command.key = command.value = view;
    command.hash = store_->HashOf(view);
    batch_.AddCommand(0, 0, command);
  }

  const uint32_t batch_queries_, store_percent_;
  std::unique_ptr<cache::Store> store_;
  std::unique_ptr<cache::Session> session_;
  pipeline::TaskTimes times_;
  std::unique_ptr<pipeline::CpuStage> stage_;
  pipeline::Batch batch_{pipeline::Plan::OneStageCpu()};
  NoReplies sink_;
  Profiler profiler_;
  std::vector<Key> keys_;
  size_t next_ = 0;
};

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void BM_Note(benchmark::State& state) {
  Scene scene(static_cast<uint32_t>(state.range(0)), static_cast<uint32_t>(state.range(1)));
  const auto turn_ns = [&scene](bool notes) {
    return static_cast<double>(base::NsOfTicks(scene.Turn(notes))) / kTurnQueries;
  };
  std::vector<double> without, more;
  for (auto _ : state) {
    // With the turns before and behind it, so that a machine that grows slower says nothing.
    double before = turn_ns(false);
    for (size_t i = 0; i < kTurns; i++) {
      const double with = turn_ns(true);
      const double behind = turn_ns(false);
      without.push_back(behind);
      more.push_back(with - (before + behind) / 2);
      before = behind;
    }
  }
  WorkloadCounts counts;
  if (!scene.profiler().Read(&counts) || counts.misses != 0)
    return state.SkipWithError("what was counted is wrong");
  state.counters["without"] = Median(without);
  state.counters["note"] = Median(more);
  state.counters["percent"] = 100 * Median(more) / Median(without);
}

BENCHMARK(BM_Note)
    ->ArgNames({"batch", "stores"})
    ->ArgsProduct({{64, 1024}, {0, 5, 50}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weft::planner

BENCHMARK_MAIN();
