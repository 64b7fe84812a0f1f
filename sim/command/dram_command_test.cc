// `weft-sim dram` and `weft-sim check` as a user meets them: what they print, and their exit
// status.

#include "sim/command/dram_command.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/command/command_test_kit.h"

namespace weft::sim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CommandTest : public ProgramTest {
 protected:
  Outcome Run(const std::string& arguments) const { return RunProgram(WEFT_SIM, arguments); }
  // Plays `trace` for 20 000 clocks.
  Outcome RunDram(const std::string& arguments) const {
    return Run("dram --clocks 20000 --trace " + trace_ + " " + arguments);
  }

  // Two rows of a bank, hits of the first; other ranks; the last long after a refresh.
  const std::string trace_ = FileOf("trace",
                                    "0x0 READ 0\n0x40000 READ 0\n0x800 READ 1\n0x40 WRITE 2\n"
                                    "0x80 READ 3\n0x1000 READ 12000\n");
};

TEST_F(CommandTest, DramPrintsFiguresAndCheckFindsNothing) {
  for (const char* options :
       {"", "--policy fcfs", "--page closed --power-down", "--row-hits 0", "--refresh-drain",
        "--compat dramsim2", "--preset hbm3-6400 --refresh bank", "--preset hbm2-2000",
        "--writes buffer", "--channels 2 --ranks 2 --map row-il", "--no-refresh"}) {
    SCOPED_TRACE(options);
    const std::string path = folder_ / "commands";
    const Outcome dram = RunDram(std::string(options) + " --cmd-trace " + path);
    ASSERT_EQ(dram.status, 0) << dram.err;
    const auto figures = nlohmann::json::parse(dram.out, nullptr, false);
    ASSERT_TRUE(figures.is_object()) << dram.out;
    int64_t done = 0;
    for (const auto& channel : figures) {
      done += channel["num_reads_done"].get<int64_t>() + channel["num_writes_done"].get<int64_t>();
    }
    EXPECT_EQ(done, 6);
    std::string of_check;
    for (const char* option : {"--compat dramsim2", "--preset hbm3-6400", "--preset hbm2-2000",
                               "--no-refresh", "--ranks 2"}) {
      if (std::string(options).find(option) != std::string::npos) {
        of_check += std::string(option) + " ";
      }
    }
    const Outcome check = Run("check " + of_check + path + ".0");
    EXPECT_EQ(check.status, 0) << check.out << check.err;
    EXPECT_THAT(check.out, HasSubstr(" commands, 0 violations"));
  }
}

TEST_F(CommandTest, OptionsReachTheMemory) {
  const auto figure = [&](const std::string& options, const char* name) {
    return nlohmann::json::parse(RunDram(options).out)["0"][name];
  };
  // The second and third request: a row conflict, and a hit of the first row that overtakes it.
  EXPECT_EQ(figure("", "num_read_row_hits"), 1);
  EXPECT_EQ(figure("--policy fcfs", "num_read_row_hits"), 0);
  EXPECT_EQ(figure("--no-refresh", "num_pre_cmds"), 2);
  EXPECT_EQ(figure("--no-refresh --page closed", "num_pre_cmds"),
            figure("--no-refresh --page closed", "num_act_cmds"));
  EXPECT_GT(figure("--page closed --power-down", "powered_down_rank_clocks"), 10'000);
  EXPECT_TRUE(figure("", "powered_down_rank_clocks").is_null());
  EXPECT_EQ(figure("--preset hbm3-6400 --refresh bank", "num_refb_cmds"), 20'000 / 390);
  EXPECT_LT(figure("--currents mt41j256m8-revM", "average_power"), figure("", "average_power"));
  EXPECT_EQ(figure("--no-refresh", "num_ref_cmds"), 0);
}

TEST_F(CommandTest, WrongMemoriesExitWith1AndSayWhy) {
  const std::pair<const char*, const char*> cases[] = {
      {"--preset ddr2", "preset 'ddr2' is unknown; the memories are: ddr3-1333-2gb"},
      {"--map diagonal", "diagonal"},
      {"--ranks 3", "ranks: 3 is not a power of two from 1 to 16"},
      {"--channels 0", "channels: 0 is not a power of two from 1 to 64"},
      {"--refresh bank", "the memory has no figures for refreshes of single banks"},
      {"--preset hbm2-2000 --power-down", "the memory has no figures for power-down"},
      {"--currents lots", "are unknown; the currents are: sg15-dramsim2, mt41j256m8-2009"},
      {"--preset ddr4-3200-8gb-x8 --currents sg15-dramsim2", "are those of DDR3-1333"},
      {"--cmd-trace /no/such/folder/commands", "open /no/such/folder/commands.0"},
  };
  for (const auto& [options, why] : cases) {
    const Outcome outcome = RunDram(options);
    EXPECT_EQ(outcome.status, 1) << options;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("weft-sim: "), HasSubstr(why))) << options;
    EXPECT_EQ(outcome.out, "") << options;
  }
}

