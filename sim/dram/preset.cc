#include "sim/dram/preset.h"

namespace weft::sim {
namespace {

// Shape of DRAMSim2's DDR3_micron_32M_8B_x8_sg15.ini: 2 Gb, 8 devices and 2 GB a rank, 1 KB page
// of a device. Four ranks a channel: 16 GB on two channels (paper 004, table 2).
constexpr Organization kDdr3Shape{.channels = 1,
                                  .ranks = 4,
                                  .bank_groups = 1,
                                  .banks_per_group = 8,
                                  .rows = 32768,
                                  .columns = 1024,
                                  .channel_bits = 64,
                                  .burst_bytes = 64,
                                  .devices = 8};

constexpr Timing kDdr3Sg15{
    .tck_ns = 1.5,  // 1333 MT/s
    .cl = 10,       // 15 ns, the -15 speed grade of the ini above, as tRCD and tRP
    .cwl = 7,       // JEDEC JESD79-3 for DDR3-1333 (DRAMSim2 has CL - 1)
    .trcd_rd = 10,
    .trcd_wr = 10,
    .trp = 10,
    .tras = 24,  // 36 ns, ini
    .trc = 34,   // 51 ns, ini
    .trrd_s = 4,
    .trrd_l = 4,  // 6 ns for a page of 1 KB, JESD79-3
    .tfaw = 20,   // 30 ns for a page of 1 KB, JESD79-3
    .twr = 10,    // 15 ns, JESD79-3
    .twtr_s = 5,  // 7.5 ns, JESD79-3
    .twtr_l = 5,
    .trtp = 5,    // 7.5 ns, JESD79-3
    .tccd_s = 4,  // JESD79-3
    .tccd_l = 4,
    .tccd_l_wr = 4,
    .tburst = 4,    // BL 8, twice a clock
    .trfc = 107,    // 160 ns for 2 Gb, JESD79-3
    .trefi = 5200,  // 7.8 us, JESD79-3
    .trtrs = 1,     // DRAMSim2, DRAMsim3
    .txp = 4,       // 6 ns, JESD79-3
    .tcke = 4,      // 5.625 ns, JESD79-3
};

// JEDEC's DDR3-1333H (Micron -15E): 9-9-9.
constexpr Timing Ddr3Sg15e() {
  Timing timing = kDdr3Sg15;
  timing.cl = 9;
  timing.trcd_rd = 9;
  timing.trcd_wr = 9;
  timing.trp = 9;
  timing.trc = 33;
  return timing;
}

// DRAMSim2's ini, which paper 004 ran.
constexpr Currents kDdr3Dramsim2{.vdd_v = 1.5,
                                 .idd0_ma = 130,
                                 .idd2p_ma = 10,
                                 .idd2n_ma = 70,
                                 .idd3n_ma = 90,
                                 .idd4r_ma = 255,
                                 .idd4w_ma = 300,
                                 .idd5_ma = 305};
// Micron's module MT18JSF51272AZ-1G4D1, table 12, divided by its devices.
constexpr Currents kDdr3Of2009{.vdd_v = 1.5,
                               .idd0_ma = 90,
                               .idd2p_ma = 12,  // slow exit, as for revision M
                               .idd2n_ma = 65,
                               .idd3n_ma = 75,
                               .idd4r_ma = 200,
                               .idd4w_ma = 240,
                               .idd5_ma = 255};
// Micron's module MT18JDF51272AZ (revision M, 04/13), table 11, divided by its devices.
constexpr Currents kDdr3OfRevisionM{.vdd_v = 1.5,
                                    .idd0_ma = 65,
                                    .idd2p_ma = 12,
                                    .idd2n_ma = 38,
                                    .idd3n_ma = 50,
                                    .idd4r_ma = 141,
                                    .idd4w_ma = 130,
                                    .idd5_ma = 190};

// Ramulator 2's DDR4 presets (JESD79-4: 3200AA, 8 Gb, x8), but tRFC and the currents: DRAMsim3's
// DDR4_8Gb_x8_3200.ini. Two ranks are ours.
constexpr Organization kDdr4Shape{.channels = 1,
                                  .ranks = 2,
                                  .bank_groups = 4,
                                  .banks_per_group = 4,
                                  .rows = 65536,
                                  .columns = 1024,
                                  .channel_bits = 64,
                                  .burst_bytes = 64,
                                  .devices = 8};
constexpr Timing kDdr4Timing{.tck_ns = 0.625,
                             .cl = 22,
                             .cwl = 16,
                             .trcd_rd = 22,
                             .trcd_wr = 22,
                             .trp = 22,
                             .tras = 52,
                             .trc = 74,
                             .trrd_s = 4,
                             .trrd_l = 8,
                             .tfaw = 34,
                             .twr = 24,
                             .twtr_s = 4,
                             .twtr_l = 12,
                             .trtp = 12,
                             .tccd_s = 4,
                             .tccd_l = 8,
                             .tccd_l_wr = 8,
                             .tburst = 4,     // BL 8, twice a clock
                             .trfc = 560,     // 350 ns
                             .trefi = 12480,  // 7.8 us
                             .trtrs = 1,      // DRAMsim3
                             .txp = 10,       // 6 ns, JESD79-4
                             .tcke = 8};      // 5 ns, JESD79-4
constexpr Currents kDdr4Currents{.vdd_v = 1.2,
                                 .idd0_ma = 57,
                                 .idd2p_ma = 25,
                                 .idd2n_ma = 37,
                                 .idd3n_ma = 52,
                                 .idd4r_ma = 168,
                                 .idd4w_ma = 150,
                                 .idd5_ma = 250};

// Ramulator 2's DDR5 presets (JESD79-5: 4800BN, 16 Gb, x8): one sub-channel of 32 bits. One rank is
// ours. Neither Ramulator 2 nor DRAMsim3 has currents.
constexpr Organization kDdr5Shape{.channels = 1,
                                  .ranks = 1,
                                  .bank_groups = 8,
                                  .banks_per_group = 4,
                                  .rows = 65536,
                                  .columns = 1024,
                                  .channel_bits = 32,
                                  .burst_bytes = 64,
                                  .devices = 4};
constexpr Timing kDdr5Timing{.tck_ns = 0.416,
                             .cl = 36,
                             .cwl = 34,
                             .trcd_rd = 36,
                             .trcd_wr = 36,
                             .trp = 36,
                             .tras = 77,
                             .trc = 113,
                             .trrd_s = 8,
                             .trrd_l = 12,
                             .tfaw = 48,  // 20 ns, 32 clocks at least
                             .twr = 72,
                             .twtr_s = 6,
                             .twtr_l = 24,
                             .trtp = 18,
                             .tccd_s = 8,
                             .tccd_l = 12,
                             .tccd_l_wr = 48,
                             .tburst = 8,    // BL 16, twice a clock
                             .trfc = 710,    // 295 ns
                             .trefi = 9375,  // 3.9 us
                             .trtrs = 1};    // as DDR4

// A pseudo-channel of HBM2 at 2000 MT/s, 8 Gb: Ramulator 2's HBM2 preset and DRAMsim3's
// HBM2_8Gb_x128.ini. The latter's currents are of a channel of 128 bits, so there are none here.
constexpr Organization kHbm2Shape{.channels = 1,
                                  .ranks = 1,
                                  .bank_groups = 4,
                                  .banks_per_group = 4,
                                  .rows = 65536,
                                  .columns = 128,
                                  .channel_bits = 64,
                                  .burst_bytes = 32,
                                  .devices = 1,
                                  .has_column_bus = true};
constexpr Timing kHbm2Timing{.tck_ns = 1.0,
                             .cl = 14,
                             .cwl = 5,
                             .trcd_rd = 14,
                             .trcd_wr = 12,
                             .trp = 14,
                             .tras = 34,
                             .trc = 48,
                             .trrd_s = 4,
                             .trrd_l = 4,
                             .tfaw = 15,
                             .twr = 16,
                             .twtr_s = 6,
                             .twtr_l = 8,
                             .trtp = 5,
                             .tccd_s = 2,
                             .tccd_l = 4,
                             .tccd_l_wr = 4,
                             .tburst = 2,    // BL 4, twice a clock
                             .trfc = 350,    // 350 ns
                             .trefi = 3900,  // 3.9 us
                             .trtrs = 1};    // used between directions only: there is one rank

// A pseudo-channel of HBM3 at 6400 MT/s: Ramulator 2's HBM3 preset (JESD238). Its clock, CK, is a
// quarter of the data's. No public currents.
constexpr Organization kHbm3Shape{.channels = 1,
                                  .ranks = 1,
                                  .bank_groups = 4,
                                  .banks_per_group = 4,
                                  .rows = 16384,
                                  .columns = 256,
                                  .channel_bits = 32,
                                  .burst_bytes = 32,
                                  .devices = 1,
                                  .has_column_bus = true};
constexpr Timing kHbm3Timing{.tck_ns = 0.625,
                             .cl = 20,
                             .cwl = 10,
                             .trcd_rd = 31,
                             .trcd_wr = 15,
                             .trp = 26,
                             .tras = 45,
                             .trc = 72,
                             .trrd_s = 4,
                             .trrd_l = 5,
                             .tfaw = 24,
                             .twr = 33,
                             .twtr_s = 7,
                             .twtr_l = 10,
                             .trtp = 9,
                             .tccd_s = 2,
                             .tccd_l = 4,
                             .tccd_l_wr = 4,
                             .tburst = 2,     // BL 8, four times a clock
                             .trfc = 560,     // 350 ns, of the standard's 260 to 550 by density
                             .trefi = 6240,   // 3.9 us
                             .trtrs = 1,      // as HBM2
                             .trfc_pb = 320,  // 200 ns
                             .trrefd = 8};

const std::vector<Preset>& Presets() {
  static const std::vector<Preset> presets = {
      {std::string(kDefaultPreset), kDdr3Shape, kDdr3Sg15, kDdr3Dramsim2},
      {"ddr3-1333-2gb-x8-sg15e", kDdr3Shape, Ddr3Sg15e(), kDdr3Dramsim2},
      {"ddr3-1333-mt41j256m8-2009", kDdr3Shape, kDdr3Sg15, kDdr3Of2009},
      {"ddr3-1333-mt41j256m8-revm", kDdr3Shape, kDdr3Sg15, kDdr3OfRevisionM},
      {"ddr4-3200-8gb-x8", kDdr4Shape, kDdr4Timing, kDdr4Currents},
      {"ddr5-4800-16gb-x8", kDdr5Shape, kDdr5Timing, std::nullopt},
      {"hbm2-2000", kHbm2Shape, kHbm2Timing, std::nullopt},
      {"hbm3-6400", kHbm3Shape, kHbm3Timing, std::nullopt},
  };
  return presets;
}

struct NamedCurrents {
  std::string_view name;
  Currents currents;
};
constexpr NamedCurrents kNamedCurrents[] = {
    {"sg15-dramsim2", kDdr3Dramsim2},
    {"mt41j256m8-2009", kDdr3Of2009},
    {"mt41j256m8-revM", kDdr3OfRevisionM},
};

}  // namespace

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  for (const Preset& preset : Presets()) names.push_back(preset.name);
  return names;
}

Result<Preset> FindPreset(std::string_view name) {
  std::string known;
  for (const Preset& preset : Presets()) {
    if (preset.name == name) return preset;
    known += (known.empty() ? "" : ", ") + preset.name;
  }
  return Status(Code::kInvalidArgument, "preset '" + std::string(name) +
                                            "' is unknown; the memories are: " + known +
                                            ", or file:FILE");
}

Status SetCurrents(std::string_view name, Preset& preset) {
  if (!preset.name.starts_with("ddr3-1333-")) {
    return {Code::kInvalidArgument, "currents '" + std::string(name) +
                                        "' are those of DDR3-1333, not of '" + preset.name + "'"};
  }
  std::string known;
  for (const auto& [known_name, currents] : kNamedCurrents) {
    if (known_name == name) {
      preset.currents = currents;
      return Status::Ok();
    }
    known += (known.empty() ? "" : ", ") + std::string(known_name);
  }
  return {Code::kInvalidArgument,
          "currents '" + std::string(name) + "' are unknown; the currents are: " + known};
}

}  // namespace weft::sim
