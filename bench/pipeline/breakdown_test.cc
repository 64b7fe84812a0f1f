#include "bench/pipeline/breakdown.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weft::bench {
namespace {

constexpr const char* kAllOnGpu =
    "[RV PP MM]cpu -> [IN.search IN.insert IN.delete]gpu0 -> [KC RD WR SD]cpu";
// As the search for plans writes it: the changes behind RD.
constexpr const char* kChangesLast =
    "[RV PP MM]cpu -> [IN.search]gpu0 -> [KC RD IN.insert IN.delete WR SD]cpu";
constexpr const char* kReads =
    "[RV PP MM]cpu -> [IN.search KC RD]gpu0 -> [IN.insert IN.delete WR SD]cpu";

Contender Of(const char* plan, bool steal = false) {
  auto parsed = pipeline::Plan::Parse(plan);
  EXPECT_TRUE(parsed) << plan;
  return {*parsed, 1000, steal, false};
}
Contender OneStage() { return {pipeline::Plan::OneStageCpu(), 1000}; }
Contender Auto() { return {pipeline::Plan::OneStageCpu(), 1000, true, true}; }

// One workload's, contender by contender; a negative rate did not keep the interval.
void Add(const char* workload, const std::vector<double>& rates, std::vector<TableLine>* lines) {
  for (size_t c = 0; c < rates.size(); ++c) {
    lines->push_back({workload, c, 1, rates[c] > 0, {}, std::nullopt});
    lines->back().figures.rate = std::abs(rates[c]);
  }
}

// The line of the text that begins with that, its blanks made single; empty if there is none.
std::string LineOf(const std::string& text, const std::string& begin) {
  const size_t at = text.find("break-down   " + begin + " ");
  if (at == std::string::npos) return {};
  std::string line = text.substr(at, text.find('\n', at) - at);
  for (size_t two; (two = line.find("  ")) != std::string::npos;) line.erase(two, 1);
  return line.ends_with(' ') ? line.substr(0, line.size() - 1) : line;
}

TEST(BreakDown, MeansAreArithmeticAndGeometric) {
  const MeanGain mean = MeanOf(
      {{"K8-G95-U", 1, 0, 1, true}, {"K8-G95-S", 1, 0, 4, false}, {"K16-G95-S", 1, 0, 16, true}});
  EXPECT_EQ(mean.workloads, 3u);
  EXPECT_EQ(mean.late, 1u);
  EXPECT_NEAR(mean.arithmetic, 7, 1e-9);
  EXPECT_NEAR(mean.geometric, 4, 1e-9);
  EXPECT_EQ(mean.least, 1);
  EXPECT_EQ(mean.most, 16);
  EXPECT_EQ(MeanOf({}).workloads, 0u);
}

TEST(BreakDown, PartsAreWholeWords) {
  const std::vector<Gain> gains = {{"K8-G95-U"}, {"K128-G95-S"}, {"K8-G50-S"}};
  EXPECT_EQ(OfPart(gains, "K8").size(), 2u);
  EXPECT_EQ(OfPart(gains, "K128").size(), 1u);
  EXPECT_EQ(OfPart(gains, "G95").size(), 2u);
  EXPECT_EQ(OfPart(gains, "S").size(), 2u);
  EXPECT_TRUE(OfPart(gains, "K1").empty());
}

TEST(BreakDown, MegaKvHasAllIndexOperationsOnTheDeviceOrElseTheSearch) {
  EXPECT_EQ(FindMegaKv({OneStage(), Of(kChangesLast), Of(kAllOnGpu, true), Of(kAllOnGpu)}), 3u);
  EXPECT_EQ(FindMegaKv({OneStage(), Of(kAllOnGpu, true), Of(kReads), Of(kChangesLast)}), 3u);
  EXPECT_EQ(FindMegaKv({OneStage(), Of(kReads), Of(kChangesLast, true)}), std::nullopt);
}

TEST(BreakDown, ThePlannerStandsAgainstMegaKv) {
  const std::vector<Contender> contenders = {OneStage(), Auto(), Of(kReads), Of(kAllOnGpu)};
  std::vector<TableLine> lines;
  Add("K8-G100-U", {10, 60, 70, 20}, &lines);
  Add("K16-G95-U", {10, 30, 20, -20}, &lines);
  Add("K16-G50-S", {10, -10, 20, 20}, &lines);
  const std::vector<Gain> gains = OverMegaKv(contenders, lines);
  ASSERT_EQ(gains.size(), 3u);
  EXPECT_EQ(gains[0].contender, 1u);
  EXPECT_EQ(gains[0].baseline, 3u);
  EXPECT_NEAR(gains[0].ratio, 3, 1e-9);
  EXPECT_TRUE(gains[0].kept);
  EXPECT_FALSE(gains[1].kept) << "Mega-KV was late";
  EXPECT_FALSE(gains[2].kept) << "the planner was";

  const std::string text = BreakDownText(contenders, lines);
  EXPECT_NE(text.find("the planner, plan 1, over Mega-KV's, plan 3\n"), std::string::npos) << text;
  // 3, 1.5 and 0.5.
  EXPECT_EQ(LineOf(text, "all"), "break-down all 3 2 +66.7% +31.0% -50.0% +200.0% +81%");
  EXPECT_EQ(LineOf(text, "K8"), "break-down K8 1 0 +200.0% +200.0% +200.0% +200.0% +166%");
  EXPECT_EQ(LineOf(text, "K16"), "break-down K16 2 2 +0.0% -13.4% -50.0% +50.0% +95%");
  EXPECT_EQ(LineOf(text, "U"), "break-down U 2 1 +125.0% +112.1% +50.0% +200.0% +90%");
  EXPECT_EQ(LineOf(text, "K32"), "") << "no such workload was run";
}

TEST(BreakDown, WithoutAPlannerTheModelChooses) {
  const std::vector<Contender> contenders = {OneStage(), Of(kReads), Of(kChangesLast)};
  std::vector<TableLine> lines;
  Add("K8-G100-U", {10, 30, 20}, &lines);
  Add("K8-G50-U", {10, 30, 20}, &lines);
  EXPECT_TRUE(OverMegaKv(contenders, lines).empty()) << "there is no model";
  const std::vector<double> predicted = {10, 20, 15, 10, 9, 8};
  for (size_t i = 0; i < lines.size(); ++i) {
    lines[i].estimate.emplace();
    lines[i].estimate->queries_per_s = predicted[i];
    lines[i].estimate->fits = true;
  }
  const std::vector<Gain> gains = OverMegaKv(contenders, lines);
  ASSERT_EQ(gains.size(), 2u);
  EXPECT_EQ(gains[0].contender, 1u);
  EXPECT_NEAR(gains[0].ratio, 1.5, 1e-9);
  EXPECT_EQ(gains[1].contender, 0u);
  EXPECT_NEAR(gains[1].ratio, 0.5, 1e-9);
}

TEST(BreakDown, IndexOperationsMoveWithinMegaKvsPartition) {
  const std::vector<Contender> contenders = {
      OneStage(),
      Of(kReads),
      Of("[RV PP MM IN.insert IN.delete]cpu -> [IN.search]gpu0 -> [KC RD WR SD]cpu"),
      Of(kAllOnGpu),
      Of(kChangesLast, true),
      Of(kChangesLast)};
  std::vector<TableLine> lines;
  Add("K8-G100-U", {90, 99, 20, 10, 99, 80}, &lines);
  Add("K8-G95-U", {90, 99, 20, 10, 99, -80}, &lines);  // the fastest was late
  Add("K8-G50-U", {90, 99, 5, 10, 99, 6}, &lines);
  Add("K8-G50-S", {90, 99, -5, -10, 99, -40}, &lines);  // all were
  const std::vector<Gain> gains = OfIndexAssignment(contenders, lines);
  ASSERT_EQ(gains.size(), 3u) << "there is nothing to place without SETs";
  EXPECT_EQ(gains[0].contender, 2u);
  EXPECT_NEAR(gains[0].ratio, 2, 1e-9);
  EXPECT_EQ(gains[1].contender, 3u);
  EXPECT_NEAR(gains[1].ratio, 1, 1e-9);
  EXPECT_EQ(gains[2].contender, 5u);
  EXPECT_NEAR(gains[2].ratio, 4, 1e-9);
  EXPECT_FALSE(gains[2].kept);
  const std::string text = BreakDownText(contenders, lines);
  EXPECT_EQ(LineOf(text, "G50"), "break-down G50 2 1 +150.0% +100.0% +0.0% +300.0% +10%");
}

TEST(BreakDown, NothingIsAssignedWithoutSets) {
  const std::vector<Contender> contenders = {OneStage(), Of(kAllOnGpu), Of(kChangesLast)};
  std::vector<TableLine> lines;
  Add("K8-G100-U", {10, 20, 30}, &lines);
  const std::string text = BreakDownText(contenders, lines);
  EXPECT_NE(text.find("partition:"), std::string::npos) << text;
  EXPECT_EQ(text.find("index operations:"), std::string::npos) << text;
}

TEST(BreakDown, OnePlacementIsNoAssignment) {
  for (const char* plan : {kAllOnGpu, kChangesLast}) {
    const std::vector<Contender> contenders = {OneStage(), Of(plan)};
    std::vector<TableLine> lines;
    Add("K8-G95-U", {10, 20}, &lines);
    EXPECT_TRUE(OfIndexAssignment(contenders, lines).empty());
    EXPECT_NE(BreakDownText(contenders, lines).find("not available"), std::string::npos);
  }
}

TEST(BreakDown, PartitionsIncludeOneStage) {
  const std::vector<Contender> contenders = {OneStage(),       Auto(),        Of(kReads),
                                             Of(kReads, true), Of(kAllOnGpu), Of(kChangesLast)};
  std::vector<TableLine> lines;
  Add("K8-G100-U", {10, 90, 30, 99, 20, 20.5}, &lines);  // reads
  Add("K8-G50-U", {40, 90, 30, 99, 20, 20}, &lines);     // one stage
  Add("K32-G50-U", {10, 90, 15, 99, 20, 24}, &lines);    // other places of changes only
  Add("K32-G50-S", {10, 90, 15, 99, 20, 19}, &lines);    // Mega-KV's itself
  const std::vector<Gain> gains = OfPartition(contenders, lines);
  ASSERT_EQ(gains.size(), 4u);
  const size_t best[] = {2, 0, 5, 4};
  const double ratios[] = {1.5, 2, 1.2, 1};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(gains[i].contender, best[i]);
    EXPECT_EQ(gains[i].baseline, 4u);
    EXPECT_NEAR(gains[i].ratio, ratios[i], 1e-9);
  }
  EXPECT_EQ(OfOtherPartition(contenders, gains).size(), 2u);
  const std::string text = BreakDownText(contenders, lines);
  EXPECT_NE(text.find("another partition for 2 of 4 workloads"), std::string::npos) << text;
  EXPECT_EQ(LineOf(text, "another partition"),
            "break-down another partition 2 0 +75.0% +73.2% +50.0% +100.0% +69%");
}

