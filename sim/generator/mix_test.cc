#include "sim/generator/mix.h"

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/seed_test_kit.h"

namespace weft::sim {
namespace {

// Paper 004's table 3: average bytes of a value, and the specification's percent of writes.
struct Claim {
  double value_bytes;
  double put_percent;  // of rows that sum to as much as 100.3
};
constexpr Claim kClaims[kMixes] = {{134.1, 1.4},  {182.3, 14.6}, {210.1, 45.2}, {219.5, 29.7},
                                   {230.5, 23.5}, {249.6, 40.0}, {282.5, 29.3}, {321.3, 32.5},
                                   {380.8, 11.4}, {409.6, 40.0}, {416.1, 20.0}, {432.0, 48.8}};

TEST(Mix, AveragesAreThePapers) {
  for (int i = 0; i < kMixes; ++i) {
    const Mix mix = Mix::Find(std::to_string(i + 1)).value();
    EXPECT_NEAR(mix.AverageValueBytes(), kClaims[i].value_bytes, 0.5) << i + 1;
    EXPECT_NEAR(mix.PutShare() * 100, kClaims[i].put_percent, 0.15) << i + 1;
  }
}

TEST(Mix, DrawsWhatItSays) {
  std::mt19937_64 random(base::TestSeed());
  constexpr int kDraws = 4'000'000;
  for (int i = 0; i < kMixes; ++i) {
    const Mix mix = Mix::Find(std::to_string(i + 1)).value();
    std::vector<std::array<int, 2>> counts(mix.sizes().size());
    double bytes = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      const Mix::Drawn drawn = mix.Draw(random());
      ++counts[static_cast<size_t>(drawn.size)][static_cast<size_t>(drawn.type)];
      bytes += mix.sizes()[static_cast<size_t>(drawn.size)].value_bytes;
    }
    // The mean of so many has a deviation of 0.1 bytes at most.
    EXPECT_NEAR(bytes / kDraws, mix.AverageValueBytes(), 0.5) << i + 1;
    for (size_t size = 0; size < counts.size(); ++size) {
      for (const auto& [count, share] : {std::pair{counts[size][0], mix.sizes()[size].gets},
                                         std::pair{counts[size][1], mix.sizes()[size].puts}}) {
        const double deviation = std::sqrt(kDraws * share * (1 - share));
        EXPECT_NEAR(count, kDraws * share, 5 * deviation + 1) << i + 1;
      }
    }
  }
}

TEST(Mix, TheEndsOfTheWordsAreOperationsThatThereAre) {
  const Mix fixed = Mix::Find("fixed:300").value();
  ASSERT_EQ(fixed.sizes().size(), 1u);
  EXPECT_EQ(fixed.sizes()[0].value_bytes, 300);
  for (const uint64_t word : {uint64_t{0}, UINT64_MAX / 2, UINT64_MAX}) {
    EXPECT_EQ(fixed.Draw(word).size, 0);
    EXPECT_EQ(fixed.Draw(word).type, OpType::kGet);  // it has no puts
  }
  const Mix mix = Mix::Find("12").value();
  EXPECT_EQ(mix.Draw(0).size, 0);
  EXPECT_EQ(mix.Draw(0).type, OpType::kGet);
  EXPECT_EQ(mix.Draw(UINT64_MAX).size, 2);
  EXPECT_EQ(mix.Draw(UINT64_MAX).type, OpType::kPut);
}

TEST(Mix, SaysWhatThereIsToAWrongName) {
  for (const char* name : {"", "0", "13", "1x", "-1", "fixed", "fixed:", "fixed:0", "fixed:32769",
                           "fixed:12 ", "mixed"}) {
    const Result<Mix> mix = Mix::Find(name);
    ASSERT_FALSE(mix) << name;
    EXPECT_EQ(mix.error().code(), Code::kInvalidArgument) << name;
    EXPECT_NE(mix.error().ToString().find(name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace weft::sim
