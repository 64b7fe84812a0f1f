#include "pipeline/plan.h"

#include <gtest/gtest.h>

#include <random>

#include "base/seed_test_kit.h"

namespace weft::pipeline {
namespace {

std::string Refusal(std::string_view text) {
  const Result<Plan> plan = Plan::Parse(text);
  if (plan) return "accepted: " + plan.value().ToText();
  EXPECT_EQ(plan.error().code(), Code::kInvalidArgument);
  return std::string(plan.error().message());
}

TEST(Plan, OneStageOnTheCpuIsWrittenAndRead) {
  const Plan plan = Plan::OneStageCpu();
  EXPECT_EQ(plan.ToText(), "[RV PP MM IN.search IN.insert IN.delete KC RD WR SD]cpu");
  const Result<Plan> read = Plan::Parse(plan.ToText());
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(read.value(), plan);
}

TEST(Plan, TextComesBackAsItWasWritten) {
  for (const char* text :
       {"[RV PP MM]cpu → [IN.search KC RD]gpu0 → [IN.insert IN.delete WR SD]cpu",
        "[RV PP MM IN.insert IN.delete]cpu → [IN.search KC]gpu1 → [RD WR SD]cpu",
        "[RV PP MM]cpu → [IN.search IN.insert IN.delete]gpu0 → [KC RD WR SD]cpu"}) {
    const Result<Plan> plan = Plan::Parse(text);
    ASSERT_TRUE(plan) << text << ": " << plan.error().ToString();
    EXPECT_EQ(plan.value().ToText(), text);
    EXPECT_EQ(plan.value().stages().size(), 3u);
  }
}

TEST(Plan, BlanksAndPlainArrowsAreRead) {
  const Result<Plan> plan = Plan::Parse(
      "  [ RV  PP MM ] cpu->[IN.search KC RD]gpu0  ->  [IN.insert IN.delete WR SD]cpu ");
  ASSERT_TRUE(plan) << plan.error().ToString();
  EXPECT_EQ(plan.value().ToText(),
            "[RV PP MM]cpu → [IN.search KC RD]gpu0 → [IN.insert IN.delete WR SD]cpu");
}

TEST(Plan, TextThatIsNoPlanIsRefusedWithItsReason) {
  EXPECT_EQ(Refusal(""), "a stage must begin with '['");
  EXPECT_EQ(Refusal("RV PP"), "a stage must begin with '['");
  EXPECT_EQ(Refusal("[RV PP"), "a stage must end with ']'");
  EXPECT_EQ(Refusal("[RV XX]cpu"), "unknown task 'XX'");
  EXPECT_EQ(Refusal("[RV PP MM IN]cpu"), "unknown task 'IN'");
  EXPECT_EQ(Refusal("[RV]"), "a processor's name must follow ']'");
  EXPECT_EQ(Refusal("[RV PP MM IN.search IN.insert IN.delete KC RD WR SD]cpu then"),
            "'then' follows the last stage");
  EXPECT_EQ(Refusal("[RV PP MM IN.search IN.insert IN.delete KC RD WR SD]cpu ->"),
            "a stage must begin with '['");
}

TEST(Plan, EveryTaskIsInOnePlace) {
  const std::string_view whole = "[RV PP MM IN.search IN.insert IN.delete KC RD WR SD]cpu";
  for (uint32_t i = 0; i < kTaskCount; i++) {
    const std::string name(TaskName(static_cast<Task>(i)));
    std::string without(whole), twice(whole);
    without.erase(without.find(name), name.size());
    EXPECT_EQ(Refusal(without), name + " is in no stage");
    twice.insert(1, name + " ");
    EXPECT_EQ(Refusal(twice), name + " is in more than one place");
  }
}

TEST(Plan, OrderThatCannotBeIsRefused) {
  EXPECT_EQ(Refusal("[RV MM]cpu → [PP IN.search IN.insert IN.delete KC RD WR SD]cpu"),
            "MM needs PP in its own stage or an earlier one");
  EXPECT_EQ(Refusal("[RV PP MM IN.insert IN.delete KC]cpu → [IN.search RD WR SD]cpu"),
            "KC needs IN.search in its own stage or an earlier one");
  EXPECT_EQ(Refusal("[RV PP IN.insert]cpu → [MM IN.search IN.delete KC RD WR SD]cpu"),
            "IN.insert needs MM in its own stage or an earlier one");
  EXPECT_EQ(Refusal("[RV PP MM IN.search IN.insert IN.delete RD]cpu → [KC WR SD]cpu"),
            "RD needs KC in its own stage or an earlier one");
  EXPECT_EQ(Refusal("[RV PP MM IN.search IN.delete KC RD WR]cpu → [IN.insert SD]cpu"),
            "WR needs IN.insert in its own stage or an earlier one");
  EXPECT_EQ(Refusal("[PP MM]cpu → [RV IN.search IN.insert IN.delete KC RD WR SD]cpu"),
            "PP needs RV in its own stage or an earlier one");
  EXPECT_EQ(Refusal("[RV PP MM IN.search IN.insert IN.delete KC RD SD]cpu → [WR]cpu"),
            "RV must be in the first stage and SD in the last");
}

TEST(Plan, WhatBelongsToTheHostStaysThere) {
  for (const char* name : {"RV", "PP", "MM", "WR", "SD"}) {
    // A stage of its own on a device, where the order lets it be.
    std::string text;
    bool done = false;
    for (uint32_t i = 0; i < kTaskCount; i++) {
      const std::string_view task = TaskName(static_cast<Task>(i));
      const bool device = task == name;
      if (!text.empty()) text += " → ";
      text += "[" + std::string(task) + "]" + (device ? "gpu0" : "cpu");
      done |= device;
    }
    ASSERT_TRUE(done);
    EXPECT_EQ(Refusal(text), std::string(name) + " runs only on the cpu");
  }
}

TEST(Plan, AnyBytesAreReadOrRefused) {
  std::mt19937_64 random(base::TestSeed(1));
  const std::string_view pieces[] = {"[",  "]", "RV",   "PP", "MM", "IN.search", "KC", "cpu",
                                     "->", "→", "\xe2", "-",  " ",  "gpu0",      "x"};
  for (int i = 0; i < 20000; i++) {
    std::string text;
    for (uint64_t n = random() % 12; n > 0; n--) text += pieces[random() % std::size(pieces)];
    const Result<Plan> plan = Plan::Parse(text);
    ASSERT_FALSE(plan) << text;  // none of these names every task
    ASSERT_FALSE(plan.error().message().empty());
  }
}

}  // namespace
}  // namespace weft::pipeline
