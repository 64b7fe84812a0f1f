#include "bench/meter/hog_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "bench/meter/meters.h"

namespace weft::bench {
namespace {

constexpr double kRate = 200e6;  // far below what any memory gives

TriadOptions Short() {
  TriadOptions options;
  options.array_bytes = 16 << 20;
  return options;
}

// The middle one of several tries: other work takes the CPU from one or the other.
double MedianRate(HogProcess* hog, double share) {
  std::vector<double> rates;
  for (int i = 0; i < 5; i++) {
    EXPECT_TRUE(hog->SetShare(share).ok());
    usleep(150'000);
    rates.push_back(hog->BytesPerSecond().value());
  }
  std::sort(rates.begin(), rates.end());
  return rates[rates.size() / 2];
}

TEST(HogProcess, TakesWhatItIsTold) {
  auto hog = HogProcess::Start(Short(), kRate);
  ASSERT_TRUE(hog) << hog.error().ToString();
  EXPECT_EQ(0, (*hog)->BytesPerSecond().value());
  // Never more; on a busy machine less.
  for (const double share : {0.5, 0.25}) {
    const double of_full = MedianRate(hog->get(), share) / kRate;
    EXPECT_GT(of_full, 0);
    EXPECT_LT(of_full, share + 0.1);
  }
  ASSERT_TRUE((*hog)->SetShare(0).ok());
  usleep(50'000);
  EXPECT_LT((*hog)->BytesPerSecond().value(), 0.2 * kRate);  // a piece may have been under way
}

TEST(HogProcess, EndsWhateverItIsDoing) {
  for (const double share : {0.0, 0.001, 1.0}) {
    auto hog = HogProcess::Start(Short(), kRate);
    ASSERT_TRUE(hog);
    ASSERT_TRUE((*hog)->SetShare(share).ok());
    const pid_t pid = (*hog)->pid();
    hog->reset();
    EXPECT_EQ(-1, kill(pid, 0));
  }
}

TEST(HogProcess, OneThatHasEndedIsAnError) {
  auto hog = HogProcess::Start(Short(), kRate);
  ASSERT_TRUE(hog);
  kill((*hog)->pid(), SIGKILL);
  usleep(100'000);
  EXPECT_EQ(Code::kIoError, (*hog)->SetShare(0.5).code());
  EXPECT_EQ(Code::kIoError, (*hog)->BytesPerSecond().error().code());
}

TEST(HogProcess, RatesThatCannotBe) {
  auto hog = HogProcess::Start(Short(), 0);
  ASSERT_FALSE(hog);
  EXPECT_EQ(Code::kInvalidArgument, hog.error().code());
}

TEST(HogProcess, ItsCpuTimeIsNotTheStores) {
  auto hog = HogProcess::Start(Short(), kRate);
  ASSERT_TRUE(hog);
  ASSERT_TRUE((*hog)->SetShare(1).ok());
  clockid_t hogs_clock = 0;
  ASSERT_EQ(0, clock_getcpuclockid((*hog)->pid(), &hogs_clock));
  const auto hogs_cpu_s = [hogs_clock] {
    timespec spent{};
    clock_gettime(hogs_clock, &spent);
    return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
  };
  const auto cpu_s = [&](const MeterOptions& options) {
    auto set = MeterSet::Make(options);
    WEFT_CHECK(set);
    (*set)->Start({getpid()});
    const double enough_s = hogs_cpu_s() + 0.15;
    while (hogs_cpu_s() < enough_s) usleep(10'000);
    return (*set)->Stop().at("cpu_s").value();
  };
  EXPECT_GT(cpu_s({}), 0.1);  // a tick or two may be missing
  MeterOptions without;
  without.without = {(*hog)->pid()};
  EXPECT_LT(cpu_s(without), 0.05);
}

}  // namespace
}  // namespace weft::bench
