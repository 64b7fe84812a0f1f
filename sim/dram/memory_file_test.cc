#include "sim/dram/memory_file.h"

#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/folder_test_kit.h"
#include "sim/dram/dram_test_kit.h"
#include "sim/dram/energy.h"
#include "sim/dram/memory_text.h"

namespace weft::sim {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kShape =
    "[shape]\nranks = 1\nbank_groups = 8\nbanks_per_group = 4\nrows = 65536\ncolumns = 1024\n"
    "channel_bits = 32\nburst_length = 16\ndevices = 4\n";
constexpr const char* kTiming =
    "[timing]\ntCK = 0.416 ns\nCL = 36\nCWL = 34\ntRCD = 15 ns\ntRP = 15 ns\ntRAS = 32 ns\n"
    "tRC = 113\ntRRD_S = 8\ntRRD_L = max(8 nCK, 5 ns)\ntFAW = max(32, 20 ns)\ntWR = 30 ns\n"
    "tWTR_S = 2.5 ns\ntWTR_L = 10ns\ntRTP = 7.5 ns\ntCCD_S = 8\ntCCD_L = 5 ns\n"
    "tCCD_L_WR = 20 ns\ntRFC = 295.36 ns\ntREFI = 3.9 us\n";
constexpr const char* kCurrents =
    "[currents]\nVDD = 1.1 V\nIDD0 = 60 mA\nIDD2P = 30\nIDD2N = 40 mA\nIDD3N = 50mA\n"
    "IDD4R = 200\nIDD4W = 210\nIDD5 = 250\n";

Result<Preset> Read(const std::string& text) {
  std::istringstream in(text);
  return ReadMemory(in, "mine");
}
std::string ErrorOf(const std::string& text) {
  const Result<Preset> preset = Read(text);
  if (preset) return "none";
  EXPECT_EQ(preset.error().code(), Code::kInvalidArgument);
  return std::string(preset.error().message());
}
std::string With(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}
std::string All() { return std::string(kShape) + kTiming + kCurrents; }

// DDR5's standard in ns makes the clocks that the preset has.
TEST(MemoryFile, TimesBecomeTheClocksOfTheDataSheet) {
  const Result<Preset> mine = Read(std::string(kShape) + kTiming);
  ASSERT_TRUE(mine) << mine.error().ToString();
  const Preset known = PresetNamed("ddr5-4800-16gb-x8");
  EXPECT_EQ(mine.value().name, "mine");
  EXPECT_EQ(mine.value().organization, known.organization);
  EXPECT_EQ(mine.value().timing, known.timing);
  EXPECT_FALSE(mine.value().currents);
}

TEST(MemoryFile, EveryPresetReadsAsItIsWritten) {
  for (const std::string& name : PresetNames()) {
    const Preset preset = PresetNamed(name);
    const Result<Preset> again = Read("# as a file\n" + ToMemoryText(preset));
    ASSERT_TRUE(again) << again.error().ToString();
    EXPECT_EQ(again.value().name, name);
    EXPECT_EQ(again.value().organization, preset.organization) << name;
    EXPECT_EQ(again.value().timing, preset.timing) << name;
    EXPECT_EQ(again.value().currents, preset.currents) << name;
  }
}

TEST(MemoryFile, TimesAreRoundedUpButForWhatTckLacks) {
  const std::tuple<const char*, double, double> cases[] = {
      {"0", 1, 0},
      {"7 nCK", 1, 7},
      {"15 ns", 1.5, 10},
      {"15.1 ns", 1.5, 11},
      {"15 ns", 0.416, 36},  // 36.06: tCK is 0.41667
      {"16 ns", 0.416, 39},  // 38.46
      {"350 ns", 0.625, 560},
      {"7.8 us", 0.625, 12480},
      {"0.1 ns", 0.625, 1},
      {"max(4, 7.5 ns)", 1.5, 5},
      {"max( 7.5ns ,9 )", 1.5, 9},
  };
  for (const auto& [text, tck_ns, expected] : cases) {
    double clocks = -1;
    EXPECT_EQ(ParseClocks(text, tck_ns, &clocks), "") << text;
    EXPECT_EQ(clocks, expected) << text;
  }
  for (const char* text : {"", "ns", "-3", "1.5", "3 ms", "1e3", "max(3)", "max(3, 4", "max(3; 4)",
                           "max(3, x)", "3 4", "1.2.3 ns", "0x10", "nan", "inf ns"}) {
    double clocks = 0;
    EXPECT_NE(ParseClocks(text, 1, &clocks), "") << text;
  }
}

// By hand: a pump of 3 mA at 1.8 V is 4.909 mA at 1.1 V.
TEST(MemoryFile, ThePumpsEnergyIsAdded) {
  std::string text = All() + "VPP = 1.8 V\n";
  for (const char* state : {"0", "2P", "2N", "3N", "4R", "4W", "5"}) {
    text += std::string("IPP") + state + " = 3 mA\n";
  }
  const Result<Preset> preset = Read(text);
  ASSERT_TRUE(preset) << preset.error().ToString();
  EXPECT_NEAR(preset.value().currents->idd0_ma, 60 + 3 * 1.8 / 1.1, 1e-12);
  EXPECT_NEAR(preset.value().currents->idd5_ma, 254.90909, 1e-5);
  EXPECT_THAT(ErrorOf(With(text, "IPP4W = 3 mA\n", "")),
              HasSubstr("[currents] IPP4W: it is missing"));
  EXPECT_THAT(ErrorOf(With(text, "VPP = 1.8 V\n", "")), HasSubstr("[currents] VPP: it is missing"));
}

// A read of a closed bank by hand: 1 + 36 + 36 + 8 clocks; its energy from the file's currents.
TEST(MemoryFile, ItsFiguresAreThoseOfTheFile) {
  const Preset preset = Read(All()).value();
  const Played run = Play(preset, {{0}}, 1000);
  ASSERT_EQ(run.Latencies().size(), 1u);
  EXPECT_EQ(run.Latencies()[0], 1 + 36 + 36 + 8);
  const EnergyCosts costs = CostsOf(preset.organization, preset.timing, *preset.currents);
  EXPECT_NEAR(costs.read_nj, 1.1 * (200 - 50) * 8 * 0.416 * 4 / 1000, 1e-12);
}

TEST(MemoryFile, WrongValuesAreNamed) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"ranks = 1", "ranks = 3", "mine:2: ranks: 3 is not a power of two"},
      {"ranks = 1", "ranks = -1", "mine:2: ranks: '-1' is not a whole number from 1 to 16"},
      {"ranks = 1\n", "", "mine: [shape] ranks: it is missing"},
      {"ranks = 1", "ranks =", "mine:2: ranks: it has no value"},
      {"ranks = 1", "ranks = 1\nranks = 2", "mine:3: ranks: it is already in line 2"},
      {"ranks = 1", "rank = 1", "mine:2: 'rank' is not a key of [shape], which has: ranks, ban"},
      {"ranks = 1", "tRP = 1", "mine:2: tRP: it belongs in [timing]"},
      {"ranks = 1", "ranks 1", "mine:2: 'ranks 1' is neither [section] nor key = value"},
      {"[shape]", "[form]", "mine:1: '[form]' is not [shape], [timing] or [currents]"},
      {"[timing]", "[shape]", "mine:10: [shape] is already"},
      {"burst_length = 16", "burst_length = 64",
       "a burst of 64 x 32 bits is 256 bytes, but must be from 8"},
      {"banks_per_group = 4", "banks_per_group = 16",
       "8 x 16 are 128 banks a rank, but must be at most 64"},
      {"columns = 1024", "columns = 8", "columns: a row of 8 x 32 bits is 32 bytes, but must be"},
      {"rows = 65536", "rows = 1073741824", "rows: a rank is 131072 GiB, but must be at most 1024"},
      {"rows = 65536", "rows = 65536.5", "rows: '65536.5' is not a whole number from 1 to 10737"},
      {"devices = 4", "devices = 4\ncolumn_bus = maybe", "column_bus: it must be yes or no"},
      {"devices = 4", "devices = 4\ndata_per_clock = 3", "data_per_clock: 3 is not a power of two"},
      {"0.416 ns", "0.416", "tCK: '0.416' is not from 0.05 ns to 100 ns"},
      {"0.416 ns", "0.41667 ns", "tCK: '0.41667 ns' is not a whole number of picoseconds"},
      {"CL = 36", "CL = 0", "CL: '0' is not 1 to 1000000 clocks of 0.416 ns"},
      {"CL = 36", "CL = 1 us us",
       "CL: '1 us us' is not a time such as 36, 15 ns, 3.9 us or max(8, 5 ns)"},
      {"CL = 36", "CL = 36.5", "CL: '36.5' is not a whole number of clocks"},
      {"3.9 us", "3.9e9 us", "tREFI: '3.9e9 us' is not a time"},
      {"3.9 us", "390000000 us", "tREFI: '390000000 us' is not 1 to 1000000 clocks"},
      {"CWL = 34", "CWL = 45",
       "CWL: 45 clocks are not fewer than CL, a burst and tRTRS together, 45"},
      {"tRC = 113", "tRC = 76", "tRC: 76 clocks are fewer than tRAS's 77"},
      {"tRRD_S = 8", "tRRD_S = 13", "tRRD_L: 12 clocks are fewer than tRRD_S's 13"},
      {"tRRD_S = 8", "tRRD = 8", "tRRD_L: tRRD is given, too"},
      {"tRRD_S = 8\n", "", "[timing] tRRD_S: it is missing"},
      {"bank_groups = 8", "bank_groups = 1", "tRRD_S: with one bank group, short and long are the"},
      {"tRP = 15 ns\n", "", "mine: [timing] tRP: it is missing"},
      {"tREFI = 3.9 us", "tREFI = 1645",
       "tREFI: 1645 clocks are fewer than twice tRFC and tRC, 1646"},
      {"tREFI = 3.9 us", "tREFI = 3.9 us\ntXP = 8", "mine: [timing] tCKE: it is missing"},
      {"tREFI = 3.9 us", "tREFI = 3.9 us\ntRFCpb = 200\ntRREFD = 300",
       "tREFI: 9375 clocks for 32 banks are fewer than tRREFD, tRP and tRAS of each, 413"},
      {"VDD = 1.1 V", "VDD = 1.1 A", "VDD: '1.1 A' is not from 0.1 to 10 V"},
      {"VDD = 1.1 V", "VDD = 1100", "VDD: '1100' is not from 0.1 to 10 V"},
      {"IDD2P = 30", "IDD2P = 41", "IDD2N: 40 mA are less than IDD2P, 41 mA"},
      {"IDD2P = 30", "IDD2P = nan", "IDD2P: 'nan' is not from 0.001 to 10000 mA"},
      {"IDD0 = 60 mA", "IDD0 = 0.06 A", "IDD0: '0.06 A' is not from 0.001 to 10000 mA"},
      {"IDD0 = 60 mA", "IDD0 = 46 mA",
       "IDD0: 46 mA are less than IDD3N over tRAS and IDD2N over the rest of tRC, 46.8142 mA"},
      {"IDD4R = 200", "IDD4R = 49", "IDD4R: 49 mA are less than IDD3N, 50 mA"},
      {"IDD5 = 250\n", "", "mine: [currents] IDD5: it is missing"},
  };
  for (const auto& [from, to, what] : cases) {
    EXPECT_THAT(ErrorOf(With(All(), from, to)), HasSubstr(what)) << from << " -> " << to;
  }
  // The pump's share of 5 mA at 1.8 V is 8.18182 mA of 1.1 V.
  std::string with_pump = All() + "VPP = 1.8\nIPP0 = 5\nIPP2P = 5\nIPP2N = 5\nIPP3N = 5\n" +
                          "IPP4R = 5\nIPP4W = 5\nIPP5 = 5\n";
  EXPECT_THAT(ErrorOf(With(with_pump, "IDD4R = 200", "IDD4R = 10")),
              HasSubstr("IDD4R: with VPP's share, 18.1818 mA are less than IDD3N, 58.1818 mA; "
                        "without it, they are 10 and 50 mA"));
  EXPECT_THAT(ErrorOf(With(with_pump, "IPP5 = 5", "IPP5 = 6000")),
              HasSubstr("IPP5: with IDD5 it is 10068.2 mA of VDD, but must be at most 10000"));
  EXPECT_THAT(ErrorOf(With(with_pump, "IPP5 = 5\n", "")),
              HasSubstr("mine: [currents] IPP5: it is missing"));
  EXPECT_THAT(ErrorOf(""), StartsWith("mine: [shape] ranks: it is missing"));
  EXPECT_THAT(ErrorOf("name = a\tb\n" + All()), StartsWith("mine:1: name: it must have 1 to 64"));
  EXPECT_THAT(ErrorOf("ranks = 1\n"), StartsWith("mine:1: ranks: it belongs in [shape]"));
}

