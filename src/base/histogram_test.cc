#include "base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "base/seed_test_kit.h"

namespace weft::base {
namespace {

using Cells = std::vector<std::pair<uint64_t, uint64_t>>;

Cells CellsOf(const Histogram& h) {
  Cells cells;
  h.ForEach([&](uint64_t value, uint64_t times) { cells.emplace_back(value, times); });
  return cells;
}

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
  std::mt19937_64 random(base::TestSeed(7));
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

TEST(Histogram, MergingAnEmptyOneChangesNothing) {
  Histogram a, empty;
  a.Record(70, 2);
  a.Merge(empty);
  empty.Merge(Histogram());
  EXPECT_EQ(CellsOf(a), (Cells{{70, 2}}));
  EXPECT_EQ(a.min(), 70u);
  EXPECT_EQ(a.max(), 70u);
  EXPECT_EQ(CellsOf(empty), Cells{});
  EXPECT_EQ(empty.Percentile(50), 0u);
  empty.Merge(a);
  EXPECT_EQ(CellsOf(empty), (Cells{{70, 2}}));
  EXPECT_EQ(empty.min(), 70u);
  EXPECT_EQ(empty.Mean(), 70);
}

TEST(Histogram, NothingIsLeftBehindAReset) {
  std::mt19937_64 random(base::TestSeed(5));
  Histogram h;
  for (int round = 0; round < 20; ++round) {
    const uint64_t least = random() >> 30, most = least + (random() >> 24);
    for (const uint64_t value : {least, (least + most) / 2, most}) h.Record(value, 3);
    h.Reset();
    EXPECT_EQ(h.count(), 0u);
    EXPECT_EQ(h.max(), 0u);
    Histogram one = h;
    one.Record(5);
    EXPECT_EQ(one.min(), 5u);
    EXPECT_EQ(one.Mean(), 5);
    EXPECT_EQ(one.Percentile(0), 5u);
    EXPECT_EQ(one.Percentile(100), 5u);
    Histogram wide = h;  // all cells lie between its least and its greatest value
    wide.Record(0);
    wide.Record(Histogram::kValueMax);
    EXPECT_EQ(CellsOf(wide), (Cells{{0, 1}, {Histogram::kValueMax, 1}})) << least << " " << most;
  }
}

TEST(Histogram, TooLargeIsCountedAtTheTop) {
  Histogram h;
  h.Record(UINT64_MAX);
  EXPECT_EQ(h.max(), Histogram::kValueMax);
  EXPECT_EQ(h.Percentile(50), Histogram::kValueMax);
}

TEST(Histogram, ForEachVisitsWhatWasRecorded) {
  Histogram h;
  EXPECT_EQ(CellsOf(h), Cells{});
  h.Record(5000, 3);
  EXPECT_EQ(CellsOf(h), (Cells{{5000, 3}}));  // not the cell's end, which is above the maximum
  h.Record(0);
  h.Record(2047, 2);
  h.Record(UINT64_MAX);
  h.Record(5003);  // 5,000 to 5,003 have a cell
  EXPECT_EQ(CellsOf(h), (Cells{{0, 1}, {2047, 2}, {5003, 4}, {Histogram::kValueMax, 1}}));
  h.Reset();
  EXPECT_EQ(CellsOf(h), Cells{});
}

TEST(Histogram, RecordingWhatForEachVisitsGivesTheSame) {
  std::mt19937_64 random(base::TestSeed(11));
  std::lognormal_distribution<double> shape(12, 3);
  Histogram h, copy;
  for (int i = 0; i < 100'000; ++i) h.Record(static_cast<uint64_t>(shape(random)));
  h.ForEach([&](uint64_t value, uint64_t times) { copy.Record(value, times); });
  EXPECT_EQ(copy.count(), h.count());
  EXPECT_EQ(copy.max(), h.max());
  EXPECT_EQ(CellsOf(copy), CellsOf(h));
  for (double p = 0; p <= 100; p += 0.5) ASSERT_EQ(copy.Percentile(p), h.Percentile(p)) << p;
}

}  // namespace
}  // namespace weft::base
