// Threads   one.
#include "bench/workload/size_distribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/goodness_of_fit_test_kit.h"
#include "base/random.h"
#include "base/seed_test_kit.h"

namespace weft::bench {
namespace {

using testing::HasSubstr;

constexpr int kSizesDrawn = 1'000'000;

SizeDistribution SizesOf(const std::string& text) {
  auto sizes = SizeDistribution::Parse(text);
  EXPECT_TRUE(sizes) << sizes.error().ToString();
  return *sizes;
}

base::Fit FitOf(const SizeDistribution& drawn, const SizeDistribution& exact) {
  base::Random random(base::TestSeed(5));
  std::vector<uint64_t> counts(exact.max() - exact.min() + 1);
  for (int i = 0; i < kSizesDrawn; ++i) {
    const uint32_t size = drawn.Of(random.Next());
    EXPECT_TRUE(size >= exact.min() && size <= exact.max()) << size;
    ++counts[size - exact.min()];
  }
  std::vector<double> shares;
  for (uint32_t size = exact.min(); size <= exact.max(); ++size)
    shares.push_back(exact.Probability(size));
  return base::ChiSquare(counts, shares);
}

constexpr const char* kSizeTexts[] = {"1000",
                                      "uniform 10 2000",
                                      "uniform 0 0",
                                      "log-uniform 16 4096",
                                      "log-uniform 1 3",
                                      "16:0.4 64:0.3 1024:0.3",
                                      "64:5 16:1",
                                      "7:1",
                                      "pareto 214.476 0.348238 8 4096",
                                      "pareto 20 0 0 100",
                                      "pareto 1 2.5 100 5000"};

TEST(SizeDistribution, TextsAreReadAndPrintedAlike) {
  for (const char* text : kSizeTexts) EXPECT_EQ(SizesOf(text).ToText(), text);
  EXPECT_EQ(SizesOf("  uniform  1   2 ").ToText(), "uniform 1 2");
}

TEST(SizeDistribution, DrawsFollowTheExactLaw) {
  for (const char* text : kSizeTexts) {
    const SizeDistribution sizes = SizesOf(text);
    const base::Fit fit = FitOf(sizes, sizes);
    EXPECT_TRUE(fit.ok()) << text << ": " << fit.statistic << " above " << fit.critical;
  }
}

TEST(SizeDistribution, AnotherLawDoesNotPass) {
  EXPECT_FALSE(FitOf(SizesOf("uniform 20 4096"), SizesOf("uniform 16 4096")).ok());
  EXPECT_FALSE(
      FitOf(SizesOf("16:0.405 64:0.295 1024:0.3"), SizesOf("16:0.4 64:0.3 1024:0.3")).ok());
  EXPECT_FALSE(
      FitOf(SizesOf("pareto 225 0.348238 8 4096"), SizesOf("pareto 214.476 0.348238 8 4096")).ok());
}

TEST(SizeDistribution, ProbabilitiesSumToOneAndGiveTheMean) {
  for (const char* text : kSizeTexts) {
    const SizeDistribution sizes = SizesOf(text);
    double sum = 0, mean = 0;
    for (uint32_t size = sizes.min(); size <= sizes.max(); ++size) {
      sum += sizes.Probability(size);
      mean += size * sizes.Probability(size);
    }
    EXPECT_NEAR(sum, 1, 1e-9) << text;
    EXPECT_NEAR(sizes.Mean(), mean, 1e-6 * mean + 1e-9) << text;
    EXPECT_EQ(sizes.Probability(sizes.max() + 1), 0) << text;
  }
}

TEST(SizeDistribution, ExtremeWordsStayWithin) {
  for (const char* text : kSizeTexts) {
    const SizeDistribution sizes = SizesOf(text);
    for (const uint64_t word : {uint64_t{0}, uint64_t{1} << 63, UINT64_MAX}) {
      EXPECT_GE(sizes.Of(word), sizes.min()) << text;
      EXPECT_LE(sizes.Of(word), sizes.max()) << text;
    }
  }
  EXPECT_EQ(SizesOf("uniform 10 2000").Of(0), 10u);
  EXPECT_EQ(SizesOf("uniform 10 2000").Of(UINT64_MAX), 2000u);
}

TEST(SizeDistribution, MistakesAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "empty"},
      {"big", "neither"},
      {"10 20", "neither"},
      {"-1", "neither"},
      {"1073741825", "neither"},
      {"uniform 1", "a smallest and a largest"},
      {"uniform 1 2 3", "a smallest and a largest"},
      {"uniform 20 10", "above the largest"},
      {"log-uniform 0 10", "1 or more"},
      {"16:0.4 64", "'64' is not"},
      {"16:0.4 64:0", "'64:0' is not"},
      {"16:0.4 16:0.6", "twice"},
      {"pareto 1 2 3", "a scale, a shape"},
      {"pareto 0 1 1 10", "scale"},
      {"pareto 1 11 1 10", "shape"},
      {"pareto 1 1 x 10", "sizes"},
      {"pareto 1 1 11 10", "above the largest"},
  };
  for (const auto& [text, what] : cases) {
    auto sizes = SizeDistribution::Parse(text);
    ASSERT_FALSE(sizes) << text;
    EXPECT_EQ(sizes.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(sizes.error().ToString(), HasSubstr(what));
  }
}

}  // namespace
}  // namespace weft::bench
