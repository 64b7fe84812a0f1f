#include "sim/dram/command_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/dram/dram_test_kit.h"

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

const std::vector<Planted>& PlantedOfRowsAndColumns() {
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

const std::vector<Planted>& PlantedOfBankRefreshAndPowerDown() {
  constexpr std::string_view kDdr3 = kDefaultPreset;
  constexpr std::string_view kHbm3 = "hbm3-6400";
  static const std::vector<Planted> planted = {
      {"tRFCpb", kHbm3, {At(0, kRefreshBank, 0, 3), At(320, kActivate, 0, 3)}},
      {"tRFCpb", kHbm3, {At(0, kRefreshBank, 0, 3), At(320, kRefreshBank, 0, 3)}},
      {"tRFCpb", kHbm3, {At(0, kRefreshBank, 0, 3), At(320, kRefresh, 0, 0)}},
      {"tRREFD", kHbm3, {At(0, kRefreshBank, 0, 3), At(8, kActivate, 0, 4)}},
      {"tRREFD", kHbm3, {At(0, kRefreshBank, 0, 3), At(8, kRefreshBank, 0, 7)}},
      {"tRRD_L", kHbm3, {At(0, kActivate, 0, 3), At(5, kRefreshBank, 0, 7)}},
      {"tRRD_S", kHbm3, {At(0, kActivate, 0, 3), At(4, kRefreshBank, 0, 4)}},
      {"tRP",
       kHbm3,
       {At(0, kActivate, 0, 0), At(60, kPrecharge, 0, 0), At(86, kRefreshBank, 0, 0)}},
      {"tRC",
       kHbm3,
       {At(0, kActivate, 0, 0), At(45, kPrecharge, 0, 0), At(72, kRefreshBank, 0, 0)}},
      {"tRFC", kHbm3, {At(0, kRefresh, 0, 0), At(560, kRefreshBank, 0, 2)}},
      {"tXP", kDdr3, {At(0, kPowerDown, 0, 0), At(9, kPowerUp, 0, 0), At(13, kActivate, 0, 0)}},
      {"tXP", kDdr3, {At(0, kPowerDown, 0, 0), At(9, kPowerUp, 0, 0), At(13, kRefresh, 0, 0)}},
      {"tCKE", kDdr3, {At(0, kPowerDown, 0, 0), At(4, kPowerUp, 0, 0)}},
      {"tCKE", kDdr3, {At(0, kPowerDown, 0, 0), At(9, kPowerUp, 0, 0), At(13, kPowerDown, 0, 0)}},
      {"tRP", kDdr3, {At(0, kActivate, 0, 5), At(24, kPrecharge, 0, 5), At(34, kPowerDown, 0, 0)}},
      {"tRFC", kDdr3, {At(0, kRefresh, 0, 0), At(107, kPowerDown, 0, 0)}},
      {"tRDPDEN",
       "ddr3-1333-2gb-x8-sg15e",
       {At(0, kActivate, 0, 0), At(30, kRead, 0, 0), At(35, kPrecharge, 0, 0),
        At(44, kPowerDown, 0, 0)},
       1,
       false},
  };
  return planted;
}

void ExpectFound(const std::vector<Planted>& all) {
  for (const Planted& planted : all) {
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

TEST(CommandChecker, FindsWhatComesAClockTooEarly) {
  ExpectFound(PlantedOfRowsAndColumns());
  ExpectFound(PlantedOfBankRefreshAndPowerDown());
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
      {open, other_row},           {open, At(40, kRefreshBank, 0, 0)},
  };
  for (const auto& commands : cases) {
    EXPECT_THAT(RulesBroken(preset, commands), ElementsAre("bank"));
  }
}

TEST(CommandChecker, FindsWhatPowerDownForbids) {
  const Preset preset = PresetNamed(kDefaultPreset);
  const IssuedCommand down = At(10, kPowerDown, 1, 0);
  const std::vector<std::vector<IssuedCommand>> cases = {
      {At(10, kPowerUp, 1, 0)},        {down, At(20, kPowerDown, 1, 0)},
      {down, At(20, kActivate, 1, 0)}, {down, At(20, kRefresh, 1, 0)},
      {At(0, kActivate, 1, 0), down},
  };
  for (const auto& commands : cases) {
    EXPECT_THAT(RulesBroken(preset, commands), ElementsAre("power"));
  }
  EXPECT_THAT(RulesBroken(preset, {down, At(20, kActivate, 0, 0)}), IsEmpty());
}

TEST(CommandChecker, KnowsTheBuses) {
  const std::vector<IssuedCommand> both = {At(0, kActivate, 0, 0), At(40, kActivate, 0, 1),
                                           At(40, kRead, 0, 0)};
  const std::vector<IssuedCommand> rows = {At(0, kActivate, 0, 0), At(60, kActivate, 0, 1),
                                           At(60, kPrecharge, 0, 0)};
  const std::vector<IssuedCommand> back = {At(1, kActivate, 0, 0), At(0, kPowerDown, 1, 0)};
  Preset two = PresetNamed("hbm3-6400");
  two.organization.ranks = 2;
  Preset one = two;
  one.organization.has_column_bus = false;
  EXPECT_THAT(RulesBroken(two, both), IsEmpty());
  EXPECT_THAT(RulesBroken(one, both), ElementsAre("order"));
  EXPECT_THAT(RulesBroken(two, rows), ElementsAre("order"));
  EXPECT_THAT(RulesBroken(two, back), ElementsAre("order"));
  // Power commands are beside the bus.
  EXPECT_THAT(RulesBroken(one, {At(7, kActivate, 0, 0), At(7, kPowerDown, 1, 0)}), IsEmpty());
}

// What lies before a clock that falls is compared with nothing that comes later.
TEST(CommandChecker, StartsAnewWhereAClockFalls) {
  const Preset preset = PresetNamed(kDefaultPreset);
  EXPECT_THAT(RulesBroken(preset, {At(1'000'000, kActivate, 0, 0), At(4, kActivate, 0, 1),
                                   At(40, kActivate, 0, 2), At(41, kActivate, 0, 3)}),
              ElementsAre("order", "tRRD_L"));
}

TEST(CommandChecker, CountsOnlyWhatComesBehindTheLastViolationThatIsKept) {
  const Preset preset = PresetNamed(kDefaultPreset);
  CommandChecker checker(preset.organization, preset.timing, false);
  for (int i = 0; i < 5000; ++i) checker.Check(At(i, kRead, 0, 0));
  EXPECT_EQ(checker.commands(), 5000u);
  EXPECT_EQ(checker.violations().size(), CommandChecker::kViolationsMax);
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

TEST(CommandChecker, MissesTheBankThatIsNotRefreshed) {
  const Preset preset = PresetNamed("hbm3-6400");
  const auto rules = [&](int forgotten) {
    CommandChecker checker(preset.organization, preset.timing, true);
    for (Clock time = 1; time <= 10; ++time) {
      for (int bank = 0; bank < 16; ++bank) {
        if (bank != forgotten) checker.Check(At(time * 6240 + bank * 390, kRefreshBank, 0, bank));
      }
    }
    checker.Finish(10 * 6240 + 16 * 390);
    return checker.violations().size();
  };
  EXPECT_EQ(rules(-1), 0u);
  EXPECT_EQ(rules(5), 1u);
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

TEST(CommandChecker, RulesOfBankRefreshAndPowerDownAreMetToTheClock) {
  struct Parameter {
    const char* rule;
    std::string_view preset;
    ControllerOptions options;
    int Timing::*clocks;
  };
  const ControllerOptions down{.page = PagePolicy::kClosed, .powers_down = true};
  const ControllerOptions banks{.refreshes_banks = true};
  const Parameter parameters[] = {
      {"tXP", kDefaultPreset, down, &Timing::txp},
      {"tCKE", kDefaultPreset, down, &Timing::tcke},
      {"tRFCpb", "hbm3-6400", banks, &Timing::trfc_pb},
      {"tRREFD", "hbm3-6400", banks, &Timing::trrefd},
  };
  for (const Parameter& parameter : parameters) {
    Preset preset = PresetNamed(parameter.preset);
    const auto offers = RandomOffers(preset, TestSeed(), 10'000, 20, 0.4);
    const Played run = Play(preset, offers, 400'000, parameter.options);
    EXPECT_THAT(RulesBroken(preset, run.commands), IsEmpty());
    ++(preset.timing.*parameter.clocks);
    EXPECT_THAT(RulesBroken(preset, run.commands), Contains(parameter.rule));
  }
}

}  // namespace
}  // namespace weft::sim
