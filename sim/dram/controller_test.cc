// The specification's microtests of the memory alone (section 4.1, T1 to T13), by their exact
// numbers: clocks from acceptance to the last beat of data, default preset, one channel of four
// ranks, rank-il. Line bits: rank 0 and 1, bank 2 to 4, column 5 to 11, row from 12 on.

#include "sim/dram/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/dram/dram_test_kit.h"

namespace weft::sim {
namespace {

using testing::ElementsAre;

constexpr uint64_t kNextBank = 4;

std::vector<Clock> LatenciesOf(const std::vector<Offer>& offers) {
  return Play(Ddr3(), offers, 2000).Latencies();
}

TEST(Controller, T1ClosedBankTakes25) { EXPECT_THAT(LatenciesOf({{0}}), ElementsAre(25)); }

TEST(Controller, T2RowHitTakes15) {
  EXPECT_THAT(LatenciesOf({{0}, {kNextColumn, 200}}), ElementsAre(25, 15));
}

TEST(Controller, T3ConflictTakes35) {
  EXPECT_THAT(LatenciesOf({{0}, {kNextRow, 200}}), ElementsAre(25, 35));
}

TEST(Controller, T4ConflictAtOnceWaitsForTheRowCycle) {
  EXPECT_THAT(LatenciesOf({{0}, {kNextRow}}), ElementsAre(25, 58));
}

TEST(Controller, T5EightBanksKeepTrrdAndTfaw) {
  std::vector<Offer> offers;
  for (uint64_t bank = 0; bank < 8; ++bank) offers.push_back({bank * kNextBank});
  const Played run = Play(Ddr3(), offers, 2000);
  EXPECT_THAT(run.ClocksOf(Command::kActivate), ElementsAre(1, 5, 9, 13, 21, 25, 29, 33));
  EXPECT_THAT(run.Latencies(), ElementsAre(25, 28, 31, 34, 41, 44, 47, 50));
}

TEST(Controller, T6HitsOfABankGoABurstApart) {
  std::vector<Offer> offers = {{0}};
  for (uint64_t i = 1; i <= 4; ++i) offers.push_back({i * kNextColumn, 200});
  EXPECT_THAT(LatenciesOf(offers), ElementsAre(25, 15, 18, 21, 24));
}

TEST(Controller, T7HitsOfRanksGoABurstAndASwitchApart) {
  std::vector<Offer> offers;
  for (uint64_t rank = 0; rank < 4; ++rank) offers.push_back({rank});
  for (uint64_t rank = 0; rank < 4; ++rank) offers.push_back({rank + kNextColumn, 200});
  const std::vector<Clock> latencies = LatenciesOf(offers);
  EXPECT_THAT(std::vector<Clock>(latencies.begin() + 4, latencies.end()),
              ElementsAre(15, 19, 23, 27));
}

TEST(Controller, T8ReadAfterWriteOfTheRankWaitsForTwtr) {
  const Played run = Play(Ddr3(), {{0}, {kNextColumn, 200, true}, {2 * kNextColumn, 201}}, 2000);
  EXPECT_THAT(run.Latencies(), ElementsAre(25, 1 + 7 + 4, 30));
}

TEST(Controller, T9WriteAfterReadOfTheRankGoes8Later) {
  const Played run = Play(Ddr3(), {{0}, {kNextColumn, 200}, {2 * kNextColumn, 201, true}}, 2000);
  EXPECT_THAT(run.ClocksOf(Command::kRead), ElementsAre(11, 201));
  EXPECT_THAT(run.ClocksOf(Command::kWrite), ElementsAre(209));
}

TEST(Controller, T10RefreshOfTheRankIsWaitedFor) {
  for (const auto& [clock, latency] : {std::pair{1302, 129}, {1300, 131}, {1299, 132}}) {
    const Played run = Play(Ddr3(), {{0, clock}}, 2000, {});
    EXPECT_THAT(run.ClocksOf(Command::kRefresh), ElementsAre(1300));
    EXPECT_THAT(run.Latencies(), ElementsAre(latency)) << clock;
  }
}

TEST(Controller, RefreshClosesOpenRowsFirst) {
  // Accepted so that the row opens at 1290: PRE waits for tRAS.
  const Played run = Play(Ddr3(), {{0, 1289}}, 2000, {});
  EXPECT_THAT(run.ClocksOf(Command::kPrecharge), ElementsAre(1314));
  EXPECT_THAT(run.ClocksOf(Command::kRefresh), ElementsAre(1324));
  EXPECT_THAT(run.Latencies(), ElementsAre(1324 + 107 + 10 + 14 - 1289));
}

TEST(Controller, OtherRanksGoOnDuringARefresh) {
  EXPECT_THAT(Play(Ddr3(), {{1, 1302}}, 2000, {}).Latencies(), ElementsAre(25));
}

double BandwidthGbps(const std::vector<Offer>& offers, Clock clocks) {
  const Preset preset = Ddr3();
  const Played run = Play(preset, offers, clocks);
  return static_cast<double>(run.counts.reads_done) * kLineBytes /
         (static_cast<double>(clocks) * preset.timing.tck_ns);
}

TEST(Controller, T11OneBankGivesALinePerRowCycle) {
  std::vector<Offer> offers;
  for (uint64_t i = 0; i < 4000; ++i) offers.push_back({i * 0x40000 / kLineBytes});
  const Played run = Play(Ddr3(), offers, 100'000);
  const auto reads = run.ClocksOf(Command::kRead);
  for (size_t i = 1; i < reads.size(); ++i) ASSERT_EQ(reads[i] - reads[i - 1], 34);
  EXPECT_NEAR(BandwidthGbps(offers, 100'000), 64 / (34 * 1.5), 0.001);  // 1.2549 GB/s
}

TEST(Controller, T12OneRankGivesFourRowsPerTfaw) {
  std::mt19937_64 random(TestSeed());
  std::vector<Offer> offers;
  for (int i = 0; i < 60'000; ++i) offers.push_back({(random() % (uint64_t{1} << 25)) * 4});
  const double bandwidth_gbps = BandwidthGbps(offers, 200'000);
  EXPECT_GT(bandwidth_gbps, 8.1);
  EXPECT_LT(bandwidth_gbps, 8.54);
}

TEST(Controller, T13EachRankRefreshesOncePerTrefi) {
  for (const Clock clocks : {1300, 1301, 2600, 2601, 8'020'000, 4'020'000}) {
    EXPECT_EQ(Play(Ddr3(), {}, clocks, {}).counts.refreshes, (clocks - 1) / 1300) << clocks;
  }
}

// With bank groups a line takes 1 + tRCD + CL + burst all the same; HBM's lines are two bursts.
TEST(Controller, ClosedBankOfOtherMemories) {
  EXPECT_THAT(Play(PresetNamed("ddr4-3200-8gb-x8"), {{0}}, 500).Latencies(),
              ElementsAre(1 + 22 + 22 + 4));
  EXPECT_THAT(Play(PresetNamed("ddr5-4800-16gb-x8"), {{0}}, 500).Latencies(),
              ElementsAre(1 + 36 + 36 + 8));
  EXPECT_THAT(Play(PresetNamed("hbm2-2000"), {{0}}, 500).Latencies(),
              ElementsAre(1 + 14 + 4 + 14 + 2));
  EXPECT_THAT(Play(PresetNamed("hbm3-6400"), {{0}}, 500).Latencies(),
              ElementsAre(1 + 31 + 4 + 20 + 2));
}

TEST(Controller, HitsOvertakeOlderMisses) {
  // The second wants another row; the third hits the open one.
  const Played run = Play(Ddr3(), {{0}, {kNextRow, 200}, {kNextColumn, 200}}, 2000);
  EXPECT_EQ(run.counts.read_row_hits, 0);  // PRE is legal before the third is in the queue
  const Played busy = Play(Ddr3(), {{0}, {kNextRow, 5}, {kNextColumn, 5}}, 2000);
  EXPECT_EQ(busy.counts.read_row_hits, 1);
  EXPECT_EQ(busy.completions[1].id, 2u);
}

TEST(Controller, RowsCloseAfterFourRequestsWhereAnotherIsWanted) {
  // Hits of two banks take turns, and between bank 0's there is time for the PRE that its oldest
  // request wants.
  std::vector<Offer> offers = {{0}, {kNextBank}, {kNextRow}};
  for (uint64_t i = 1; i <= 12; ++i) {
    offers.push_back({i * kNextColumn});
    offers.push_back({i * kNextColumn + kNextBank});
  }
  const auto served_before_miss = [&](int row_hits_max) {
    const Played run =
        Play(Ddr3(), offers, 2000, {.row_hits_max = row_hits_max, .refreshes = false});
    int served = 0;
    for (const Completion& completion : run.completions) {
      if (completion.id == 2) break;
      served += offers[completion.id].line % kNextColumn == 0;
    }
    return served;
  };
  EXPECT_EQ(served_before_miss(4), 4);
  EXPECT_EQ(served_before_miss(8), 8);
  EXPECT_EQ(served_before_miss(100), 13);
}

TEST(Controller, FullQueueMakesRequestsWait) {
  // One bank, all rows different: 32 transactions wait, and 32 in the rank's queue.
  std::vector<Offer> offers;
  for (uint64_t i = 0; i < 100; ++i) offers.push_back({i * kNextRow});
  const Played run = Play(Ddr3(), offers, 10'000);
  EXPECT_EQ(run.accepted[63], 63);
  EXPECT_GT(run.accepted[99], 99);
  EXPECT_EQ(run.completions.size(), 100u);
  EXPECT_EQ(run.pending, 0);
}

const ControllerOptions kWithBuffer{.writes = WritePolicy::kBuffer, .refreshes = false};

TEST(WriteBuffer, KeepsAFewWritesAndServesReadsOfThem) {
  std::vector<Offer> offers;
  for (uint64_t i = 0; i < 8; ++i) offers.push_back({i * kNextBank, 0, true});
  offers.push_back({3 * kNextBank, 500});        // from the buffer
  offers.push_back({3 * kNextBank, 600, true});  // adds nothing
  offers.push_back({9 * kNextRow, 700});
  const Played run = Play(Ddr3(), offers, 2000, kWithBuffer);
  EXPECT_EQ(run.counts.write_bursts, 0);
  EXPECT_EQ(run.counts.writes_done, 9);
  EXPECT_THAT(run.Latencies(), ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 25));
}

TEST(WriteBuffer, IsEmptiedOfMoreThanAFewWhenIdle) {
  std::vector<Offer> offers;
  for (uint64_t i = 0; i < 9; ++i) offers.push_back({i * kNextColumn, 0, true});
  const Played run = Play(Ddr3(), offers, 2000, kWithBuffer);
  EXPECT_EQ(run.counts.write_bursts, 9);
  EXPECT_EQ(run.ClocksOf(Command::kActivate).front(), 9);  // moved in 8, when the ninth came
}

TEST(WriteBuffer, IsEmptiedWhenFullBeforeReadsThatWait) {
  // Reads of one bank, all rows different, keep a command queue busy; writes are of another rank.
  std::vector<Offer> offers;
  for (uint64_t i = 0; i < 40; ++i) offers.push_back({i * kNextRow});
  for (uint64_t i = 0; i < 31; ++i) offers.push_back({i * kNextColumn + 1, 100, true});
  EXPECT_EQ(Play(Ddr3(), offers, 800, kWithBuffer).counts.write_bursts, 0);
  offers.push_back({31 * kNextColumn + 1, 200, true});
  EXPECT_EQ(Play(Ddr3(), offers, 800, kWithBuffer).counts.write_bursts, 32);
}

TEST(WriteBuffer, LetsNoWritePassAnOlderReadOfItsLine) {
  // The second read waits for its row; the full buffer has a write to its line.
  std::vector<Offer> offers = {{0}, {kNextRow}, {kNextRow, 0, true}};
  for (uint64_t i = 0; i < 31; ++i) offers.push_back({i * kNextColumn + 1, 0, true});
  const Played run = Play(Ddr3(), offers, 2000, kWithBuffer);
  EXPECT_EQ(run.counts.write_bursts, 32);
  Clock read = 0;
  Clock write = 0;
  for (const IssuedCommand& issued : run.commands) {
    if (issued.rank != 0 || issued.row != 1) continue;
    if (issued.command == Command::kRead) read = issued.clock;
    if (issued.command == Command::kWrite) write = issued.clock;
  }
  EXPECT_GE(read, 45);  // tRC after the first row, and the bus
  EXPECT_GT(write, read);
}

}  // namespace
}  // namespace weft::sim
