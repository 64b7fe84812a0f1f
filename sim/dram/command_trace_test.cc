#include "sim/dram/command_trace.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/dram/test_kit.h"

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
  for (const char* line : {"", "x ACT 0 0 0 0", "2 OPEN 0 0 0 0", "2 ACT 0 0 0", "2 ACT 0 0 -1 0",
                           "2 ACT 0 0 0 0 0"}) {
    std::stringstream text(std::string("1 ACT 0 0 0 0\n") + line + "\n");
    const auto read = ReadCommandTrace(text, "trace");
    ASSERT_FALSE(read) << line;
    EXPECT_THAT(std::string(read.error().message()), StartsWith("trace:2: "));
  }
}

}  // namespace
}  // namespace weft::sim