TEST(BreakDown, StealingIsOfTheBestPlanWithoutIt) {
  const std::vector<Contender> contenders = {OneStage(), Of(kReads, true), Of(kReads),
                                             Of(kChangesLast, true), Of(kChangesLast)};
  std::vector<TableLine> lines;
  Add("K8-G100-U", {10, 33, 30, 99, 20}, &lines);
  Add("K8-G95-U", {10, 33, -30, 26, 20}, &lines);
  Add("K128-G95-U", {50, 33, 30, 99, 20}, &lines);  // one stage
  const std::vector<Gain> gains = OfStealing(contenders, lines);
  ASSERT_EQ(gains.size(), 2u);
  EXPECT_EQ(gains[0].contender, 1u);
  EXPECT_EQ(gains[0].baseline, 2u);
  EXPECT_NEAR(gains[0].ratio, 1.1, 1e-9);
  EXPECT_EQ(gains[1].contender, 3u);
  EXPECT_NEAR(gains[1].ratio, 1.3, 1e-9);
  const std::string text = BreakDownText(contenders, lines);
  EXPECT_EQ(LineOf(text, "K8"), "break-down K8 2 0 +20.0% +19.6% +10.0% +30.0% +28%");
  EXPECT_NE(text.find("left out: 1 whose"), std::string::npos) << text;
}

