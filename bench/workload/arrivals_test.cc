#include "bench/workload/arrivals.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/goodness_of_fit_test_kit.h"

namespace weft::bench {
namespace {

std::vector<uint64_t> Take(const char* text, int count, uint32_t threads = 1, uint64_t seed = 9) {
  const RateSchedule schedule = *RateSchedule::Parse(text);
  std::vector<uint64_t> due_ns;
  for (uint32_t thread = 0; thread < threads; ++thread) {
    Arrivals arrivals(schedule, seed, thread, threads);
    for (uint32_t i = 0; i < static_cast<uint32_t>(count) / threads; ++i)
      due_ns.push_back(arrivals.NextNs());
  }
  std::sort(due_ns.begin(), due_ns.end());
  return due_ns;
}

TEST(Arrivals, EvenOnesFollowTheScheduleExactly) {
  const std::vector<uint64_t> due_ns = Take("1000 for 10s, 5000 for 5s", 70'000);
  for (size_t i = 0; i < due_ns.size(); ++i) {
    const uint64_t in = i % 35'000;
    const uint64_t exact =
        i / 35'000 * 15'000'000'000 +
        (in < 10'000 ? in * 1'000'000 : 10'000'000'000 + (in - 10'000) * 200'000);
    ASSERT_EQ(due_ns[i], exact) << i;
  }
}

TEST(Arrivals, ThreadsTogetherAreAsOne) {
  for (const char* text : {"1000", "ramp 0 5000 for 3s", "sine 100 1000 period 1s"})
    EXPECT_EQ(Take(text, 12'000, 4), Take(text, 12'000, 1)) << text;
}

TEST(Arrivals, SeedsTellThemApart) {
  EXPECT_EQ(Take("poisson 1000", 1000), Take("poisson 1000", 1000));
  EXPECT_NE(Take("poisson 1000", 1000), Take("poisson 1000", 1000, 1, 10));
}

std::vector<double> GapsS(const std::vector<uint64_t>& due_ns) {
  std::vector<double> gaps;
  for (size_t i = 1; i < due_ns.size(); ++i)
    gaps.push_back(static_cast<double>(due_ns[i] - due_ns[i - 1]) * 1e-9);
  return gaps;
}

base::Fit ExponentialFit(const std::vector<uint64_t>& due_ns, double rate) {
  return base::KolmogorovSmirnov(GapsS(due_ns),
                                 [rate](double gap) { return -std::expm1(-rate * gap); });
}

TEST(Arrivals, PoissonGapsAreExponential) {
  const base::Fit fit = ExponentialFit(Take("poisson 1000", 200'000), 1000);
  EXPECT_TRUE(fit.ok()) << fit.statistic << " above " << fit.critical;
}

TEST(Arrivals, PoissonGapsOfSeveralThreadsAreExponentialTogether) {
  // The last ones are left out: threads end at different times.
  std::vector<uint64_t> due_ns = Take("poisson 1000", 200'000, 8);
  due_ns.resize(150'000);
  const base::Fit fit = ExponentialFit(due_ns, 1000);
  EXPECT_TRUE(fit.ok()) << fit.statistic << " above " << fit.critical;
}

TEST(Arrivals, OtherGapsDoNotPass) {
  EXPECT_FALSE(ExponentialFit(Take("1000", 200'000), 1000).ok());
  EXPECT_FALSE(ExponentialFit(Take("poisson 1020", 200'000), 1000).ok());
}

// On the scale of the rate's integral a Poisson process of any rate is one of rate 1.
TEST(Arrivals, PoissonFollowsAChangingRate) {
  for (const char* text :
       {"poisson ramp 10 5000 for 7s, 0 for 1s", "poisson sine 0 900 period 2s"}) {
    const RateSchedule schedule = *RateSchedule::Parse(text);
    std::vector<double> gaps;
    double before = 0;
    for (const uint64_t due_ns : Take(text, 100'000)) {
      const double count = schedule.CountUntil(static_cast<double>(due_ns) * 1e-9);
      gaps.push_back(count - before);
      before = count;
    }
    const base::Fit fit =
        base::KolmogorovSmirnov(gaps, [](double gap) { return -std::expm1(-gap); });
    EXPECT_TRUE(fit.ok()) << text << ": " << fit.statistic << " above " << fit.critical;
  }
}

}  // namespace
}  // namespace weft::bench
