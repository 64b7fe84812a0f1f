#include "bench/command/commands.h"

#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace weft::bench {
namespace {

// What is wrong with a command line; empty: nothing.
std::string FaultOfCommand(const std::string& line) {
  Commands commands;
  try {
    commands.app().parse(line);
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return std::string(commands.Check().message());
}

struct Answer {
  int status = 0;
  std::string out, err;
};

Answer AnswerTo(std::vector<std::string> words) {
  words.insert(words.begin(), "weft-bench");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Answer answer;
  answer.status = Main(static_cast<int>(pointers.size()), pointers.data());
  std::cout.flush();
  answer.out = testing::internal::GetCapturedStdout();
  answer.err = testing::internal::GetCapturedStderr();
  return answer;
}

TEST(Commands, HelpOfOneIsWhatItSaysOfItself) {
  for (const char* name : {"walk", "pipeline", "all", "run", "block-cache"}) {
    const Answer of_help = AnswerTo({"help", name});
    EXPECT_EQ(of_help.status, 0) << name;
    EXPECT_EQ(of_help.out, AnswerTo({name, "--help"}).out);
    EXPECT_NE(of_help.out.find(std::string("weft-bench ") + name), std::string::npos) << name;
    EXPECT_EQ(of_help.err, "");
  }
  EXPECT_EQ(AnswerTo({"help"}).out, AnswerTo({"--help"}).out);
  EXPECT_NE(AnswerTo({"help"}).out.find("weft-bench help NAME"), std::string::npos);
}

TEST(Commands, AWordThatIsNoneIsNamedWithTheNearest) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"rnu"}, {"rnu", "--target", "weft"}, {"help", "rnu"}}) {
    const Answer answer = AnswerTo(words);
    EXPECT_EQ(answer.status, 2);
    EXPECT_EQ(answer.err,
              "weft-bench: unknown command 'rnu': did you mean 'run'?\n"
              "Try 'weft-bench --help'.\n");
    EXPECT_EQ(answer.out, "");
  }
  const std::string all = AnswerTo({"nosuch"}).err;
  EXPECT_EQ(all.find("weft-bench: unknown command 'nosuch'; the commands are walk, embedded, "), 0u)
      << all;
}

TEST(Commands, EachOptionSaysWhatItIsFor) {
  Commands commands;
  std::vector<const CLI::App*> apps = {&commands.app()};
  for (const CLI::App* sub : commands.app().get_subcommands({})) {
    apps.push_back(sub);
    EXPECT_FALSE(sub->get_description().empty()) << sub->get_name();
  }
  EXPECT_GE(apps.size(), 20u);
  for (const CLI::App* app : apps) {
    for (const CLI::Option* option : app->get_options())
      EXPECT_FALSE(option->get_description().empty())
          << app->get_name() << " " << option->get_name();
  }
}

TEST(Commands, AValueThatCannotBeIsRefused) {
  for (const char* const line : {"embedded --threads 0",
                                 "embedded --threads abc",
                                 "embedded --threads 5-4",
                                 "walk --threads 1x",
                                 "walk --seconds -1",
                                 "walk --seconds 0",
                                 "walk --seconds nan",
                                 "walk --warmup -1",
                                 "walk --repetitions 0",
                                 "walk --cpus abc",
                                 "walk --cpus 5000",
                                 "embedded --target 0",
                                 "embedded --target nan",
                                 "server --server-cpus xyz",
                                 "server --client-cpus 5000",
                                 "server --keys 0",
                                 "server -m 0",
                                 "server --protocol meta",
                                 "latency --rate 0",
                                 "latency --load 0",
                                 "latency --load -1",
                                 "latency --depth 0",
                                 "hit-ratio --scale -1",
                                 "hit-ratio --scale inf",
                                 "hit-ratio --trace foo",
                                 "memory --items 0",
                                 "durable --bloom-bits -5",
                                 "durable --tail-load 0",
                                 "run --records 0 --target weft --workload ycsb-c",
                                 "run --seconds nan --target weft",
                                 "run --warmup nan --target weft",
                                 "run --slice inf --target weft",
                                 "run --seed -1 --target weft",
                                 "run --block-cache -5 --target weft",
                                 "sweep --rates nan --target weft",
                                 "trace FILE --rate nan",
                                 "trace FILE --limit -3"})
    EXPECT_NE(FaultOfCommand(line), "") << line;
  for (const char* const line :
       {"embedded --threads 1,2,4-8", "walk --seconds 0.5 --warmup 0", "run --target weft --seed 5",
        "server --warmup 0", "hit-ratio --trace zipf,scan", "durable --bloom-bits 0"})
    EXPECT_EQ(FaultOfCommand(line), "") << line;
}