TEST_F(CommandTest, LimitsArePrintedAsWholeNumbers) {
  for (const char* options : {"--clocks 0", "--clocks -5", "--row-hits -1"}) {
    const Outcome outcome = RunDram(options);
    EXPECT_GT(outcome.status, 1) << options;
    EXPECT_LT(outcome.err.size(), 120u) << outcome.err;
  }
  EXPECT_LT(Run("run --other-per-op -1").err.size(), 120u);
  for (const char* options : {"--seed -1", "--buckets -1", "--log-mib -1"}) {
    EXPECT_THAT(Run(std::string("run ") + options).err, HasSubstr(": -1 is negative")) << options;
  }
  EXPECT_THAT(RunDram("--ranks -1").err, HasSubstr("ranks: -1 is not a power of two from 1 to 16"));
}

TEST_F(CommandTest, WhatTheClocksCutOffIsTold) {
  // The last request comes in clock 12 000.
  const Outcome cut_off = Run("dram --clocks 20 --trace " + trace_);
  EXPECT_EQ(cut_off.status, 0);
  EXPECT_THAT(cut_off.err, HasSubstr("--clocks 20 cut off 6 of the 6 requests: 5 were accepted "
                                     "but not served, 1 not accepted"));
  const auto channel = nlohmann::json::parse(cut_off.out)["0"];
  EXPECT_EQ(channel["num_reads_unserved"], 4);
  EXPECT_EQ(channel["num_writes_unserved"], 1);
  EXPECT_EQ(channel["num_reads_not_accepted"], 1);
  const Outcome whole = Run("dram --trace " + trace_);
  EXPECT_EQ(whole.err, "");
  EXPECT_EQ(nlohmann::json::parse(whole.out)["0"]["num_reads_done"], 5);
  EXPECT_EQ(nlohmann::json::parse(whole.out)["0"]["num_cycles"], 12'026);
}

// As DRAMsim3 counts: done is what the buffer has.
TEST_F(CommandTest, ABufferedWriteIsDoneBeforeTheMemoryHasIt) {
  const std::string writes = "dram --writes buffer --trace " +
                             FileOf("writes", "0x0 WRITE 0\n0x40 WRITE 1\n0x80 WRITE 2\n");
  const auto cut_off = nlohmann::json::parse(Run(writes + " --clocks 10").out)["0"];
  EXPECT_EQ(cut_off["num_writes_done"], 3);
  EXPECT_EQ(cut_off["num_writes_unserved"], 3);
  EXPECT_EQ(cut_off["num_write_cmds"], 0);
  EXPECT_DOUBLE_EQ(cut_off["average_bandwidth"].get<double>(), 3 * 64 / (10 * 1.5));
  const auto whole = nlohmann::json::parse(Run(writes).out)["0"];
  EXPECT_EQ(whole["num_writes_done"], 3);
  EXPECT_EQ(whole["num_write_cmds"], 3);
  EXPECT_FALSE(whole.contains("num_writes_unserved"));
}

TEST_F(CommandTest, OptionsThatChangeNothingAreRefused) {
  for (const char* options :
       {"dram --no-refresh --refresh bank --trace x", "dram --no-refresh --refresh-drain --trace x",
        "run --t-insitu 20", "run --pacu hittable --t-insitu 20", "run --pscu runtime",
        "run --pacu insitu --prof-window 5", "run --dest mcbuf", "run --drop-age 5",
        "run --epoch 500", "run --source trace:x --mix 3", "run --source fixedk --put-key 0",
        "sweep --t-ht 5", "sweep --pacu insitu --over t-ht=5,6",
        "gen --source trace:x --out y --buckets 64", "gen --source trace:x --out y --seed 2",
        "trace info x --instr-per-clock 5", "trace convert x y --core 1",
        // Defaults that are given.
        "dram --no-refresh --refresh all --trace x", "run --pfq 64", "run --dest llc",
        "run --filter none", "run --drop-age 0", "run --pscu exact", "run --t-insitu 10",
        "run --t-ht 10", "run --ht-buckets 0", "run --spec-first 1", "run --epoch 100000",
        "run --demand-first=false", "sweep --t-ht 10", "sweep --pacu insitu --over t-ht=10",
        "sweep --pacu insitu --one-at-a-time --over t-ht=10,20 --over map=row-il",
        "gen --source trace:x --out y --buckets 1048576", "gen --source trace:x --out y --seed 1",
        "gen --source trace:x --out y --ops 2000000", "run --source fixedk --put-key 1",
        "trace info x --instr-per-clock 24", "trace info x --op-accesses 1",
        "trace convert x y --core 0", "trace convert --from csv --to csv x y --op-accesses 1",
        "figure 5a --policy fcfs --row-hits 4",
        // What others leave nothing to do for.
        "dram --policy fcfs --row-hits 9 --trace x",
        "dram --policy fcfs --row-hits 0 --page closed --trace x",
        "dram --policy fcfs --row-hits 4 --writes buffer --trace x",
        "run --policy fcfs --row-hits 9", "dram --compat dramsim2 --refresh-drain --trace x",
        "run --obj-pf off --bucket-pf 0 --swpf asload",
        "gen --obj-pf off --bucket-pf 0 --swpf asload --out y", "run --mix 6 --put-key 0",
        "run --bucket-pf 0 --key-lead 30",
        // What is never run.
        "sweep --over map=rank-il,row-il --map scheme2",
        "sweep --over map=row-il --over map=scheme2",
        "figure 5a --over map=rank-il,row-il --map rank-il"}) {
    const Outcome outcome = Run(options);
    EXPECT_EQ(outcome.status, 1) << options;
    EXPECT_THAT(outcome.err, HasSubstr(" changes nothing: ")) << options;
  }
}

TEST_F(CommandTest, EachOptionOfAWorkloadIsRefusedBesideATrace) {
  for (const char* option :
       {"--cores 8", "--mix 1", "--util natural", "--pop uniform", "--buckets 1048576",
        "--log-mib 1024", "--key-bytes 23", "--instr-per-op 5000", "--key-lead 20", "--put-key 1",
        "--bucket-pf 1", "--obj-pf lt300", "--swpf nonblocking", "--len-dep 1", "--other-per-op 8",
        "--seed 1"}) {
    const Outcome outcome = Run(std::string("run --source trace:x --ops 0 ") + option);
    EXPECT_EQ(outcome.status, 1) << option;
    EXPECT_THAT(outcome.err, HasSubstr(" changes nothing: ")) << option;
  }
}

// A default is as good as another value where it matters.
TEST_F(CommandTest, DefaultsThatMatterAreTaken) {
  const std::string small = " --buckets 512 --util exact:2 --cores 2 --ops 200 ";
  for (const std::string& options :
       {"run --pacu hittable --pfq 64 --dest llc --filter none --drop-age 0 --t-ht 10" + small,
        "run --pacu insitu --pscu exact --t-insitu 10 --put-key 0 --seed 1" + small,
        "run --pacu insitu --bucket-pf 0 --key-lead 30" + small,
        "run --pacu off --bucket-pf 0 --key-lead 700 --swpf asload" + small,
        "run --row-hits 4 --refresh all --policy frfcfs" + small,
        "run --epoch 100000 --out " + (folder_ / "report") + small,
        "gen --put-key 0 --bucket-pf 0 --key-lead 30 --seed 1 --out " + (folder_ / "own") + small,
        "trace convert --to csv --core 0 " + (folder_ / "own") + " " + (folder_ / "text"),
        "trace info --from csv --op-accesses 1 " + (folder_ / "text"),
        "sweep --seeds 1 --over pacu=off,hittable --t-ht 10" + small,
        "sweep --seeds 1 --map scheme2 --one-at-a-time --over map=row-il" + small}) {
    const Outcome outcome = Run(options);
    EXPECT_EQ(outcome.status, 0) << options << ": " << outcome.err;
  }
}

TEST_F(CommandTest, AMemoryOfOnesOwn) {
  // A built-in one as a file is the same memory.
  for (const char* preset : {"ddr3-1333-2gb-x8-sg15", "ddr4-3200-8gb-x8", "hbm3-6400"}) {
    const Outcome text = Run(std::string("memory ") + preset);
    ASSERT_EQ(text.status, 0) << text.err;
    const std::string path = FileOf("memory", text.out);
    EXPECT_EQ(Run("memory file:" + path).out, text.out);
    const Outcome known = RunDram(std::string("--preset ") + preset);
    const Outcome own = RunDram("--preset file:" + path + " --cmd-trace " + (folder_ / "commands"));
    ASSERT_EQ(own.status, 0) << own.err;
    EXPECT_EQ(own.out, known.out);
    const Outcome check = Run("check --preset file:" + path + " " + (folder_ / "commands.0"));
    EXPECT_EQ(check.status, 0) << check.out << check.err;
  }
  EXPECT_THAT(Run("memory").out, HasSubstr("ddr5-4800-16gb-x8\n"));
  const std::string bad = FileOf("bad", "[shape]\nranks = 1\nbanks = 8\n");
  const Outcome wrong = RunDram("--preset file:" + bad);
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.err,
              HasSubstr(bad + ":3: 'banks' is not a key of [shape], which has: ranks, "));
  EXPECT_THAT(RunDram("--preset file:" + (folder_ / "none")).err, HasSubstr("open "));
  EXPECT_THAT(RunDram("--preset file:" + bad + " --currents sg15-dramsim2").err, HasSubstr(bad));
}

