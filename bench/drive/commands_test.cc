#include "bench/drive/commands.h"

#include <gtest/gtest.h>

#include <string>

#include <CLI/CLI.hpp>

namespace weft::bench {
namespace {

// What is wrong with a command line; empty: nothing.
std::string FaultOfLine(const std::string& line) {
  CLI::App app;
  DriveCommands commands;
  commands.AddTo(&app);
  try {
    app.parse(line);
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "";
}

TEST(DriveCommands, AnOptionThatNoTargetHeedsIsRefused) {
  EXPECT_EQ(FaultOfLine("run --target weft-cache --place disk"),
            "--place: is for durable stores, and no --target is one");
  EXPECT_EQ(FaultOfLine("run --target weft,weft-cache --place disk -m 64"), "");
  EXPECT_EQ(FaultOfLine("run --target weft -m 64"),
            "--memory-mb: is for caches, and servers that are started, and no --target is one");
  EXPECT_EQ(FaultOfLine("sweep --target redis:127.0.0.1:1 -t 2"),
            "--server-threads: is for servers that are started, and no --target is one");
  EXPECT_EQ(FaultOfLine("sweep --target start:redis --wipe"),
            "--wipe: is for servers that are there, and no --target is one");
  EXPECT_EQ(FaultOfLine("run --target redis:127.0.0.1:1 --wipe --multi-get"), "");
}

TEST(DriveCommands, QuickTakesNoOptionForWhatItChooses) {
  EXPECT_EQ(FaultOfLine("quick --records 10 --seconds 1"), "");
  for (const char* option : {"--target weft", "--workload ycsb-c", "--sessions 2", "--depth 2",
                             "--workload-file x", "--wipe"})
    EXPECT_NE(FaultOfLine(std::string("quick ") + option), "") << option;
}

}  // namespace
}  // namespace weft::bench
