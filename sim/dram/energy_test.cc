#include "sim/dram/energy.h"

#include <gtest/gtest.h>

#include "sim/dram/dram_test_kit.h"

namespace weft::sim {
namespace {

EnergyCosts CostsOf(const Preset& preset) {
  return CostsOf(preset.organization, preset.timing, *preset.currents);
}

TEST(Energy, CostsAreTheSpecifications) {
  const EnergyCosts costs = CostsOf(PresetNamed(kDefaultPreset));
  EXPECT_NEAR(costs.activate_nj, 28.08, 1e-9);
  EXPECT_NEAR(costs.read_nj, 11.88, 1e-9);
  EXPECT_NEAR(costs.write_nj, 15.12, 1e-9);
  EXPECT_NEAR(costs.refresh_nj, 414.09, 1e-9);
  EXPECT_NEAR(costs.active_clock_nj / 1.5, 1.08, 1e-9);  // W
  EXPECT_NEAR(costs.idle_clock_nj / 1.5, 0.84, 1e-9);    // W
}

TEST(Energy, LaterDiesDrawLess) {
  // 1.5 V x (65 x 34 - 50 x 24 - 38 x 10) mA x 1.5 ns x 8
  EXPECT_NEAR(CostsOf(PresetNamed("ddr3-1333-mt41j256m8-revm")).activate_nj, 11.34, 1e-9);
  // 1.2 V x (168 - 52) mA x 4 x 0.625 ns x 8
  EXPECT_NEAR(CostsOf(PresetNamed("ddr4-3200-8gb-x8")).read_nj, 2.784, 1e-9);
  EXPECT_FALSE(PresetNamed("ddr5-4800-16gb-x8").currents.has_value());
}

TEST(Energy, OneReadIsTheHandSum) {
  const Preset preset = PresetNamed(kDefaultPreset);
  // The row is opened in clock 1 and stays open; three ranks are idle.
  const Played run = Play(preset, {{0}}, 1000, {});
  EXPECT_EQ(run.counts.active_rank_clocks, 999);
  EXPECT_EQ(run.counts.idle_rank_clocks, 3001);
  const Energy energy = EnergyOf(CostsOf(preset), run.counts);
  EXPECT_NEAR(energy.total_nj(), 28.08 + 11.88 + 1.62 * 999 + 1.26 * 3001, 1e-6);
}

TEST(Energy, ManyCommandsAreTheHandSum) {
  const Preset preset = PresetNamed(kDefaultPreset);
  // ACT at 1, WR at 11, PRE for the refresh at 1300, REF at 1310; the other ranks' at 2600, 3900
  // and 5200, the last of which is a clock old.
  const Played run = Play(preset, {{0, 0, true}}, 5201, {});
  EXPECT_EQ(run.counts.refreshes, 4);
  EXPECT_EQ(run.counts.active_rank_clocks, (1300 - 1) + 3 * 107 + 1);
  const Energy energy = EnergyOf(CostsOf(preset), run.counts);
  const double background_nj = 1.62 * 1621 + 1.26 * (4 * 5201 - 1621);
  EXPECT_NEAR(energy.total_nj(), 28.08 + 15.12 + 4 * 414.09 + background_nj, 1e-6);
}

TEST(Energy, T14IdleOpenRankDraws1080Milliwatts) {
  Preset preset = PresetNamed(kDefaultPreset);
  preset.organization.ranks = 1;
  const auto energy_nj = [&](Clock clocks) {
    return EnergyOf(CostsOf(preset), Play(preset, {{0}}, clocks).counts).total_nj();
  };
  EXPECT_NEAR((energy_nj(11'000) - energy_nj(1000)) / (10'000 * 1.5), 1.08, 1e-9);
}

TEST(Energy, T14RandomReadsDrawWhatTheyDoByHand) {
  const Preset preset = PresetNamed(kDefaultPreset);
  std::mt19937_64 random(TestSeed());
  std::vector<Offer> offers;
  constexpr Clock kClocks = 2'000'000;
  for (Clock clock = 0; clock < kClocks; clock += 20) {  // 64 B in 30 ns: 2.13 GB/s
    offers.push_back({random() % (uint64_t{1} << 27), clock});
  }
  const Played run = Play(preset, offers, kClocks, {});
  const double power_w =
      EnergyOf(CostsOf(preset), run.counts).total_nj() / (static_cast<double>(kClocks) * 1.5);
  // All ranks active all the time; a row opened for nearly each read.
  const double by_hand_w = 4 * 1.08 + (28.08 + 11.88) / 30 + 4 * 414.09 / 7800;
  EXPECT_NEAR(power_w, by_hand_w, 0.01 * by_hand_w);
}

}  // namespace
}  // namespace weft::sim
