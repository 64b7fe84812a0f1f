// tests/compat/leveldb_own/benchmark/benchmark.h: lets a test of LevelDB that also has a benchmark
// compile. The benchmark measures LevelDB's inside: nothing names it, and the compiler drops it.
#pragma once

#include <cstdint>

namespace benchmark {

class State {
 public:
  std::int64_t range(int) const { return 0; }
  std::uint64_t iterations() const { return 0; }
  const int* begin() const { return nullptr; }
  const int* end() const { return nullptr; }
};

class NeverRun {
 public:
  const NeverRun* operator->() const { return this; }
  NeverRun Arg(std::int64_t) const { return {}; }
};

inline void RunSpecifiedBenchmarks() {}

}  // namespace benchmark

// Takes no function, so that none of what the function calls has to be there.
#define BENCHMARK(function) \
  [[maybe_unused]] static const auto function##_never = benchmark::NeverRun()
