#include "sim/dram/command_trace.h"

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/dram/dram_test_kit.h"

namespace weft::sim {
namespace {

using testing::StartsWith;

TEST(CommandTrace, IsReadAsItWasWritten) {
  const Preset preset = PresetNamed(kDefaultPreset);
  const Played run = Play(preset, RandomOffers(preset, TestSeed(), 500, 5, 0.4), 5000, {});
  std::stringstream text;
  for (const IssuedCommand& issued : run.commands) text << ToTraceLine(issued);
  const auto read = ReadCommandTrace(text, "trace");
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_TRUE(read.value() == run.commands);
}

TEST(CommandTrace, MistakesNameTheirLine) {
  for (const char* line :
       {"", "x ACT 0 0 0 0", "2 OPEN 0 0 0 0", "2 ACT 0 0 0", "2 ACT 0 0 -1 0", "2 ACT 0 0 0 0 0",
        "-1 ACT 0 0 0 0", "4611686018427387904 ACT 0 0 0 0"}) {
    std::stringstream text(std::string("1 ACT 0 0 0 0\n") + line + "\n");
    const auto read = ReadCommandTrace(text, "trace");
    ASSERT_FALSE(read) << line;
    EXPECT_THAT(std::string(read.error().message()), StartsWith("trace:2: "));
  }
  std::stringstream text("1 ACT 0 0 0 0\n" + std::string(5000, '1'));
  const auto read = ReadCommandTrace(text, "trace");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message(), "trace:2: a line has more than 4096 bytes");
}

TEST(CommandTrace, WhatCannotBeReadIsAnError) {
  std::ifstream folder("/proc/self");
  const auto read = ReadCommandTrace(folder, "trace");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), Code::kIoError);
}

}  // namespace
}  // namespace weft::sim
