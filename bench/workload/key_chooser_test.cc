// Threads   one.
#include "bench/workload/key_chooser.h"

#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "base/goodness_of_fit_test_kit.h"
#include "base/seed_test_kit.h"
#include "bench/workload/key_probability_test_kit.h"

namespace weft::bench {
namespace {

constexpr int kKeysDrawn = 1'000'000;

KeyDistribution Keys(const std::string& text) {
  auto keys = KeyDistribution::Parse(text);
  EXPECT_TRUE(keys) << keys.error().ToString();
  return *keys;
}

constexpr const char* kKeyTexts[] = {"uniform",
                                     "zipf 0.99",
                                     "zipf 1",
                                     "permuted-zipf 0.99",
                                     "permuted-zipf 1.3",
                                     "scrambled-zipf 0.99",
                                     "scrambled-zipf 0.99 of 1000",
                                     "scrambled-zipf 0.8 of 3",
                                     "latest 0.99",
                                     "hotspot 0.2 0.8",
                                     "hotspot 0.001 1",
                                     "exponential 95 0.8571428571",
                                     "exponential 50 0.1"};

std::vector<uint64_t> Counts(KeyChooser chooser, uint64_t records, int draws) {
  base::Random random(base::TestSeed(11));
  std::vector<uint64_t> counts(records);
  for (int i = 0; i < draws; ++i) ++counts.at(chooser.Next(records, random));
  return counts;
}

void ExpectExactLaw(const char* text, uint64_t start, uint64_t records, int draws) {
  const KeyChooser chooser(Keys(text), start);
  const std::vector<double> exact = KeyProbabilities(chooser, records);
  EXPECT_NEAR(std::accumulate(exact.begin(), exact.end(), 0.0), 1, 1e-9) << text;
  const base::Fit fit = base::ChiSquare(Counts(chooser, records, draws), exact);
  EXPECT_TRUE(fit.ok()) << text << " " << records << ": " << fit.statistic << " above "
                        << fit.critical;
}

TEST(KeyChooser, DrawsFollowTheExactLaw) {
  for (const char* text : kKeyTexts)
    for (const uint64_t records : {1, 2, 1000, 20'011})
      ExpectExactLaw(text, records, records, kKeysDrawn);
}

TEST(KeyChooser, DrawsFollowTheLawOfAllRecordsThatWereAdded) {
  for (const char* text : kKeyTexts)
    for (const uint64_t records : {1001, 1500, 2000, 2001, 5321})
      ExpectExactLaw(text, 1000, records, kKeysDrawn / 4);
}

// The check can say no: each law's draws against each other one's probabilities.
TEST(KeyChooser, NoLawPassesForAnother) {
  std::vector<std::vector<uint64_t>> drawn;
  for (const char* text : kKeyTexts) drawn.push_back(Counts({Keys(text), 1000}, 1000, kKeysDrawn));
  for (size_t i = 0; i < drawn.size(); ++i) {
    const std::vector<double> claimed = KeyProbabilities({Keys(kKeyTexts[i]), 1000}, 1000);
    for (size_t j = 0; j < drawn.size(); ++j)
      EXPECT_EQ(base::ChiSquare(drawn[j], claimed).ok(), i == j)
          << kKeyTexts[j] << " for " << kKeyTexts[i];
  }
}

TEST(KeyChooser, SequencesOfThreadsCoverAllRecordsInTurns) {
  KeyChooser even(Keys("sequential"), 10, 0, 2), odd(Keys("sequential"), 10, 1, 2);
  base::Random random(base::TestSeed(1));
  for (uint64_t round = 0; round < 20; ++round) {
    EXPECT_EQ(even.Next(10, random), 2 * round % 10);
    EXPECT_EQ(odd.Next(10, random), (2 * round + 1) % 10);
  }
  EXPECT_EQ(even.Next(1000, random), 10u);  // goes on with what was added
}

TEST(KeyChooser, PermutationHitsEachRecordOnce) {
  for (const uint64_t records : {1, 2, 3, 4, 5, 1000, 1024, 1025, 65'537}) {
    const KeyChooser chooser(Keys("permuted-zipf 0.99"), records);
    std::set<uint64_t> hit;
    for (uint64_t rank = 0; rank < records; ++rank) hit.insert(chooser.Permuted(rank));
    EXPECT_EQ(hit.size(), records);
    EXPECT_EQ(*hit.rbegin(), records - 1);
    EXPECT_EQ(chooser.Permuted(records), records);
  }
}

TEST(KeyChooser, PopularRecordsStayPopularAsRecordsAreAdded) {
  const KeyChooser chooser(Keys("scrambled-zipf 0.99"), 1000);
  for (uint64_t records = 1000; records < 9000; ++records)
    for (uint64_t rank = 0; rank < 20; ++rank) {
      const uint64_t before = chooser.Scrambled(rank, records);
      const uint64_t after = chooser.Scrambled(rank, records + 1);
      ASSERT_TRUE(after == before || after == records) << records << " " << rank;
    }
}

TEST(KeyChooser, LatestFollowsTheNewest) {
  KeyChooser chooser(Keys("latest 0.99"), 1000);
  base::Random random(base::TestSeed(1));
  for (uint64_t records = 1000; records < 100'000; records += 1000) {
    int newest = 0;
    for (int i = 0; i < 1000; ++i) newest += chooser.Next(records, random) >= records - 10;
    EXPECT_GT(newest, 150) << records;
  }
}

// YCSB's own: the first of 10^10 ranks has 1 / 26.469 of all draws.
TEST(KeyChooser, ScrambledZipfHasTheHeadOfYcsbs) {
  const KeyChooser chooser(Keys("scrambled-zipf 0.99"), 1'000'000);
  const std::vector<double> exact = KeyProbabilities(chooser, 1'000'000);
  EXPECT_NEAR(exact[chooser.Scrambled(0, 1'000'000)], 1 / 26.46902820178302, 1e-4);
}

}  // namespace
}  // namespace weft::bench
