#include "sim/figure/command_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/dram/dram_test_kit.h"

namespace weft::sim {
namespace {

using testing::HasSubstr;

Preset TwoChannels() {
  Preset preset = PresetNamed(kDefaultPreset);
  preset.organization.channels = 2;
  return preset;
}

IssuedCommand Activate(Clock clock, int bank) {
  return {.clock = clock, .command = Command::kActivate, .bank = bank};
}

// Two rows of a bank with no PRE between them: of the second channel.
TEST(CommandJudge, SaysWhichRuleAChannelBroke) {
  CommandJudge judge(TwoChannels(), false, 10);
  judge.Check(0, Activate(0, 0));
  judge.Check(1, Activate(0, 0));
  judge.Check(0, Activate(10, 1));
  EXPECT_TRUE(judge.Verdict().ok());
  judge.Check(1, Activate(100, 0));
  EXPECT_EQ(judge.checked(), 4);
  EXPECT_EQ(judge.Verdict().code(), Code::kCorruption);
  EXPECT_THAT(judge.Verdict().ToString(), HasSubstr("channel 1, command 1 at clock 100 breaks "));
}

TEST(CommandJudge, LooksAtSoManyAndNoMore) {
  CommandJudge judge(TwoChannels(), false, 1);
  judge.Check(0, Activate(0, 0));
  judge.Check(0, Activate(1, 0));
  EXPECT_EQ(judge.checked(), 1);
  EXPECT_TRUE(judge.Verdict().ok());
}

}  // namespace
}  // namespace weft::sim
