#include "sim/dram/replay.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "sim/dram/test_kit.h"

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
  Result<nlohmann::ordered_json> Play(const std::string& text, Clock clocks, int channels = 1) {
    Preset preset = PresetNamed(kDefaultPreset);
    preset.organization.channels = channels;
    auto trace = Dramsim3Trace::Open(FileOf(text), preset.organization.lines());
    if (!trace) return trace.error();
    Memory memory(preset, Interleave::kRank, {});
    Status status = Replay(trace.value(), memory, clocks);
    if (!status.ok()) return status;
    return Figures(preset, memory);
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

TEST_F(ReplayTest, StopsAtItsClock) {
  const auto figures = Play("0x0 READ 0\n0x40 READ 5000\nnot read\n", 24);
  ASSERT_TRUE(figures) << figures.error().ToString();
  EXPECT_EQ(figures.value()["0"]["num_reads_done"], 0);
  EXPECT_EQ(figures.value()["0"]["num_cycles"], 24);
}

TEST_F(ReplayTest, MistakesNameTheirLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"0x0 READ", ":2: a line is: 0xADDRESS READ|WRITE CLOCK"},
      {"0x0 READ 7 8", ":2: a line is: 0xADDRESS READ|WRITE CLOCK"},
      {"zero READ 7", ":2: 'zero' is no hexadecimal address of 64 bits"},
      {"0x10000000000000000 READ 7",
       ":2: '0x10000000000000000' is no hexadecimal address of 64 "
       "bits"},
      {"0x READ 7", ":2: '0x' is no hexadecimal address of 64 bits"},
      {"0x0 read 7", ":2: 'read' is neither READ nor WRITE"},
      {"0x0 READ seven", ":2: 'seven' is no clock"},
      {"0x0 READ -7", ":2: '-7' is no clock"},
      {"0x0 READ 6", ":2: clock 6 is before the line before's, 7"},
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