TEST_F(CommandTest, WrongOptionsAreNoCommandLine) {
  for (const char* options :
       {"--policy lifo", "--page ajar", "--refresh never", "--row-hits -1", "--row-hits many",
        "--writes both", "--compat dramsim3", "--clocks 0", "--no-such-option"}) {
    const Outcome outcome = RunDram(options);
    EXPECT_GT(outcome.status, 1) << options;
    EXPECT_NE(outcome.err, "") << options;
  }
  EXPECT_GT(Run("").status, 1);
  EXPECT_GT(Run("dram --clocks 10").status, 1);  // of no trace
  EXPECT_GT(Run("check").status, 1);
}

TEST_F(CommandTest, WrongTracesAreNamedByTheirLine) {
  const std::string trace = FileOf("wrong", "0x0 READ 0\n0x40 FETCH 1\n");
  const Outcome wrong = Run("dram --clocks 100 --trace " + trace);
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.err, HasSubstr(trace + ":2: 'FETCH' is neither READ nor WRITE"));
  const std::string missing = folder_ / "missing";
  for (const std::string& arguments :
       {"dram --clocks 100 --trace " + missing, "check " + missing}) {
    const Outcome none = Run(arguments);
    EXPECT_EQ(none.status, 1);
    EXPECT_THAT(none.err, HasSubstr("open " + missing));
  }
  const Outcome commands = Run("check " + FileOf("commands", "1 ACT 0 0 0 0\n2 OPEN 0 0 0 0\n"));
  EXPECT_EQ(commands.status, 1);
  EXPECT_THAT(commands.err, HasSubstr("commands:2: the second word must be ACT, PRE, RD"));
}

TEST_F(CommandTest, NothingToCheckIsNoPass) {
  const Outcome nothing = Run("check " + FileOf("nothing", ""));
  EXPECT_EQ(nothing.status, 1);
  EXPECT_THAT(nothing.err, HasSubstr("it has no commands"));
}

TEST_F(CommandTest, CheckExitsWith1WhereARuleIsBroken) {
  // tRCD is 10 clocks; 9 with --preset ddr3-1333-2gb-x8-sg15e.
  const std::string path = FileOf("commands", "5 ACT 0 3 7 0\n14 RD 0 3 7 1\n");
  const Outcome broken = Run("check " + path);
  EXPECT_EQ(broken.status, 1);
  EXPECT_EQ(broken.out, path + ":2: clock 14: tRCD\n2 commands, 1 violations\n");
  EXPECT_THAT(broken.err, HasSubstr("commands break the memory's rules"));
  EXPECT_EQ(Run("check --preset ddr3-1333-2gb-x8-sg15e " + path).status, 0);
}

}  // namespace
}  // namespace weft::sim
