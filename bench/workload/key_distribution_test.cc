#include "bench/workload/key_distribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::bench {
namespace {

using testing::HasSubstr;

TEST(KeyDistribution, TextsAreReadAndPrintedAlike) {
  for (const char* text :
       {"sequential", "uniform", "zipf 0.5", "permuted-zipf 1", "scrambled-zipf 0.99",
        "scrambled-zipf 1.2 of 1000", "latest 0.99", "hotspot 0.2 0.8", "exponential 95 0.857"}) {
    auto keys = KeyDistribution::Parse(text);
    ASSERT_TRUE(keys) << keys.error().ToString();
    EXPECT_EQ(keys->ToText(), text);
  }
  EXPECT_EQ(KeyDistribution::Parse("scrambled-zipf 0.99")->ranks, 10'000'000'000u);
}

TEST(KeyDistribution, MistakesAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "empty"},
      {"zipfian 0.99", "begin with one of: sequential, uniform, zipf"},
      {"uniform 3", "nothing more"},
      {"zipf", "needs theta"},
      {"zipf 0", "needs theta"},
      {"zipf 11", "needs theta"},
      {"latest x", "needs theta"},
      {"zipf 0.99 of 10", "needs theta"},
      {"scrambled-zipf 0.99 in 10", "'of' and a number"},
      {"scrambled-zipf 0.99 of 0", "'of' and a number"},
      {"hotspot 0.2", "two shares"},
      {"hotspot 1 0.8", "two shares"},
      {"hotspot 0.2 1.5", "two shares"},
      {"exponential 100 0.8", "percentile below 100"},
      {"exponential 95 0", "percentile below 100"},
  };
  for (const auto& [text, what] : cases) {
    auto keys = KeyDistribution::Parse(text);
    ASSERT_FALSE(keys) << text;
    EXPECT_THAT(keys.error().ToString(), HasSubstr(what));
  }
}

}  // namespace
}  // namespace weft::bench
