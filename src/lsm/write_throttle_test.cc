#include "lsm/write_throttle.h"

#include <gtest/gtest.h>

namespace weft::lsm {
namespace {

WriteLag Lag() { return {}; }

// Time that goes on only while a throttle sleeps.
uint64_t throttle_now_ns = 0;
constexpr ThrottleClock kThrottleClock = {[] { return throttle_now_ns; },
                                          [](uint64_t ns) { throttle_now_ns += ns; }};

TEST(WriteThrottle, AStoreThatKeepsUpHasNoPressure) {
  WriteLag lag = Lag();
  lag.level0_tables = 7;
  lag.immutable_memtables = 1;
  lag.debt_bytes = 200u << 20;
  EXPECT_EQ(WritePressure(lag), 0);
  EXPECT_EQ(WriteRate(0, 1e8), WriteThrottle::kFree);
}

TEST(WriteThrottle, PressureGrowsWithEachTableUpToTheStop) {
  WriteLag lag = Lag();
  double last = 0;
  for (int tables = 8; tables <= 12; tables++) {
    lag.level0_tables = tables;
    EXPECT_GT(WritePressure(lag), last) << tables;
    last = WritePressure(lag);
  }
  EXPECT_EQ(last, 1);
  lag.level0_tables = 40;
  EXPECT_EQ(WritePressure(lag), 1);
}

TEST(WriteThrottle, FullMemtablesHoldWritersToTheFlushRate) {
  WriteLag lag = Lag();
  lag.immutable_memtables = lag.immutable_memtables_max;
  EXPECT_EQ(WritePressure(lag), 0.5);
  EXPECT_EQ(WriteRate(0.5, 100e6), 100'000'000u);
}

TEST(WriteThrottle, DebtSlowsAndNeverStops) {
  WriteLag lag = Lag();
  lag.debt_bytes = 300u << 20;
  EXPECT_GT(WritePressure(lag), 0);
  lag.store_bytes = 4000ull << 20;  // an eighth of it is 500 MiB
  EXPECT_EQ(WritePressure(lag), 0);
  lag.store_bytes = 0;
  lag.level1_bytes = 256u << 20;  // what one compaction of level 0 brings is no debt yet
  lag.debt_bytes = 800u << 20;
  EXPECT_EQ(WritePressure(lag), 0);
  lag.debt_bytes = uint64_t{1} << 50;
  EXPECT_LT(WritePressure(lag), 1);
}

TEST(WriteThrottle, TheRateFallsWithPressureAndNeverToNothing) {
  EXPECT_GT(WriteRate(0.2, 1e8), WriteRate(0.4, 1e8));
  EXPECT_GT(WriteRate(1, 1e8), 0u);
  EXPECT_GT(WriteRate(0.9, 0), 0u);
}

TEST(WriteThrottle, FreeWritesDoNotWait) {
  WriteThrottle throttle(kThrottleClock);
  const uint64_t begin_ns = throttle_now_ns;
  for (int i = 0; i < 1000; i++) EXPECT_EQ(throttle.Admit(1 << 20), 0u);
  EXPECT_EQ(throttle_now_ns, begin_ns);
}

TEST(WriteThrottle, WritesComeInAtTheRate) {
  WriteThrottle throttle(kThrottleClock);
  throttle.Set(10'000'000);
  const uint64_t begin_ns = throttle_now_ns;
  for (int i = 0; i < 1000; i++) throttle.Admit(1000);  // 1 MB: a tenth of a second
  const uint64_t took_ns = throttle_now_ns - begin_ns;
  EXPECT_GT(took_ns, 99'500'000u);
  EXPECT_LE(took_ns, 100'000'000u);
  throttle.Set(WriteThrottle::kFree);
  EXPECT_EQ(throttle.Admit(1 << 30), 0u);
}

TEST(WriteThrottle, AHugeWriteWaitsOnlySoLongAtOnce) {
  WriteThrottle throttle(kThrottleClock);
  throttle.Set(1'000'000);
  const uint64_t begin_ns = throttle_now_ns;
  throttle.Admit(100'000'000);  // a hundred seconds' worth
  throttle.Admit(1);
  EXPECT_EQ(throttle_now_ns - begin_ns, WriteThrottle::kDebtNsMax);
}

TEST(WriteThrottle, WhatOthersWaitBehindAHugeWriteHasABound) {
  WriteThrottle throttle(kThrottleClock);
  throttle.Set(1'000'000);
  for (int i = 0; i < 3; i++) {
    throttle.Admit(100'000'000);
    EXPECT_LE(throttle.DebtNs(), WriteThrottle::kDebtNsMax);
  }
  // Small ones save up no more either.
  for (int i = 0; i < 40; i++) throttle.Admit(19'000);
  EXPECT_LE(throttle.DebtNs(), WriteThrottle::kDebtNsMax);
}

}  // namespace
}  // namespace weft::lsm
