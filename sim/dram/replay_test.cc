#include "sim/dram/replay.h"

#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/folder_test_kit.h"
#include "sim/dram/dram_test_kit.h"

namespace weft::sim {
namespace {

using testing::EndsWith;

class ReplayTest : public testing::Test {
 protected:
  std::string FileOf(const std::string& text) {
    const std::string path = folder_.path() + "/trace.txt";
    std::ofstream(path) << text;
    return path;
  }
  // Of the first channel of `preset` after `clocks`.
  Result<nlohmann::ordered_json> Play(const std::string& text, Clock clocks, int channels = 1,
                                      const ControllerOptions& options = {}) {
    Preset preset = PresetNamed(kDefaultPreset);
    preset.organization.channels = channels;
    auto trace = Dramsim3Trace::Open(FileOf(text), preset.organization.lines());
    if (!trace) return trace.error();
    Memory memory(preset, Interleave::kRank, options);
    const Result<Replayed> replayed = Replay(trace.value(), memory, clocks);
    if (!replayed) return replayed.error();
    return Figures(preset, memory, replayed.value());
  }

  const base::TestFolder folder_;
};

TEST_F(ReplayTest, GivesFiguresOfEachChannel) {
  // A closed bank (25 clocks), a hit (15), a write; all in rank 0 of channel 0.
  const auto figures = Play("0x0 READ 0\n\n0x1000 READ 200\r\n0x1010 WRITE 300\n", 1000, 2);
  ASSERT_TRUE(figures) << figures.error().ToString();
  const auto& channel = figures.value()["0"];
  EXPECT_EQ(channel["num_reads_done"], 2);
  EXPECT_EQ(channel["num_writes_done"], 1);
  EXPECT_EQ(channel["num_act_cmds"], 1);
  EXPECT_EQ(channel["num_read_row_hits"], 1);
  EXPECT_EQ(channel["num_write_row_hits"], 1);
  EXPECT_EQ(channel["num_ref_cmds"], 0);
  EXPECT_EQ(channel["average_read_latency"], 20.0);
  EXPECT_DOUBLE_EQ(channel["average_bandwidth"], 3 * 64 / 1500.0);
  const double energy_nj = 28.08 + 2 * 11.88 + 15.12 + 1.62 * 999 + 1.26 * 3001;
  EXPECT_NEAR(channel["average_power"].get<double>(), energy_nj / 1500 * 1000, 1e-6);
  const auto& other = figures.value()["1"];
  EXPECT_EQ(other["num_reads_done"], 0);
  EXPECT_TRUE(other["average_read_latency"].is_null());
  EXPECT_NEAR(other["average_power"].get<double>(), 4 * 840, 1e-6);
}

TEST_F(ReplayTest, CountsWhatItsClocksCutOff) {
  // Two channels of four ranks; the first needs 25 clocks.
  const auto figures = Play("0x0 READ 0\n0x40 READ 5000\n0x80 WRITE 5000\n0xc0 READ 6000\n", 24, 2);
  ASSERT_TRUE(figures) << figures.error().ToString();
  const auto& even = figures.value()["0"];
  EXPECT_EQ(even["num_reads_done"], 0);
  EXPECT_EQ(even["num_cycles"], 24);
  EXPECT_EQ(even["num_reads_unserved"], 1);
  EXPECT_EQ(even["num_writes_not_accepted"], 1);
  EXPECT_FALSE(even.contains("num_reads_not_accepted"));
  EXPECT_EQ(figures.value()["1"]["num_reads_not_accepted"], 2);
  EXPECT_TRUE(even["read_latency"].is_null());
  // What comes later is held to the form, too.
  EXPECT_FALSE(Play("0x0 READ 0\n0x40 READ 5000\nnone\n", 24));
}

TEST_F(ReplayTest, WithoutClocksAllIsServed) {
  // A closed bank: 25 clocks, of which 300 on channel 1 too.
  const auto figures = Play("0x0 READ 275\n", kNever, 2);
  ASSERT_TRUE(figures) << figures.error().ToString();
  EXPECT_EQ(figures.value()["0"]["num_reads_done"], 1);
  // Data are there when clock 300 begins, in which they are handed over.
  EXPECT_EQ(figures.value()["0"]["num_cycles"], 301);
  EXPECT_EQ(figures.value()["1"]["num_cycles"], 301);
  const auto of_nothing = Play("\n", kNever);
  ASSERT_TRUE(of_nothing) << of_nothing.error().ToString();
  EXPECT_EQ(of_nothing.value()["0"]["num_cycles"], 0);
  EXPECT_TRUE(of_nothing.value()["0"]["average_power"].is_null());
}

// Nine writes are more than the buffer keeps, ten are two more that come when it has been emptied.
TEST_F(ReplayTest, BufferedWritesReachTheMemory) {
  std::string text;
  for (int i = 0; i < 11; ++i) text += fmt::format("{:#x} WRITE {}\n", i * 64, i < 9 ? 0 : 900);
  text += "0x240 WRITE 900\n0x280 READ 901\n";  // the tenth line again, and the eleventh
  for (const Clock clocks : {Clock{2000}, Clock{kNever}}) {
    const auto figures = Play(text, clocks, 1, {.writes = WritePolicy::kBuffer});
    ASSERT_TRUE(figures) << figures.error().ToString();
    const auto& channel = figures.value()["0"];
    EXPECT_EQ(channel["num_writes_done"], 12);
    EXPECT_EQ(channel["num_writes_merged"], 1);
    EXPECT_EQ(channel["num_write_cmds"], 11);
    EXPECT_EQ(channel["num_reads_from_buffer"], 1);
    EXPECT_EQ(channel["num_read_cmds"], 0);
    EXPECT_FALSE(channel.contains("num_writes_unserved"));
    EXPECT_NEAR(channel["energy_nj"]["write"].get<double>(), 11 * 15.12, 1e-9);
  }
  const auto cut_off = Play(text, 906, 1, {.writes = WritePolicy::kBuffer});
  ASSERT_TRUE(cut_off) << cut_off.error().ToString();
  EXPECT_EQ(cut_off.value()["0"]["num_write_cmds"], 9);
  EXPECT_EQ(cut_off.value()["0"]["num_writes_unserved"], 2);
}

// Rows of one bank, offered at once: accepted a clock apart, served tRC apart. By hand from
// acceptance 25, 58 (25 + 34 - 1), 91, 124; the trace's clock was 0 for all: 25, 59, 93, 127.
TEST_F(ReplayTest, LatenciesHavePercentiles) {
  const auto figures = Play("0x0 READ 0\n0x40000 READ 0\n0x80000 READ 0\n0xc0000 READ 0\n", kNever,
                            1, {.refreshes = false});
  ASSERT_TRUE(figures) << figures.error().ToString();
  const auto& channel = figures.value()["0"];
  EXPECT_EQ(channel["average_read_latency"], (25 + 58 + 91 + 124) / 4.0);
  EXPECT_EQ(channel["read_latency"],
            (nlohmann::ordered_json{
                {"p50", 58}, {"p90", 124}, {"p99", 124}, {"p99.9", 124}, {"max", 124}}));
  const auto& from_trace = channel["read_latency_from_trace_clock"];
  EXPECT_EQ(from_trace["p50"], 59);
  EXPECT_EQ(from_trace["max"], 127);
  EXPECT_EQ(from_trace["mean"], (25 + 59 + 93 + 127) / 4.0);
}

// The queue has room for one: what waits in front of it counts from the trace's clock on.
TEST_F(ReplayTest, WaitingForTheQueueCountsFromTheTracesClock) {
  const auto figures = Play("0x0 READ 0\n0x40000 READ 0\n0x80000 READ 0\n", kNever, 1,
                            {.transactions_max = 1, .commands_max = 1, .refreshes = false});
  ASSERT_TRUE(figures) << figures.error().ToString();
  const auto& channel = figures.value()["0"];
  EXPECT_EQ(channel["read_latency_from_trace_clock"]["max"], 25 + 2 * 34);
  EXPECT_LT(channel["read_latency"]["max"], 25 + 2 * 34);
}

TEST_F(ReplayTest, MistakesNameTheirLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"0x0 READ", ":2: a line must be: 0xADDRESS READ|WRITE CLOCK"},
      {"0x0 READ 7 8", ":2: a line must be: 0xADDRESS READ|WRITE CLOCK"},
      {"zero READ 7", ":2: 'zero' is not a hexadecimal address of 64 bits"},
      {"0x10000000000000000 READ 7",
       ":2: '0x10000000000000000' is not a hexadecimal address of 64 "
       "bits"},
      {"0x READ 7", ":2: '0x' is not a hexadecimal address of 64 bits"},
      {"0x0 read 7", ":2: 'read' is neither READ nor WRITE"},
      {"0x0 READ seven", ":2: 'seven' is not a clock"},
      {"0x0 READ -7", ":2: '-7' is not a clock"},
      {"0x0 READ 6", ":2: clock 6 is before the previous line's, 7"},
      {"0x200000000 READ 7",
       ":2: address 0x200000000 is beyond the memory, which has 0x200000000 "
       "bytes"},
  };
  for (const auto& [line, what] : cases) {
    const auto figures = Play(std::string("0x0 READ 7\n") + line + "\n", 1000);
    ASSERT_FALSE(figures) << line;
    EXPECT_EQ(figures.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(std::string(figures.error().message()), EndsWith(what));
  }
  EXPECT_EQ(Dramsim3Trace::Open(folder_.path() + "/none", 1).error().code(), Code::kIoError);
}

}  // namespace
}  // namespace weft::sim
