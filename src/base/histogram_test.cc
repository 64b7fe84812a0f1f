#include "base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace weft::base {
namespace {

TEST(Histogram, EmptyAnswersZero) {
  Histogram h;
  EXPECT_EQ(h.count(), 0u);
  EXPECT_EQ(h.min(), 0u);
  EXPECT_EQ(h.max(), 0u);
  EXPECT_EQ(h.Percentile(99), 0u);
  EXPECT_EQ(h.Mean(), 0);
}

TEST(Histogram, SmallValuesAreExact) {
  Histogram h;
  for (uint64_t v = 1; v <= 2000; ++v) h.Record(v);
  EXPECT_EQ(h.Percentile(0), 1u);
  EXPECT_EQ(h.Percentile(50), 1000u);
  EXPECT_EQ(h.Percentile(99), 1980u);
  EXPECT_EQ(h.Percentile(100), 2000u);
  EXPECT_DOUBLE_EQ(h.Mean(), 1000.5);
}

TEST(Histogram, EveryValueKeepsThreeDigits) {
  for (uint64_t v = 1; v < Histogram::kValueMax; v = v + v / 7 + 1) {
    Histogram h;
    h.Record(v);
    h.Record(Histogram::kValueMax);  // so that the cell's end, not the maximum, is answered
    const uint64_t got = h.Percentile(50);
    ASSERT_GE(got, v);
    ASSERT_LE(static_cast<double>(got - v), static_cast<double>(v) / 1000) << v;
  }
}

TEST(Histogram, AgreesWithSortedSamples) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> shape(12, 2);
  Histogram h;
  std::vector<uint64_t> all;
  for (int i = 0; i < 100'000; ++i) {
    all.push_back(static_cast<uint64_t>(shape(random)));
    h.Record(all.back());
  }
  std::sort(all.begin(), all.end());
  for (const double percent : {1.0, 25.0, 50.0, 90.0, 99.0, 99.9, 99.99}) {
    const auto place = static_cast<size_t>(std::lround(percent * 1000)) - 1;
    const auto exact = static_cast<double>(all[place]);
    EXPECT_NEAR(static_cast<double>(h.Percentile(percent)), exact, exact / 1000 + 1) << percent;
  }
}

TEST(Histogram, MergeEqualsRecordingTogether) {
  Histogram a, b, both;
  for (uint64_t v = 3; v < 3'000'000; v += 997) {
    (v % 2 ? a : b).Record(v, 2);
    both.Record(v, 2);
  }
  a.Merge(b);
  EXPECT_EQ(a.count(), both.count());
  EXPECT_EQ(a.min(), both.min());
  EXPECT_EQ(a.max(), both.max());
  for (double p = 0; p <= 100; p += 0.5) ASSERT_EQ(a.Percentile(p), both.Percentile(p)) << p;
}

TEST(Histogram, TooLargeIsCountedAtTheTop) {
  Histogram h;
  h.Record(UINT64_MAX);
  EXPECT_EQ(h.max(), Histogram::kValueMax);
  EXPECT_EQ(h.Percentile(50), Histogram::kValueMax);
}

}  // namespace
}  // namespace weft::base
