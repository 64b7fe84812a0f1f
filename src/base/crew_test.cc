#include "base/crew.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

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
  const auto spin = [](size_t) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  alone.ForEach(4, spin);
  EXPECT_EQ(alone.cpu_ns(), 0u);
  // However busy the machine is: some time the helper has an item.
  for (int i = 0; i < 100 && crew.cpu_ns() == 0; i++) crew.ForEach(4, spin);
  EXPECT_GT(crew.cpu_ns(), 0u);
}

}  // namespace
}  // namespace weft::base
