#include "base/rate_limiter.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace weft::base {
namespace {

using Priority = RateLimiter::Priority;

// Time that goes on only while somebody waits. One thread at a time.
class FakeClock final : public RateClock {
 public:
  uint64_t NowNs() override { return now_ns; }
  void WaitLocked(CondVar*, Mutex*, int ms) override {
    waits++;
    longest_ms = std::max(longest_ms, ms);
    now_ns += static_cast<uint64_t>(ms) * 1'000'000;
  }
  double Seconds() const { return static_cast<double>(now_ns) * 1e-9; }

  uint64_t now_ns = 0;
  int waits = 0;
  int longest_ms = 0;
};

// Time that goes on only while all of so many threads wait.
class SharedFakeClock final : public RateClock {
 public:
  explicit SharedFakeClock(int threads) : threads_(threads) {}
  uint64_t NowNs() override { return now_ns_.load(); }
  void WaitLocked(CondVar* change, Mutex* mutex, int) override WEFT_REQUIRES(mutex) {
    const int step = step_;
    if (++waiting_ == threads_) {
      now_ns_ += 5'000'000;
      waiting_ = 0;
      step_++;
      change->NotifyAll();
      return;
    }
    change->WaitFor(mutex, 20);  // the other thread may have ended
    if (step == step_) --waiting_;
  }
  void EndThread() { --threads_; }
  double Seconds() const { return static_cast<double>(now_ns_.load()) * 1e-9; }

 private:
  std::atomic<uint64_t> now_ns_{0};
  std::atomic<int> threads_;
  int waiting_ = 0;  // guarded by the mutex that waits are called with, as is step_
  int step_ = 0;
};

TEST(RateLimiter, NoLimitNeverWaits) {
  FakeClock clock;
  RateLimiter limiter(0, &clock);
  for (int i = 0; i < 100; i++) limiter.Request(1 << 30, Priority::kCompaction);
  EXPECT_EQ(clock.waits, 0);
  EXPECT_EQ(limiter.TotalBytes(Priority::kCompaction), 100ull << 30);
  EXPECT_EQ(limiter.TotalWaitNs(Priority::kCompaction), 0u);
}

TEST(RateLimiter, KeepsTheRateForSmallAndLargeRequests) {
  for (uint64_t bytes : {100ull, 4096ull, 1ull << 20, 20ull << 20}) {
    FakeClock clock;
    RateLimiter limiter(10 << 20, &clock);
    const uint64_t sum = 100 << 20;
    for (uint64_t done = 0; done < sum; done += bytes) limiter.Request(bytes, Priority::kFlush);
    EXPECT_NEAR(clock.Seconds(), 10, 0.1) << bytes;
    EXPECT_LE(clock.longest_ms, RateLimiter::kBurstMs) << "small steps";
    EXPECT_EQ(limiter.TotalWaitNs(Priority::kFlush), clock.now_ns);
  }
}

TEST(RateLimiter, VeryLowRatesAdvance) {
  FakeClock clock;
  RateLimiter limiter(3, &clock);
  limiter.Request(30, Priority::kFlush);
  EXPECT_NEAR(clock.Seconds(), 10, 0.5);
}

TEST(RateLimiter, IdleTimeBuysOneBurstOnly) {
  FakeClock clock;
  RateLimiter limiter(1'000'000, &clock);
  clock.now_ns += 100 * 1'000'000'000ull;
  const uint64_t start_ns = clock.now_ns;
  limiter.Request(10'000, Priority::kFlush);  // what kBurstMs fill
  EXPECT_EQ(clock.now_ns, start_ns);
  limiter.Request(1'000'000, Priority::kFlush);
  EXPECT_NEAR(static_cast<double>(clock.now_ns - start_ns) * 1e-9, 1, 0.02);
}

TEST(RateLimiter, RateChangesAtRunTime) {
  FakeClock clock;
  RateLimiter limiter(1'000'000, &clock);
  limiter.Request(1'000'000, Priority::kFlush);
  EXPECT_NEAR(clock.Seconds(), 1, 0.02);
  limiter.SetRate(10'000'000);
  EXPECT_EQ(limiter.rate(), 10'000'000u);
  limiter.Request(10'000'000, Priority::kFlush);
  EXPECT_NEAR(clock.Seconds(), 2, 0.04);
  limiter.SetRate(0);
  limiter.Request(1ull << 40, Priority::kFlush);
  EXPECT_NEAR(clock.Seconds(), 2, 0.04);
  limiter.SetRate(1'000'000);
  limiter.Request(1'000'000, Priority::kFlush);
  EXPECT_NEAR(clock.Seconds(), 3, 0.06) << "time without a limit buys no tokens";
}

TEST(RateLimiter, LiftingTheLimitFreesThoseWhoWait) {
  RateLimiter limiter(1);
  std::vector<std::thread> threads;
  for (Priority priority : {Priority::kFlush, Priority::kCompaction, Priority::kCompaction}) {
    threads.emplace_back([&limiter, priority] { limiter.Request(1 << 20, priority); });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(limiter.TotalBytes(Priority::kCompaction), 0u);
  limiter.SetRate(0);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(limiter.TotalBytes(Priority::kCompaction), 2u << 20);
}

TEST(RateLimiter, FlushPassesWaitingCompactions) {
  RateLimiter limiter(1 << 20);
  std::atomic<int> compactions_done{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; i++) {
    threads.emplace_back([&] {
      limiter.Request(64 << 20, Priority::kCompaction);  // a minute at this rate
      compactions_done++;
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (int i = 0; i < 5; i++) limiter.Request(10 << 10, Priority::kFlush);
  EXPECT_EQ(compactions_done.load(), 0);
  EXPECT_EQ(limiter.TotalBytes(Priority::kFlush), 50u << 10);
  limiter.SetRate(0);
  for (std::thread& thread : threads) thread.join();
}

TEST(RateLimiter, FlushesWithoutEndLeaveCompactionsATenth) {
  constexpr uint64_t kRate = 1'000'000;
  SharedFakeClock clock(2);
  RateLimiter limiter(kRate, &clock);
  double flush_s = 0;
  double compaction_s = 0;
  std::thread compaction([&] {
    limiter.Request(2 * kRate, Priority::kCompaction);
    compaction_s = clock.Seconds();
    clock.EndThread();
  });
  std::thread flush([&] {
    limiter.Request(9 * kRate, Priority::kFlush);
    flush_s = clock.Seconds();
    clock.EndThread();
  });
  flush.join();
  compaction.join();
  EXPECT_NEAR(flush_s, 10, 0.1) << "nine of ten bytes";
  EXPECT_NEAR(compaction_s, 11, 0.1) << "one of ten, and then all";
}

TEST(RateLimiter, ThreadsShareTheRate) {
  const uint64_t start_ns = NowNs();
  RateLimiter limiter(20 << 20);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&limiter, t] {
      const Priority priority = t % 2 == 0 ? Priority::kFlush : Priority::kCompaction;
      for (int i = 0; i < 64; i++) limiter.Request(16 << 10, priority);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = static_cast<double>(NowNs() - start_ns) * 1e-9;
  EXPECT_GE(seconds, 0.2 - 0.01) << "4 MiB at 20 MiB a second, less a burst";
}

}  // namespace
}  // namespace weft::base