TEST(BreakDown, WhatIsMissingIsNotPrinted) {
  EXPECT_EQ(BreakDownText({}, {}), "");
  EXPECT_EQ(BreakDownText({OneStage()}, {}), "");
  const std::vector<Contender> contenders = {OneStage(), Auto(), Of(kReads)};
  std::vector<TableLine> lines;
  Add("K8-G95-U", {10, 20, 30}, &lines);
  EXPECT_TRUE(OverMegaKv(contenders, lines).empty());
  EXPECT_TRUE(OfIndexAssignment(contenders, lines).empty());
  EXPECT_TRUE(OfPartition(contenders, lines).empty());
  EXPECT_TRUE(OfStealing(contenders, lines).empty());
  EXPECT_EQ(BreakDownText(contenders, lines), "");
}

TEST(BreakDown, EveryLineBeginsAlike) {
  const std::vector<Contender> contenders = {OneStage(), Auto(), Of(kAllOnGpu, true), Of(kAllOnGpu),
                                             Of(kChangesLast)};
  std::vector<TableLine> lines;
  Add("K8-G95-U", {10, 20, 30, 20, 25}, &lines);
  const std::string text = BreakDownText(contenders, lines);
  size_t count = 0;
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1, ++count)
    EXPECT_EQ(text.compare(at, 10, "break-down"), 0) << text.substr(at);
  EXPECT_GT(count, 10u);
}

}  // namespace
}  // namespace weft::bench
