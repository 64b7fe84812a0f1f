// What an entry costs: added in random and in ascending order, by one and four threads; read; and
// walked. A memtable of 64 MiB (230,000 entries of 16 + 256 bytes), keys of 16 decimal digits, and
// for comparison 16 random bytes.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "lsm/memtable.h"

namespace weft::lsm {
namespace {

using table::InternalComparator;
using table::ValueType;

constexpr size_t kEntries = 230'000;
constexpr size_t kValueBytes = 256;
constexpr size_t kKeyBytes = 16;

enum Order : int { kDecimalRandom = 0, kBinaryRandom = 1, kDecimalAscending = 2 };

// Keys lie one behind the other, so that making them is not measured.
std::string MakeKeys(Order order) {
  std::mt19937_64 random(1);
  std::string keys;
  keys.reserve(kEntries * kKeyBytes);
  for (size_t i = 0; i < kEntries; ++i) {
    char text[24];
    if (order == kBinaryRandom) {
      const uint64_t words[2] = {random(), random()};
      keys.append(reinterpret_cast<const char*>(words), sizeof words);
      continue;
    }
    const uint64_t number = order == kDecimalRandom ? random() % 2'000'000 : i;
    std::snprintf(text, sizeof text, "%016llu", static_cast<unsigned long long>(number));
    keys.append(text, kKeyBytes);
  }
  return keys;
}

std::string_view KeyAt(const std::string& keys, size_t i) {
  return std::string_view(keys).substr(i * kKeyBytes, kKeyBytes);
}

void Fill(MemTable* memtable, const std::string& keys, size_t first, size_t step) {
  const std::string value(kValueBytes, 'v');
  for (size_t i = first; i < kEntries; i += step) {
    memtable->Add(i + 1, ValueType::kValue, KeyAt(keys, i), value);
  }
}

const InternalComparator& Bytewise() {
  static const InternalComparator comparator(BytewiseComparator());
  return comparator;
}

void Add(benchmark::State& state) {
  const std::string keys = MakeKeys(static_cast<Order>(state.range(0)));
  size_t bytes = 0;
  for (auto _ : state) {
    state.PauseTiming();
    auto memtable = std::make_unique<MemTable>(Bytewise());
    state.ResumeTiming();
    Fill(memtable.get(), keys, 0, 1);
    state.PauseTiming();
    bytes = memtable->MemoryUsage();
    memtable.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kEntries));
  state.counters["bytes/entry"] = static_cast<double>(bytes) / kEntries;
  state.counters["s/entry"] = benchmark::Counter(
      static_cast<double>(kEntries),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(Add)->Arg(kDecimalRandom)->Arg(kBinaryRandom)->Arg(kDecimalAscending)->UseRealTime();

// All threads of the run fill the same memtable.
std::unique_ptr<MemTable> shared_memtable;

void AddFromThreads(benchmark::State& state) {
  const std::string keys = MakeKeys(static_cast<Order>(state.range(0)));
  if (state.thread_index() == 0) shared_memtable = std::make_unique<MemTable>(Bytewise());
  const auto threads = static_cast<size_t>(state.threads());
  for (auto _ : state) {
    Fill(shared_memtable.get(), keys, static_cast<size_t>(state.thread_index()), threads);
  }
  state.counters["s/entry"] = benchmark::Counter(
      static_cast<double>(kEntries) / static_cast<double>(threads),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  if (state.thread_index() == 0) shared_memtable.reset();
}
BENCHMARK(AddFromThreads)
    ->Arg(kDecimalRandom)
    ->Arg(kDecimalAscending)
    ->Threads(1)
    ->Threads(2)
    ->Threads(4)
    ->Iterations(1)
    ->Repetitions(5)
    ->ReportAggregatesOnly()
    ->UseRealTime();

void Get(benchmark::State& state) {
  const std::string keys = MakeKeys(static_cast<Order>(state.range(0)));
  MemTable memtable(Bytewise());
  Fill(&memtable, keys, 0, 1);
  std::mt19937_64 random(2);
  std::vector<uint32_t> order(1 << 16);
  for (uint32_t& i : order) i = static_cast<uint32_t>(random() % kEntries);
  std::string value;
  size_t at = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        memtable.Get(KeyAt(keys, order[at++ % order.size()]), table::kSequenceMax, &value));
  }
}
BENCHMARK(Get)->Arg(kDecimalRandom)->Arg(kBinaryRandom)->Arg(kDecimalAscending);

// As MultiGet does it: every step for 32, then the next one.
void GetPrefetched(benchmark::State& state) {
  constexpr size_t kGroup = 32;
  const std::string keys = MakeKeys(kDecimalRandom);
  MemTable memtable(Bytewise());
  Fill(&memtable, keys, 0, 1);
  std::mt19937_64 random(2);
  std::vector<uint32_t> order(1 << 16);
  for (uint32_t& i : order) i = static_cast<uint32_t>(random() % kEntries);
  std::string value;
  size_t at = 0;
  for (auto _ : state) {
    MemTableTree::Way ways[kGroup];
    const char* entries[kGroup];
    for (size_t i = 0; i < kGroup; ++i) {
      ways[i] = memtable.Approach(KeyAt(keys, order[at + i]), table::kSequenceMax);
    }
    for (size_t i = 0; i < kGroup; ++i) {
      entries[i] = memtable.Locate(KeyAt(keys, order[at + i]), table::kSequenceMax, &ways[i]);
      if (entries[i] != nullptr) MemTable::PrefetchEntry(entries[i]);
    }
    for (size_t i = 0; i < kGroup; ++i) {
      benchmark::DoNotOptimize(memtable.Read(entries[i], KeyAt(keys, order[at + i]), &value));
    }
    at = (at + kGroup) % order.size();
  }
  state.counters["s/entry"] = benchmark::Counter(
      static_cast<double>(kGroup),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(GetPrefetched);

void Walk(benchmark::State& state) {
  const std::string keys = MakeKeys(static_cast<Order>(state.range(0)));
  MemTable memtable(Bytewise());
  Fill(&memtable, keys, 0, 1);
  const std::unique_ptr<Iterator> it = memtable.NewIterator();
  it->SeekToFirst();
  for (auto _ : state) {
    benchmark::DoNotOptimize(it->key().back());
    it->Next();
    if (!it->Valid()) it->SeekToFirst();
  }
}
BENCHMARK(Walk)->Arg(kDecimalRandom)->Arg(kDecimalAscending);

}  // namespace
}  // namespace weft::lsm

BENCHMARK_MAIN();
