#include "sim/figure/setting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/figure/figure_test_kit.h"

namespace weft::sim {
namespace {

using testing::HasSubstr;

std::vector<std::string> NamesOf(const Result<std::vector<Setting>>& settings) {
  std::vector<std::string> names;
  for (const Setting& setting : settings.value()) names.push_back(setting.name);
  return names;
}

TEST(Setting, EveryCombination) {
  const auto settings = SettingsOf(SmallCase(), {"map=rank-il,scheme2", "t-insitu=0,10"}, false);
  ASSERT_TRUE(settings) << settings.error().ToString();
  EXPECT_THAT(NamesOf(settings),
              testing::ElementsAre("map=rank-il t-insitu=0", "map=rank-il t-insitu=10",
                                   "map=scheme2 t-insitu=0", "map=scheme2 t-insitu=10"));
  const Case& last = settings.value()[3].of;
  EXPECT_EQ(last.run.memory.map, "scheme2");
  EXPECT_EQ(last.prefetch.insitu_ns, 10);
  EXPECT_EQ(last.run.workload.buckets, 1024u);  // the base's
}

TEST(Setting, OneAtATimeAndTheBase) {
  const auto settings = SettingsOf(SmallCase(), {"map=scheme2", "plain-cpi=0.5,1"}, true);
  ASSERT_TRUE(settings) << settings.error().ToString();
  EXPECT_THAT(NamesOf(settings),
              testing::ElementsAre("", "map=scheme2", "plain-cpi=0.5", "plain-cpi=1"));
  EXPECT_EQ(settings.value()[3].of.run.memory.map, "rank-il");
  EXPECT_EQ(settings.value()[3].of.run.plain_cpi, 1);
}

TEST(Setting, WithoutAnyThereIsTheBase) {
  EXPECT_THAT(NamesOf(SettingsOf(SmallCase(), {}, false)), testing::ElementsAre(""));
}

TEST(Setting, WhatIsNoOptionIsNamed) {
  for (const char* over : {"map", "=scheme2", "map=", "no-such=1", "epoch=-1", "noc=slow"}) {
    const auto settings = SettingsOf(SmallCase(), {over}, false);
    ASSERT_FALSE(settings) << over;
    EXPECT_THAT(std::string(settings.error().message()), HasSubstr("--over ")) << over;
  }
  for (const char* over : {"seed=2", "no-skip=true", "epoch=5", "out=x"}) {
    const auto settings = SettingsOf(SmallCase(), {over}, false);
    ASSERT_FALSE(settings) << over;
    EXPECT_THAT(std::string(settings.error().message()), HasSubstr("does not change what is"))
        << over;
  }
}

}  // namespace
}  // namespace weft::sim
