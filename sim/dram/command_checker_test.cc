#include "sim/dram/command_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/dram/test_kit.h"

namespace weft::sim {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

using enum Command;

std::vector<std::string> RulesBroken(const Preset& preset,
                                     const std::vector<IssuedCommand>& commands) {
  CommandChecker checker(preset.organization, preset.timing, false);
  for (const IssuedCommand& issued : commands) checker.Check(issued);
  std::vector<std::string> rules;
  for (const Violation& violation : checker.violations()) rules.push_back(violation.rule);
  return rules;
}

IssuedCommand At(Clock clock, Command command, int rank, int bank) {
  return {.clock = clock, .command = command, .rank = rank, .bank = bank};
}

// The last command comes as early as the rule lets it; `early` clocks before that it breaks `rule`.
struct Planted {
  const char* rule;
  std::string_view preset;
  std::vector<IssuedCommand> commands;
  Clock early = 1;
  bool is_alone = true;  // no other rule forbids it then
};

const std::vector<Planted>& AllPlanted() {
  constexpr std::string_view kDdr3 = kDefaultPreset;
  constexpr std::string_view kDdr4 = "ddr4-3200-8gb-x8";
  constexpr std::string_view kHbm3 = "hbm3-6400";
  static const std::vector<Planted> planted = {
      {"tRCD", kDdr3, {At(0, kActivate, 0, 0), At(10, kRead, 0, 0)}},
      {"tRCD", kDdr3, {At(0, kActivate, 0, 0), At(10, kWrite, 0, 0)}},
      {"tRCD", kHbm3, {At(0, kActivate, 0, 0), At(31, kRead, 0, 0)}},
      {"tRCD", kHbm3, {At(0, kActivate, 0, 0), At(15, kWrite, 0, 0)}},
      {"tRAS", kDdr3, {At(0, kActivate, 0, 0), At(24, kPrecharge, 0, 0)}},
      // 71 clocks are enough for tRAS and tRP.
      {"tRC", kHbm3, {At(0, kActivate, 0, 0), At(45, kPrecharge, 0, 0), At(72, kActivate, 0, 0)}},
      {"tRC",
       kDdr3,
       {At(0, kActivate, 0, 0), At(24, kPrecharge, 0, 0), At(34, kActivate, 0, 0)},
       1,
       false},
      {"tRP", kDdr3, {At(0, kActivate, 0, 0), At(30, kPrecharge, 0, 0), At(40, kActivate, 0, 0)}},
      {"tRP", kDdr3, {At(0, kActivate, 0, 5), At(24, kPrecharge, 0, 5), At(34, kRefresh, 0, 0)}},
      {"tRTP", kDdr3, {At(0, kActivate, 0, 0), At(30, kRead, 0, 0), At(35, kPrecharge, 0, 0)}},
      {"tWR", kDdr3, {At(0, kActivate, 0, 0), At(10, kWrite, 0, 0), At(31, kPrecharge, 0, 0)}},
      {"tRRD_L", kDdr3, {At(0, kActivate, 0, 0), At(4, kActivate, 0, 1)}},
      {"tRRD_S", kDdr4, {At(0, kActivate, 0, 0), At(4, kActivate, 0, 1)}},
      {"tRRD_L", kDdr4, {At(0, kActivate, 0, 0), At(8, kActivate, 0, 4)}},
      {"tFAW",
       kDdr3,
       {At(0, kActivate, 0, 0), At(4, kActivate, 0, 1), At(8, kActivate, 0, 2),
        At(12, kActivate, 0, 3), At(20, kActivate, 0, 4)}},
      {"tCCD_L",
       kDdr4,
       {At(0, kActivate, 0, 0), At(8, kActivate, 0, 4), At(40, kRead, 0, 0), At(48, kRead, 0, 4)}},
      {"tCCD_L",
       kDdr4,
       {At(0, kActivate, 0, 0), At(8, kActivate, 0, 4), At(40, kWrite, 0, 0),
        At(48, kWrite, 0, 4)}},
      {"tCCD_S",
       kDdr4,
       {At(0, kActivate, 0, 0), At(8, kActivate, 0, 1), At(40, kRead, 0, 0), At(44, kRead, 0, 1)},
       1,
       false},
      {"tWTR_S",
       kDdr4,
       {At(0, kActivate, 0, 0), At(8, kActivate, 0, 1), At(40, kWrite, 0, 0), At(64, kRead, 0, 1)}},
      {"tWTR_L",
       kDdr4,
       {At(0, kActivate, 0, 0), At(8, kActivate, 0, 4), At(40, kWrite, 0, 0), At(72, kRead, 0, 4)}},
      {"tRTRS",
       kDdr3,
       {At(0, kActivate, 0, 0), At(4, kActivate, 1, 0), At(20, kRead, 0, 0), At(25, kRead, 1, 0)}},
      {"tRTRS",
       kDdr3,
       {At(0, kActivate, 0, 0), At(4, kActivate, 1, 0), At(20, kWrite, 0, 0),
        At(25, kWrite, 1, 0)}},
      {"tRTRS",
       kDdr3,
       {At(0, kActivate, 0, 0), At(4, kActivate, 1, 0), At(20, kWrite, 0, 0), At(22, kRead, 1, 0)}},
      {"tRTRS", kDdr3, {At(0, kActivate, 0, 0), At(20, kRead, 0, 0), At(28, kWrite, 0, 0)}},
      {"bus",
       kDdr3,
       {At(0, kActivate, 0, 0), At(4, kActivate, 1, 0), At(20, kRead, 0, 0), At(25, kRead, 1, 0)},
       2,
       false},
      {"tRFC", kDdr3, {At(0, kRefresh, 0, 0), At(107, kActivate, 0, 3)}},
      {"tRFC", kDdr3, {At(0, kRefresh, 0, 0), At(107, kRefresh, 0, 0)}},
      {"order", kDdr3, {At(7, kActivate, 0, 0), At(8, kActivate, 1, 0)}},
  };
  return planted;
}

TEST(CommandChecker, FindsWhatComesAClockTooEarly) {
  for (const Planted& planted : AllPlanted()) {
    SCOPED_TRACE(std::string(planted.preset) + ", " + planted.rule);
    const Preset preset = PresetNamed(planted.preset);
    std::vector<IssuedCommand> commands = planted.commands;
    EXPECT_THAT(RulesBroken(preset, commands), IsEmpty());
    commands.back().clock -= planted.early;
    const std::vector<std::string> rules = RulesBroken(preset, commands);
    EXPECT_THAT(rules, Contains(planted.rule));
    if (planted.is_alone) {
      EXPECT_THAT(rules, ElementsAre(planted.rule));
    }
  }
}

TEST(CommandChecker, FindsWhatTheBanksStateForbids) {
  const Preset preset = PresetNamed(kDefaultPreset);
  const IssuedCommand open = At(0, kActivate, 0, 0);
  const IssuedCommand other_row{
      .clock = 20, .command = kRead, .rank = 0, .bank = 0, .row = 1, .column = 0};
  const std::vector<std::vector<IssuedCommand>> cases = {
      {At(0, kRead, 0, 0)},        {At(0, kWrite, 0, 0)},
      {At(0, kPrecharge, 0, 0)},   {open, At(40, kActivate, 0, 0)},
      {open, At(40, kRead, 0, 1)}, {open, At(40, kRefresh, 0, 0)},
      {open, other_row},
  };
  for (const auto& commands : cases) {
    EXPECT_THAT(RulesBroken(preset, commands), ElementsAre("bank"));
  }
}

TEST(CommandChecker, FindsWhatIsNotThere) {
  const Preset preset = PresetNamed(kDefaultPreset);
  const IssuedCommand cases[] = {
      At(0, kActivate, 4, 0),
      At(0, kActivate, -1, 0),
      At(0, kActivate, 0, 8),
      {.clock = 0, .command = kActivate, .rank = 0, .bank = 0, .row = 32768, .column = 0},
      {.clock = 0, .command = kRead, .rank = 0, .bank = 0, .row = 0, .column = 128},
  };
  for (const IssuedCommand& issued : cases) {
    EXPECT_THAT(RulesBroken(preset, {issued}), ElementsAre("range"));
  }
}

TEST(CommandChecker, MissesRefreshesThatDoNotCome) {
  Preset preset = PresetNamed(kDefaultPreset);
  preset.organization.ranks = 1;
  const auto rules = [&](std::vector<Clock> refreshes, Clock end) {
    CommandChecker checker(preset.organization, preset.timing, true);
    for (const Clock clock : refreshes) checker.Check(At(clock, kRefresh, 0, 0));
    checker.Finish(end);
    return checker.violations().size();
  };
  EXPECT_EQ(rules({}, 9 * 5200), 0u);
  EXPECT_EQ(rules({}, 9 * 5200 + 1), 1u);
  EXPECT_EQ(rules({5200, 10 * 5200}, 60'000), 0u);
  EXPECT_EQ(rules({5200, 10 * 5200 + 1}, 60'000), 1u);
}

// One clock more of any rule, and the checker finds the controller too early: the controller waits
// no longer than it has to, and the checker looks at every rule.
TEST(CommandChecker, EveryRuleIsMetToTheClock) {
  struct Parameter {
    const char* rule;
    int Timing::*clocks;
  };
  const Parameter parameters[] = {
      {"tRCD", &Timing::trcd_rd},  {"tRCD", &Timing::trcd_wr},     {"tRP", &Timing::trp},
      {"tRAS", &Timing::tras},     {"tRC", &Timing::trc},          {"tRRD_L", &Timing::trrd_l},
      {"tFAW", &Timing::tfaw},     {"tWR", &Timing::twr},          {"tWTR_S", &Timing::twtr_s},
      {"tWTR_L", &Timing::twtr_l}, {"tRTP", &Timing::trtp},        {"tCCD_S", &Timing::tccd_s},
      {"tCCD_L", &Timing::tccd_l}, {"tCCD_L", &Timing::tccd_l_wr}, {"tRFC", &Timing::trfc},
      {"tRTRS", &Timing::trtrs},   {"bus", &Timing::tburst},
  };
  const Preset preset = PresetNamed(kDefaultPreset);
  const auto offers = RandomOffers(preset, TestSeed(), 10'000, 3, 0.4);
  const Played run = Play(preset, offers, 100'000, {});
  for (const Parameter& parameter : parameters) {
    Preset stricter = preset;
    ++(stricter.timing.*parameter.clocks);
    EXPECT_THAT(RulesBroken(stricter, run.commands), Contains(parameter.rule));
  }
}

}  // namespace
}  // namespace weft::sim
