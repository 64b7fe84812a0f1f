#include "bench/drive/rate_search.h"

#include <gtest/gtest.h>

#include "bench/drive/latency_limit.h"

namespace weft::bench {
namespace {

// Asks as long as there is something to ask; how often.
template <typename Holds>
int Ask(RateSearch* search, const Holds& holds) {
  int asked = 0;
  for (; const auto rate = search->Next(); asked++) {
    search->Told(*rate, holds(*rate));
    if (asked > 100) ADD_FAILURE() << "no end";
    if (asked > 100) break;
  }
  return asked;
}

TEST(RateSearch, FindsAnyLimitBelowTheTop) {
  for (const double limit : {999'000.0, 640'000.0, 333'333.0, 10'000.0, 3000.0}) {
    RateSearch search(1e6, 0.02);
    const int asked = Ask(&search, [&](double rate) { return rate <= limit; });
    ASSERT_TRUE(search.Highest()) << limit;
    EXPECT_LE(*search.Highest(), limit);
    EXPECT_GE(*search.Highest(), limit / 1.02);
    EXPECT_LE(asked, 20) << limit;
  }
}

TEST(RateSearch, IsOverAtOnceWhereTheTopHolds) {
  RateSearch search(1e6, 0.02);
  EXPECT_EQ(1, Ask(&search, [](double) { return true; }));
  EXPECT_EQ(1e6, search.Highest());
}

TEST(RateSearch, EndsWhereNothingHolds) {
  RateSearch search(1e6, 0.02);
  EXPECT_LE(Ask(&search, [](double) { return false; }), 15);
  EXPECT_FALSE(search.Highest());
}

TEST(RateSearch, GoesOnFromWhatIsKnown) {
  RateSearch search(1e6, 0.02);
  search.Told(200'000, true);
  search.Told(400'000, true);
  search.Told(600'000, false);
  search.Told(800'000, false);
  const auto next = search.Next();
  ASSERT_TRUE(next);
  EXPECT_GT(*next, 400'000);
  EXPECT_LT(*next, 600'000);
  Ask(&search, [](double rate) { return rate <= 500'000; });
  EXPECT_NEAR(*search.Highest(), 495'000, 6000);
}

TEST(RateSearch, IsNeverAboveWhatWasRefuted) {
  RateSearch search(1e6, 0.02);
  search.Told(600'000, true);
  search.Told(500'000, false);
  search.Told(700'000, true);
  EXPECT_FALSE(search.Highest());
  search.Told(400'000, true);
  Ask(&search, [](double) { return true; });
  EXPECT_LT(*search.Highest(), 500'000);
  EXPECT_GE(*search.Highest(), 490'000);
}

TEST(LatencyLimit, IsReadAsPeopleWriteIt) {
  struct {
    const char* text;
    double percent, most_us;
    const char* shown;
  } const kCases[] = {
      {"p99 1ms", 99, 1000, "p99 <= 1 ms"},       {" p99.9  500us ", 99.9, 500, "p99.9 <= 500 us"},
      {"max 2 s", 100, 2e6, "max <= 2 s"},        {"mean 80us", -1, 80, "mean <= 80 us"},
      {"p50 0.5ms", 50, 500, "p50 <= 500 us"},    {"p99 1500us", 99, 1500, "p99 <= 1.5 ms"},
      {"p99 0.25us", 99, 0.25, "p99 <= 250 ns"},  {"p99 1ns", 99, 0.001, "p99 <= 1 ns"},
      {"max 3600s", 100, 3.6e9, "max <= 3600 s"}, {"mean 80.5ns", -1, 0.0805, "mean <= 80.5 ns"}};
  for (const auto& each : kCases) {
    auto limit = LatencyLimit::Parse(each.text);
    ASSERT_TRUE(limit) << each.text;
    EXPECT_EQ(each.percent, limit->percent);
    EXPECT_DOUBLE_EQ(each.most_us, limit->most_us);
    EXPECT_EQ(each.shown, limit->ToText());
  }
  for (const char* wrong : {"", "p99", "1ms", "p99 1", "p99 61min", "p0 1ms", "p101 1ms",
                            "p99 -1ms", "p99 0us", "p99 1e-6us", "p99 0.9ns", "p99 nan us", "p 1ms",
                            "p99x 1ms", "p99 2h", "p99 1ms now", "p99 1ms, p50 2ms"})
    EXPECT_FALSE(LatencyLimit::Parse(wrong)) << wrong;
}

TEST(LatencyLimit, ResultFilesKeepMicroseconds) {
  EXPECT_EQ("p99 <= 1000 us", LatencyLimit::Parse("p99 1ms")->RecordText());
  EXPECT_EQ("max <= 10000000 us", LatencyLimit::Parse("max 10s")->RecordText());
  EXPECT_EQ("mean <= 0.25 us", LatencyLimit::Parse("mean 250ns")->RecordText());
}

TEST(LatencyLimit, ATimeIsToldInTheLargestUnitThatItHasOneOf) {
  EXPECT_EQ("0 ns", TimeText(0, 4));
  EXPECT_EQ("911 ns", TimeText(0.911, 4));
  EXPECT_EQ("1 us", TimeText(1, 4));
  EXPECT_EQ("26.84 ms", TimeText(26'837, 4));
  EXPECT_EQ("1.2 s", TimeText(1.2e6, 4));
}

TEST(LatencyLimit, IsHeldAgainstItsPercentile) {
  base::Histogram latency_ns;
  for (int i = 0; i < 98; i++) latency_ns.Record(100'000);
  latency_ns.Record(5'000'000);
  latency_ns.Record(5'000'000);
  EXPECT_TRUE(LatencyLimit::Parse("p95 200us")->Holds(latency_ns));
  EXPECT_FALSE(LatencyLimit::Parse("p99 200us")->Holds(latency_ns));
  EXPECT_TRUE(LatencyLimit::Parse("mean 200us")->Holds(latency_ns));
  EXPECT_FALSE(LatencyLimit::Parse("mean 190us")->Holds(latency_ns));
  EXPECT_FALSE(LatencyLimit::Parse("max 4ms")->Holds(latency_ns));
  EXPECT_TRUE(LatencyLimit::Parse("max 6ms")->Holds(latency_ns));
}

}  // namespace
}  // namespace weft::bench
