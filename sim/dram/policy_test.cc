// What a controller does when it is asked for other than the defaults: by exact clocks, default
// preset, one channel of four ranks, rank-il. Line bits: rank 0 and 1, bank 2 to 4, column 5 to 11,
// row from 12 on.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/dram/dram_test_kit.h"
#include "sim/dram/dramsim2.h"
#include "sim/dram/energy.h"

namespace weft::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Preset OneRank() {
  Preset preset = Ddr3();
  preset.organization.ranks = 1;
  return preset;
}

// The requests in the order in which they were served.
std::vector<uint64_t> Served(const Played& run) {
  std::vector<uint64_t> ids;
  for (const Completion& completion : run.completions) ids.push_back(completion.id);
  return ids;
}

TEST(PowerDown, IdleRanksArePoweredDownAndRequestsWaitForTxp) {
  const ControllerOptions options{.refreshes = false, .powers_down = true};
  // Rank 0: down from clock 0, up at 100, ACT at 104, RD at 114. T1's 25 clocks, and three.
  const Played run = Play(Ddr3(), {{0, 100}}, 1000, options);
  EXPECT_THAT(run.ClocksOf(Command::kPowerDown), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(run.ClocksOf(Command::kPowerUp), ElementsAre(100));
  EXPECT_THAT(run.ClocksOf(Command::kActivate), ElementsAre(104));
  EXPECT_THAT(run.Latencies(), ElementsAre(25 + 3));
  // Open rows keep a rank up.
  EXPECT_EQ(run.counts.powered_down_rank_clocks, 3 * 1000 + 100);
  EXPECT_EQ(run.counts.active_rank_clocks, 1000 - 104);
  EXPECT_EQ(run.counts.idle_rank_clocks, 4);
}

TEST(PowerDown, LastsForTckeAtLeast) {
  for (const auto& [clock, up] : {std::pair{1, 4}, {3, 4}, {4, 4}, {5, 5}}) {
    const Played run = Play(Ddr3(), {{0, clock}}, 1000, {.refreshes = false, .powers_down = true});
    EXPECT_THAT(run.ClocksOf(Command::kPowerUp), ElementsAre(up)) << clock;
  }
}

TEST(PowerDown, ComesWhenTheLastRowIsClosed) {
  // ACT 1, RD 11, PRE 25 (tRAS), closed from 35 on (tRP). A rank that has a request isn't down.
  const Played run = Play(OneRank(), {{0}}, 1000,
                          {.page = PagePolicy::kClosed, .refreshes = false, .powers_down = true});
  EXPECT_THAT(run.ClocksOf(Command::kPrecharge), ElementsAre(25));
  EXPECT_THAT(run.ClocksOf(Command::kPowerDown), ElementsAre(35));
  EXPECT_EQ(run.counts.powered_down_rank_clocks, 1000 - 35);
}

TEST(PowerDown, WaitsForTheDataOfARead) {
  // RD 25, PRE 27, closed from 37 on; the last data are on the bus until 39.
  Preset preset = OneRank();
  preset.timing.trtp = 2;
  const Played run = Play(preset, {{0}, {8, 24}}, 1000,
                          {.page = PagePolicy::kClosed, .refreshes = false, .powers_down = true});
  EXPECT_THAT(run.ClocksOf(Command::kPrecharge), ElementsAre(27));
  EXPECT_THAT(run.ClocksOf(Command::kPowerDown), ElementsAre(25 + 10 + 4 + 1));
}

TEST(PowerDown, EndsForARefreshAndComesAgainAfterIt) {
  const Played run = Play(OneRank(), {}, 12'000, {.powers_down = true});
  EXPECT_THAT(run.ClocksOf(Command::kPowerUp), ElementsAre(5200, 10'400));
  EXPECT_THAT(run.ClocksOf(Command::kRefresh), ElementsAre(5204, 10'404));
  EXPECT_THAT(run.ClocksOf(Command::kPowerDown), ElementsAre(0, 5204 + 107, 10'404 + 107));
}

TEST(PowerDown, EnergyIsTheHandSum) {
  const Preset preset = OneRank();
  // Down from 0 to 5200, IDD2N until REF at 5204, refreshing for 107, down again until 10 000.
  const Played run = Play(preset, {}, 10'000, {.powers_down = true});
  const EnergyCosts costs = CostsOf(preset.organization, preset.timing, *preset.currents);
  EXPECT_NEAR(costs.powered_down_clock_nj / 1.5, 0.12, 1e-9);  // W
  const double by_hand_nj = 0.18 * (5200 + 10'000 - 5311) + 1.26 * 4 + 1.62 * 107 + 414.09;
  EXPECT_NEAR(EnergyOf(costs, run.counts).total_nj(), by_hand_nj, 1e-6);
}

// A closed page's row is open, and its rank draws IDD3N, until PRE: for tRAS at least, as the
// energy of ACT supposes. ACT 1, RD 11, PRE 25. A controller that counts the bank as closed from RD
// with auto-precharge on, as DRAMsim3 does, has 10 clocks of IDD3N instead of 24.
TEST(ClosedPage, EnergyHasTheRowOpenUntilPre) {
  const Preset preset = OneRank();
  const Played run = Play(preset, {{0}}, 1000, {.page = PagePolicy::kClosed, .refreshes = false});
  EXPECT_THAT(run.ClocksOf(Command::kActivate), ElementsAre(1));
  EXPECT_THAT(run.ClocksOf(Command::kPrecharge), ElementsAre(25));
  EXPECT_EQ(run.counts.active_rank_clocks, 24);
  const EnergyCosts costs = CostsOf(preset.organization, preset.timing, *preset.currents);
  EXPECT_NEAR(EnergyOf(costs, run.counts).total_nj(), 28.08 + 11.88 + 24 * 1.62 + 976 * 1.26, 1e-9);
}

TEST(PowerDown, IsOnlyForMemoriesWithFigures) {
  for (const std::string& name : PresetNames()) {
    const bool has_figures = name.starts_with("ddr3") || name.starts_with("ddr4");
    EXPECT_EQ(Validate(PresetNamed(name), {.powers_down = true}).ok(), has_figures) << name;
  }
}

TEST(Options, OutOfRangeIsAnError) {
  for (const ControllerOptions& options :
       {ControllerOptions{.commands_max = 0}, ControllerOptions{.commands_max = 65},
        ControllerOptions{.row_hits_max = 0}}) {
    EXPECT_EQ(Validate(Ddr3(), options).code(), Code::kInvalidArgument);
  }
  EXPECT_TRUE(Validate(Ddr3(), {.commands_max = 64, .row_hits_max = 1}).ok());
}

TEST(RefreshDrain, HitsGoBeforeTheRefreshAndMissesAfterIt) {
  // The row opens at 1294; in 1300 two hits and a miss wait.
  const std::vector<Offer> offers = {
      {0, 1293}, {kNextColumn, 1294}, {kNextRow, 1295}, {2 * kNextColumn, 1296}};
  const Played drained = Play(Ddr3(), offers, 2000, {.refresh_drain = true});
  EXPECT_THAT(drained.ClocksOf(Command::kRead), ElementsAre(1304, 1308, 1312, 1445));
  EXPECT_THAT(Served(drained), ElementsAre(0, 1, 3, 2));
  EXPECT_THAT(drained.ClocksOf(Command::kPrecharge), ElementsAre(1318));  // tRAS
  EXPECT_THAT(drained.ClocksOf(Command::kRefresh), ElementsAre(1328));
  const Played closed = Play(Ddr3(), offers, 2000, {});
  EXPECT_THAT(closed.ClocksOf(Command::kRefresh), ElementsAre(1328));
  EXPECT_THAT(closed.ClocksOf(Command::kRead).front(), 1328 + 107 + 10);
}

TEST(RefreshDrain, EndsAfterATrefi) {
  // Hits of rank 0 without an end, faster than they are served.
  std::vector<Offer> offers;
  for (uint64_t i = 0; i < 10'000; ++i) offers.push_back({i % 128 * kNextColumn, 0});
  const Played run = Play(Ddr3(), offers, 10'000, {.refresh_drain = true});
  // Due at 1300; PRE is legal a few clocks after the last RD.
  const Clock refresh = run.ClocksOf(Command::kRefresh).front();
  EXPECT_GE(refresh, 1300 + 5200 + 10);
  EXPECT_LE(refresh, 1300 + 5200 + 25);
}

TEST(ClosedPage, RowsAreClosedWhenNoRequestIsForThem) {
  const ControllerOptions options{.page = PagePolicy::kClosed, .refreshes = false};
  // ACT 1, RD 11, PRE 25 (tRAS). A request of another row finds the bank closed.
  const Played run = Play(Ddr3(), {{0}, {kNextRow, 200}}, 1000, options);
  EXPECT_THAT(run.ClocksOf(Command::kPrecharge), ElementsAre(25, 225));
  EXPECT_THAT(run.Latencies(), ElementsAre(25, 25));
  // One of the same row does, too, but for one that comes before the PRE.
  EXPECT_THAT(Play(Ddr3(), {{0}, {kNextColumn, 200}}, 1000, options).Latencies(),
              ElementsAre(25, 25));
  const Played hit = Play(Ddr3(), {{0}, {kNextColumn, 24}}, 1000, options);
  EXPECT_EQ(hit.counts.read_row_hits, 1);
  EXPECT_THAT(hit.ClocksOf(Command::kPrecharge), ElementsAre(30));  // RD 25, tRTP
}

TEST(ClosedPage, OtherCommandsGoFirst) {
  // At 25, when the PRE would go, another rank's request has its ACT.
  const Played run =
      Play(Ddr3(), {{0}, {1, 24}}, 1000, {.page = PagePolicy::kClosed, .refreshes = false});
  EXPECT_THAT(run.ClocksOf(Command::kActivate), ElementsAre(1, 25));
  EXPECT_THAT(run.ClocksOf(Command::kPrecharge), ElementsAre(26, 49));
}

TEST(FirstCome, ColumnCommandsKeepTheOrderOfAcceptance) {
  const ControllerOptions in_order{.order = OrderPolicy::kFirstCome, .refreshes = false};
  // A conflict, and a hit that first ready lets overtake it.
  const std::vector<Offer> offers = {{0}, {kNextRow, 5}, {kNextColumn, 5}, {1, 5}};
  EXPECT_THAT(Served(Play(Ddr3(), offers, 1000, {.refreshes = false})), ElementsAre(0, 2, 3, 1));
  const Played run = Play(Ddr3(), offers, 1000, in_order);
  EXPECT_THAT(Served(run), ElementsAre(0, 1, 2, 3));
  // Rows are opened ahead: rank 1's for the last request, which then waits for its turn.
  EXPECT_EQ(run.commands[1].rank, 1);
  EXPECT_EQ(run.commands[1].command, Command::kActivate);

  const Preset preset = Ddr3();
  const auto random = RandomOffers(preset, TestSeed(), 2000, 4, 0.4);
  std::vector<uint64_t> lines;
  const AddressMap map(Interleave::kRank, preset.organization);
  const Played many = Play(preset, random, 200'000, {.order = OrderPolicy::kFirstCome});
  for (const IssuedCommand& issued : many.commands) {
    if (!IsColumn(issued.command)) continue;
    lines.push_back(map.LineOf({0, issued.rank, issued.bank, issued.row, issued.column}));
  }
  ASSERT_EQ(lines.size(), random.size());
  for (size_t i = 0; i < lines.size(); ++i) ASSERT_EQ(lines[i], random[i].line) << i;
}

TEST(Dramsim2, ChangesWhatItSays) {
  Preset preset = Ddr3();
  ControllerOptions options{.refreshes = false};
  BeLikeDramsim2(preset, options);
  EXPECT_EQ(preset.timing.cwl, 9);
  EXPECT_TRUE(options.refresh_drain);
  // T8 with WR two clocks later: 9 + 4 for the write, 2 more until the read.
  EXPECT_THAT(Play(preset, {{0}, {kNextColumn, 200, true}, {2 * kNextColumn, 201}}, 2000, options)
                  .Latencies(),
              ElementsAre(25, 1 + 9 + 4, 32));
  // One bank, all rows different: 32 transactions wait, and 16 in the rank's queue.
  std::vector<Offer> offers;
  for (uint64_t i = 0; i < 100; ++i) offers.push_back({i * kNextRow});
  const Played run = Play(preset, offers, 10'000, options);
  EXPECT_EQ(run.accepted[47], 47);  // one of the 48 has left in time for the next
  EXPECT_GT(run.accepted[52], 52);
  // Writes of different ranks: BL/2 + tRTRS.
  const Played writes = Play(preset, {{0, 0, true}, {1, 0, true}}, 500, options);
  EXPECT_THAT(writes.ClocksOf(Command::kWrite), ElementsAre(11, 16));
}

TEST(BankRefresh, BanksTakeTurnsAndOnlyTheirRequestsWait) {
  const Preset preset = PresetNamed("hbm3-6400");
  const ControllerOptions options{.refreshes_banks = true};
  const Played idle = Play(preset, {}, 6241, options);
  EXPECT_EQ(idle.counts.bank_refreshes, 16);  // each bank once in a tREFI
  EXPECT_EQ(idle.counts.refreshes, 0);
  for (int bank = 0; bank < 16; ++bank) {
    const IssuedCommand& issued = idle.commands[static_cast<size_t>(bank)];
    EXPECT_EQ(issued.clock, 390 * (bank + 1));
    EXPECT_EQ(issued.bank, bank);
  }
  // Bank 0 at 390: its line (0) waits for tRFCpb. Bank 1's (1: rank-il, one rank) for tRREFD at
  // most; without a refresh it takes 71 clocks.
  EXPECT_THAT(Play(preset, {{1, 395}}, 1000, options).Latencies(), ElementsAre(58 + 2));
  EXPECT_THAT(Play(preset, {{1, 420}}, 1000, options).Latencies(), ElementsAre(58));
  const Played waits = Play(preset, {{0, 395}}, 1000, options);
  EXPECT_THAT(waits.ClocksOf(Command::kActivate), ElementsAre(390 + 320));
}

TEST(BankRefresh, ClosesItsBankOnly) {
  const Preset preset = PresetNamed("hbm3-6400");
  const Played run = Play(preset, {{0, 200}, {1, 201}}, 1000, {.refreshes_banks = true});
  EXPECT_THAT(run.ClocksOf(Command::kPrecharge), ElementsAre(390, 780));
  EXPECT_THAT(run.ClocksOf(Command::kRefreshBank), ElementsAre(390 + 26, 780 + 26));
  // Bank 0 from ACT at 201 to PRE, with bank 1's until its PRE, and that of its refresh.
  EXPECT_EQ(run.counts.active_rank_clocks, (780 - 201) + (1000 - 806));
  EXPECT_FALSE(Validate(Ddr3(), {.refreshes_banks = true}).ok());
}

TEST(ColumnBus, RowAndColumnCommandsGoInTheSameClock) {
  Preset preset = PresetNamed("hbm2-2000");
  ASSERT_TRUE(preset.organization.has_column_bus);
  // Bank 0's RD is legal at 15, when bank 1 gets its ACT.
  const std::vector<Offer> offers = {{0}, {1, 14}};
  const ControllerOptions options{.refreshes = false};
  const Played two = Play(preset, offers, 500, options);
  EXPECT_THAT(two.ClocksOf(Command::kRead), ElementsAre(15, 19, 29, 33));
  EXPECT_THAT(two.ClocksOf(Command::kActivate), ElementsAre(1, 15));
  preset.organization.has_column_bus = false;
  const Played one = Play(preset, offers, 500, options);
  EXPECT_THAT(one.ClocksOf(Command::kRead), ElementsAre(15, 19, 30, 34));
  EXPECT_THAT(one.ClocksOf(Command::kActivate), ElementsAre(1, 16));
}

TEST(Currents, AreThoseOfTheDieThatIsNamed) {
  Preset preset = Ddr3();
  ASSERT_TRUE(SetCurrents("mt41j256m8-2009", preset).ok());
  EXPECT_EQ(preset.currents->idd0_ma, 90);
  ASSERT_TRUE(SetCurrents("mt41j256m8-revM", preset).ok());
  EXPECT_EQ(preset.currents->idd2p_ma, 12);
  ASSERT_TRUE(SetCurrents("sg15-dramsim2", preset).ok());
  EXPECT_EQ(preset.currents->idd2p_ma, 10);
  EXPECT_EQ(SetCurrents("sg15", preset).code(), Code::kInvalidArgument);
  Preset ddr4 = PresetNamed("ddr4-3200-8gb-x8");
  EXPECT_EQ(SetCurrents("sg15-dramsim2", ddr4).code(), Code::kInvalidArgument);
  EXPECT_EQ(ddr4.currents->idd0_ma, 57);
}

}  // namespace
}  // namespace weft::sim
