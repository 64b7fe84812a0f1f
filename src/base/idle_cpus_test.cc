#include "base/idle_cpus.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace weft::base {
namespace {

TEST(IdleCpus, ReadsTheKernelsLine) {
  const auto ticks = ParseCpuTicks("cpu  100 20 30 400 50 6 7 8 90 10\ncpu0 1 2 3 4 5\n");
  ASSERT_TRUE(ticks.has_value());
  EXPECT_EQ(450u, ticks->idle);
  EXPECT_EQ(621u, ticks->all) << "guests are counted with the users";
  const auto old = ParseCpuTicks("cpu 1 2 3 4 5");
  ASSERT_TRUE(old.has_value());
  EXPECT_EQ(9u, old->idle);
  EXPECT_EQ(15u, old->all);
}

TEST(IdleCpus, AnotherLineIsNone) {
  for (const char* line : {"", "cpu", "cpu ", "cpu0 1 2 3 4 5", "cpu 1 2 3", "cpu 1 2 x 4 5",
                           "intr 1 2 3 4 5", "cpu 1 2 3 99999999999999999999 5"}) {
    EXPECT_FALSE(ParseCpuTicks(line).has_value()) << line;
  }
}

TEST(IdleCpus, ThoseThatSpinAreNotIdle) {
  const double cpus = std::thread::hardware_concurrency();
  IdleCpus idle;
  EXPECT_EQ(cpus, idle.Count());
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < static_cast<int>(cpus); i++) {
    threads.emplace_back([&stop] {
      while (!stop.load(std::memory_order_relaxed)) {
      }
    });
  }
  double least = cpus;
  const uint64_t start_ns = NowNs();
  while (least > 0.9 * cpus && NowNs() - start_ns < 20'000'000'000) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const double count = idle.Count();
    EXPECT_LE(0, count);
    EXPECT_GE(cpus, count);
    least = std::min(least, count);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(cpus, least) << "others may have had what this process was not given";
  EXPECT_GE(cpus, idle.last());
}

}  // namespace
}  // namespace weft::base
