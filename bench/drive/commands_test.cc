#include "bench/drive/commands.h"

#include <gtest/gtest.h>

#include <string>

#include <CLI/CLI.hpp>

namespace weft::bench {
namespace {

// What is wrong with a command line; empty: nothing.
std::string FaultOfLine(const std::string& line) {
  CLI::App app;
  const CommandGroup commands = DriveCommands();
  AddCommands(&app, commands);
  try {
    app.parse(line);
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "";
}

TEST(DriveCommands, AnOptionThatNoTargetHeedsIsRefused) {
  EXPECT_EQ(FaultOfLine("run --target weft-cache --place disk"),
            "--place: it is for durable stores, and no --target is one");
  EXPECT_EQ(FaultOfLine("run --target weft,weft-cache --place disk -m 64"), "");
  EXPECT_EQ(FaultOfLine("run --target weft -m 64"),
            "--memory-mb: it is for caches and started servers, and no --target is one");
  EXPECT_EQ(FaultOfLine("sweep --target redis:127.0.0.1:1 -t 2"),
            "--server-threads: it is for started servers, and no --target is one");
  EXPECT_EQ(FaultOfLine("sweep --target start:redis --wipe"),
            "--wipe: it is for running servers, and no --target is one");
  EXPECT_EQ(FaultOfLine("run --target redis:127.0.0.1:1 --wipe --multi-get --depth 2"), "");
}

TEST(DriveCommands, AnOptionOfATraceThatNoTargetHeedsIsRefused) {
  EXPECT_EQ(FaultOfLine("trace t --target weft-cache -t 3"),
            "--server-threads: it is for started servers, and no --target is one");
  EXPECT_EQ(FaultOfLine("trace t --target start:memcached --weft x"),
            "--weft: it is for start:weft, and no --target is one");
  EXPECT_EQ(FaultOfLine("trace t --wipe"),
            "--wipe: it is for running servers, and no --target is one");
  EXPECT_EQ(FaultOfLine("trace t --target start:weft --weft x --weft-flags y -t 2"), "");
}

TEST(DriveCommands, WhatWouldBeShownNowhereIsRefused) {
  for (const char* name : {"--per-cpu", "--bandwidth"}) {
    const std::string line = std::string("run --target weft --workload ycsb-c ") + name;
    EXPECT_EQ(FaultOfLine(line + " --csv t"),
              std::string(name) + ": its results are only in the --json file");
    EXPECT_EQ(FaultOfLine(line + " --json t"), "");
  }
  EXPECT_EQ(FaultOfLine("run --target weft --energy model:1,2"),
            "--energy: joules are only in the --json and --csv files");
  EXPECT_EQ(FaultOfLine("run --target weft --energy model:1,2 --csv t"), "");
}

TEST(DriveCommands, WhatASessionCannotBeginAtOnceIsRefused) {
  EXPECT_EQ(FaultOfLine("run --target weft --depth 2 --batch 3"),
            "--batch: it must be at most --depth");
  for (const char* loop : {"", " --depth 1", " --depth 8 --batch 1"})
    EXPECT_EQ(FaultOfLine(std::string("run --target start:weft --multi-get") + loop),
              "--multi-get: only one operation begins at a time (--depth, --batch)");
  EXPECT_EQ(FaultOfLine("run --target start:weft --multi-get --depth 8 --batch 8"), "");
}

TEST(DriveCommands, AnOptionThatTheWorkloadsLeaveWithoutAUseIsRefused) {
  for (const char* option : {"--seconds", "--warmup", "--rate"}) {
    EXPECT_EQ(FaultOfLine(std::string("run --target weft --workload ycsb-load ") + option + " 3"),
              std::string(option) + ": a fill stores all records as fast as it can");
    EXPECT_EQ(
        FaultOfLine(std::string("run --target weft --workload ycsb-load,ycsb-a ") + option + " 3"),
        "");
  }
  EXPECT_EQ(FaultOfLine("run --target weft --workload ycsb-a --rate 9 --batch 2"),
            "--batch: an open loop (--rate) begins operations when they are due");
  EXPECT_EQ(FaultOfLine("run --target leveldb --background-threads 2"),
            "--background-threads: it is for stores with several compaction threads, and no "
            "--target is one");
}

TEST(DriveCommands, WhatAComparisonHasNoUseForIsRefused) {
  EXPECT_EQ(FaultOfLine("compare a.jsonl --lifetime 3"),
            "--lifetime: neither --price nor --server gives a price");
  EXPECT_EQ(FaultOfLine("compare a.jsonl --utilization 0.5 --server a=100"),
            "--utilization: no --server gives watts");
  EXPECT_EQ(FaultOfLine("compare a.jsonl --server a=100,40,90 --lifetime 3 --utilization 0.5"), "");
  EXPECT_EQ(FaultOfLine("compare a.jsonl --price 100 --lifetime 3"), "");
}

TEST(DriveCommands, QuickTakesNoOptionForWhatItChooses) {
  EXPECT_EQ(FaultOfLine("quick --records 10 --seconds 1"), "");
  for (const char* option : {"--target weft", "--workload ycsb-c", "--sessions 2", "--depth 2",
                             "--workload-file x", "--wipe"})
    EXPECT_NE(FaultOfLine(std::string("quick ") + option), "") << option;
}

}  // namespace
}  // namespace weft::bench
