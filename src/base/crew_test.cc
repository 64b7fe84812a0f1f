#include "base/crew.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace weft::base {
namespace {

TEST(Crew, EachItemOnce) {
  for (const int helpers : {0, 1, 3}) {
    Crew crew(helpers, "helper");
    for (const size_t items : {0u, 1u, 2u, 100u}) {
      std::vector<std::atomic<int>> calls(items);
      crew.ForEach(items, [&](size_t i) { calls[i]++; });
      for (const auto& each : calls) EXPECT_EQ(each, 1);
    }
  }
}

TEST(Crew, HelpersAndTheCallerWorkSideBySide) {
  Crew crew(2, "helper");
  std::atomic<int> here{0};
  // Each waits for the others: by one thread alone it would never end.
  crew.ForEach(3, [&](size_t) {
    here++;
    while (here < 3) std::this_thread::yield();
  });
  EXPECT_EQ(here, 3);
}

TEST(Crew, SeveralLoopsAtOnce) {
  Crew crew(2, "helper");
  std::atomic<uint64_t> sum{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; caller++)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; round++) {
        std::atomic<uint64_t> own{0};
        crew.ForEach(20, [&](size_t i) { own += i; });
        EXPECT_EQ(own, 190u) << "it returned before all had ended";
        sum += own;
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4u * 200 * 190);
}

// A loop within an item: nobody waits for a helper.
TEST(Crew, LoopsWithinItems) {
  Crew crew(1, "helper");
  std::atomic<int> calls{0};
  crew.ForEach(4, [&](size_t) { crew.ForEach(4, [&](size_t) { calls++; }); });
  EXPECT_EQ(calls, 16);
}

TEST(Crew, CountsWhatHelpersRan) {
  Crew alone(0, "helper"), crew(1, "helper");
  constexpr uint64_t kSpinNs = 5'000'000;
  const auto spin = [] {
    const uint64_t start_ns = ThreadCpuNs();
    while (ThreadCpuNs() - start_ns < kSpinNs) {
    }
  };
  alone.ForEach(4, [&](size_t) { spin(); });
  EXPECT_EQ(alone.cpu_ns(), 0u);
  // Each waits for the other: the helper has one, however busy the machine is.
  std::atomic<int> here{0};
  crew.ForEach(2, [&](size_t) {
    here++;
    while (here < 2) std::this_thread::yield();
    spin();
  });
  EXPECT_GE(crew.cpu_ns(), kSpinNs);
}

}  // namespace
}  // namespace weft::base
