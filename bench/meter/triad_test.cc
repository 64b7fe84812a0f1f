#include "bench/meter/triad.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/cpu_facts.h"

namespace weft::bench {
namespace {

TriadOptions ShortTriad() {
  TriadOptions options;
  options.seconds = 0.1;
  options.array_bytes = 16 << 20;
  return options;
}

TEST(Triad, MeasuresWhatMemoryGives) {
  auto rate = MeasureTriad(ShortTriad());
  ASSERT_TRUE(rate);
  EXPECT_GT(*rate, 1e8);   // the slowest memory of a decade ago has more
  EXPECT_LT(*rate, 1e13);  // no machine has it
}

TEST(Triad, AsAReading) {
  const Reading reading = TriadReading(ShortTriad());
  ASSERT_TRUE(reading.available());
  EXPECT_EQ("B/s", reading.unit());
  EXPECT_EQ("triad, threads: 1", reading.source());
  TriadOptions none = ShortTriad();
  none.threads = 0;
  EXPECT_EQ("invalid argument: a triad has a thread at least", TriadReading(none).reason());
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
  usleep(400'000);
  EXPECT_NEAR(0.5, (*hog)->BytesPerSecond() / full, 0.15);
  (*hog)->SetShare(0.2);
  usleep(400'000);
  EXPECT_NEAR(0.2, (*hog)->BytesPerSecond() / full, 0.1);
}

TEST(BandwidthHog, NothingIsNothingAndAllIsWhatThereIs) {
  TriadOptions options = ShortTriad();
  options.threads = 2;
  auto hog = BandwidthHog::Start(options, 1e9, 0);
  ASSERT_TRUE(hog);
  usleep(50'000);
  EXPECT_EQ(0, (*hog)->BytesPerSecond());
  (*hog)->SetShare(1);
  usleep(200'000);
  EXPECT_GT((*hog)->BytesPerSecond(), 1e8);
}

TEST(BandwidthHog, RatesThatCannotBe) {
  EXPECT_FALSE(BandwidthHog::Start(ShortTriad(), 0, 0.5));
  TriadOptions none = ShortTriad();
  none.threads = 0;
  EXPECT_FALSE(BandwidthHog::Start(none, 1e9, 0.5));
}

}  // namespace
}  // namespace weft::bench
