#include "bench/harness/command_line.h"

#include <gtest/gtest.h>

#include <vector>

namespace weft::bench {
namespace {

std::string LineOf(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  return CommandLine(pointers);
}

TEST(CommandLine, IsWhatAShellReadsBack) {
  EXPECT_EQ("weft-bench run --records 100", LineOf({"bin/weft-bench", "run", "--records", "100"}));
  EXPECT_EQ("weft-bench sweep --limit 'p99 1ms'", LineOf({"x", "sweep", "--limit", "p99 1ms"}));
  EXPECT_EQ("weft-bench run --weft-flags '' -m 8",
            LineOf({"x", "run", "--weft-flags", "", "-m", "8"}));
  EXPECT_EQ("weft-bench run 'it'\\''s'", LineOf({"x", "run", "it's"}));
}

TEST(CommandLine, LeavesOutWhereTheFiguresWent) {
  EXPECT_EQ("weft-bench run --seed 2", LineOf({"x", "run", "--json", "a.jsonl", "--seed", "2"}));
  EXPECT_EQ("weft-bench run", LineOf({"x", "run", "--json=a.jsonl"}));
}

}  // namespace
}  // namespace weft::bench