TEST(Commands, AnOptionThatDoesNothingBesideOthersIsRefused) {
  const std::pair<const char*, const char*> lines[] = {
      {"latency --rate 1000 --load 0.5", "--load: --rate is given"},
      {"server --case multiget-100 --get-share 0.5", "--get-share: multiget-100 has only GETs"},
      {"server --protocol binary --case multiget-100",
       "--case: multiget-100 is measured in text alone"},
      {"server --protocol binary --tls --case depth-32", ""},
      {"durable --benchmarks fillrandom --reads 1000",
       "--reads: --benchmarks includes none that looks up"},
      {"durable --benchmarks fillrandom --tail-seconds 1",
       "--tail-seconds: --benchmarks does not include tail"},
      {"durable --settings leveldb-defaults --bloom-bits 5",
       "--bloom-bits: --settings leveldb-defaults sets its own"},
      {"durable --stores weft --strict",
       "--strict: --stores has one store, so nothing is compared"},
      {"pipeline --threads 1 --cpus 0,0", "--cpus: it has more CPUs than --threads"},
      {"durable --stores leveldb --no-verify", "--no-verify: --stores does not include weft"},
      {"durable --stores weft --rocksdb-level1 5",
       "--rocksdb-level1: --stores does not include rocksdb"},
      {"contention --stores leveldb --background-threads 2",
       "--background-threads: no store of --stores has several compaction threads"},
      {"compaction --direct", "--direct: neither --compaction-device nor --threads is given"},
      {"durable --quick --num 1000000", "--num: --quick uses less"},
      {"durable --quick --num 1000", ""},
      {"compaction --quick --scale 1", "--scale: --quick uses less"},
      {"contention --num 1000000 --quick", "--num: --quick uses less"},
      {"device --quick --objects 100000000", "--objects: --quick uses less"},
      {"embedded --threads 1 --target 0.9",
       "--target: --threads has only one thread, which is the baseline"},
      {"embedded --threads 1,2 --target 0.9", ""},
      {"pipeline --batch-max 64", "--batch-max: no --plan is given"},
      {"alternation --plan all --no-learn", "--no-learn: --plan auto is not given"},
      {"pipeline --plan auto --steal off", "--steal: no --plan names a plan"},
      {"pipeline --plan all --batch-max 64",
       "--batch-max: without --device every --plan has one stage"},
      {"pipeline --plan all",
       "--plan: without --device every plan has one stage, which always runs"},
      {"prefetch --threads 2 --cpus 0",
       "--threads: --cpus has fewer CPUs, and each thread needs its own"},
  };
  for (const auto& [line, why] : lines) EXPECT_EQ(FaultOfCommand(line), why) << line;
}

TEST(Commands, OfASweepAndAnExperimentToo) {
  for (const char* line :
       {"sweep --target weft --workload ycsb-a --points 3 --rates 1000",
        "sweep --target weft --workload ycsb-a --tolerance 0.1",
        "sweep --target weft --workload ycsb-a --tries 5",
        "efficiency --records 5 --data-fraction 0.1", "pipeline --strict", "alternation --strict",
        "prefetch --strict", "alternation --energy model:1,2",
        "run --target start:weft --workload ycsb-load --multi-get --depth 8",
        "run --target weft --workload ycsb-load --threads 2 --fill-threads 1",
        "run --target weft --workload ycsb-load --threads 2 --load-threads 1",
        "block-cache --block-cache 5", "bandwidth --load-threads 3", "bandwidth --fill-threads 3",
        "run --target weft --load-threads 1 --fill-threads 1"})
    EXPECT_NE(FaultOfCommand(line), "") << line;
}

TEST(Commands, WhatIsHeededIsTaken) {
  for (const char* line :
       {"latency --load 0.5", "server --get-share 0.5", "durable --reads 1000 --tail-load 0.5",
        "durable --benchmarks fillrandom,readrandom --reads 1000", "durable --bloom-bits 5",
        "durable --settings common,leveldb-defaults --bloom-bits 5",
        "compaction --direct --threads 4", "pipeline --plan auto --no-learn",
        "pipeline --plan all --device gpu0 --batch-max 64", "prefetch --threads 2 --cpus 0,1",
        "device --strict", "sweep --target weft --workload ycsb-a --limit p99 --tries 5",
        "efficiency --data-fraction 0.1"})
    EXPECT_EQ(FaultOfCommand(line), "") << line;
}

}  // namespace
}  // namespace weft::bench