// The example that the guide names. Its clocks by hand, of 0.357 ns.
TEST(MemoryFile, TheExampleIsOne) {
  const Result<Preset> example =
      ReadMemoryFile(WEFT_SOURCE_DIR "/sim/memories/ddr5-5600-16gb-x8.txt");
  ASSERT_TRUE(example) << example.error().ToString();
  const Timing& timing = example.value().timing;
  EXPECT_EQ(example.value().name, "ddr5-5600-16gb-x8");
  EXPECT_EQ(example.value().organization, PresetNamed("ddr5-4800-16gb-x8").organization);
  EXPECT_EQ(timing.trcd_rd, 45);    // 16 / 0.357 = 44.8
  EXPECT_EQ(timing.tras, 90);       // 32 / 0.357 = 89.6
  EXPECT_EQ(timing.trc, 135);       // 48 / 0.357 = 134.5
  EXPECT_EQ(timing.trrd_l, 14);     // 5 / 0.357 = 14.006, and 14 of 0.35714
  EXPECT_EQ(timing.tfaw, 32);       // 32.01, likewise
  EXPECT_EQ(timing.tccd_l_wr, 56);  // 56.02
  EXPECT_EQ(timing.twtr_s, 7);      // 7.003
  EXPECT_EQ(timing.trefi, 10'924);  // 10 924.4
  EXPECT_NEAR(example.value().currents->idd0_ma, 100 + 10 * 1.8 / 1.1, 1e-9);
  EXPECT_TRUE(Validate(example.value(), {.powers_down = true}).ok());
}

TEST(MemoryFile, FilesThatAreNoneAreNamed) {
  const base::TestFolder folder;
  EXPECT_EQ(ReadMemoryFile(folder / "none").error().code(), Code::kIoError);
  EXPECT_THAT(ReadMemoryFile(folder / "none").error().ToString(),
              HasSubstr("open " + (folder / "none")));
  EXPECT_THAT(ReadMemoryFile(folder.path()).error().ToString(), HasSubstr("not a regular file"));
  const std::string path = folder / "mine.txt";
  std::ofstream(path) << "name = another\n" << All();
  ASSERT_TRUE(ReadMemoryFile(path));
  EXPECT_EQ(ReadMemoryFile(path).value().name, "another");
}

}  // namespace
}  // namespace weft::sim
