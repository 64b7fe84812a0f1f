#include "bench/meter/triad.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>

#include "base/cpu_facts.h"

namespace weft::bench {
namespace {

TriadOptions ShortTriad() {
  TriadOptions options;
  options.seconds = 0.1;
  options.array_bytes = 16 << 20;
  return options;
}

// What the hog gets in a quarter of a second, with `share`. Other work may keep its threads from
// running, or this one between its looks at the bytes and the clock. So it is the first of many
// tries that gives something between the two, or the last.
double RateOnceWithin(BandwidthHog* hog, double share, double least, double most) {
  double rate = 0;
  for (int tries = 0; tries < 200 && !(rate > least && rate < most); tries++) {
    hog->SetShare(share);
    usleep(250'000);
    rate = hog->BytesPerSecond();
  }
  return rate;
}

TEST(Triad, MeasuresWhatMemoryGives) {
  auto rate = MeasureTriad(ShortTriad());
  ASSERT_TRUE(rate);
  EXPECT_GT(*rate, 0);
  EXPECT_LT(*rate, 1e13);  // no machine has it
}

TEST(Triad, AsAReading) {
  const Reading reading = TriadReading(ShortTriad());
  ASSERT_TRUE(reading.available());
  EXPECT_EQ("B/s", reading.unit());
  EXPECT_EQ("triad, threads: 1", reading.source());
  TriadOptions none = ShortTriad();
  none.threads = 0;
  EXPECT_EQ("invalid argument: a triad needs at least one thread", TriadReading(none).reason());
}

TEST(Triad, ArraysAreLargerThanCaches) {
  for (const int threads : {1, 4, 64})
    EXPECT_GE(3 * TriadArrayBytes(threads) * static_cast<uint64_t>(threads) + 3 * 64,
              base::LastCacheBytes() * 4);
}

TEST(BandwidthHog, TakesTheShareThatItIsGiven) {
  const TriadOptions options = ShortTriad();
  // A rate that is far below what memory gives, so that other work matters little.
  const double full = *MeasureTriad(options) / 4;
  auto hog = BandwidthHog::Start(options, full, 0.5);
  ASSERT_TRUE(hog);
  for (const double share : {0.5, 0.2}) {
    const double least = 0.7 * share * full, most = 1.3 * share * full;
    const double rate = RateOnceWithin(hog->get(), share, least, most);
    EXPECT_GT(rate, least);
    EXPECT_LT(rate, most);
  }
}

TEST(BandwidthHog, NothingIsNothingAndAllIsWhatThereIs) {
  TriadOptions options = ShortTriad();
  options.threads = 2;
  auto hog = BandwidthHog::Start(options, 1e9, 0);
  ASSERT_TRUE(hog);
  usleep(50'000);
  EXPECT_EQ(0, (*hog)->BytesPerSecond());
  EXPECT_GT(RateOnceWithin(hog->get(), 1, 0, INFINITY), 0);
}

TEST(BandwidthHog, RatesThatCannotBe) {
  EXPECT_FALSE(BandwidthHog::Start(ShortTriad(), 0, 0.5));
  TriadOptions none = ShortTriad();
  none.threads = 0;
  EXPECT_FALSE(BandwidthHog::Start(none, 1e9, 0.5));
}

}  // namespace
}  // namespace weft::bench
