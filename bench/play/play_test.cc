// Traces that are played on policies, and on Weft's cache in this process.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/folder_test_kit.h"
#include "base/seed_test_kit.h"
#include "bench/harness/report_rows_test_kit.h"
#include "bench/play/play_options.h"
#include "bench/play/play_policy.h"
#include "bench/play/play_target.h"
#include "bench/play/tally.h"
#include "bench/target/targets.h"

namespace weft::bench {
namespace {

using enum TraceOperation;

// Records 0 to `records` - 1, whose keys have 20 bytes.
Trace TraceOf(std::vector<TraceRequest> requests, uint32_t records) {
  Trace trace;
  trace.name = "test";
  trace.key_bytes.assign(records, 20);
  for (const TraceRequest& request : requests) trace.has_ttls |= request.ttl_s != 0;
  trace.requests = std::move(requests);
  return trace;
}

// Gets of skewed records, in whose midst each record has a size of its own.
Trace Skewed(uint32_t records, uint64_t requests, uint32_t value_bytes_max) {
  base::Random random(base::TestSeed(1));
  std::vector<TraceRequest> all(requests);
  for (uint64_t i = 0; i < requests; i++) {
    const double draw = static_cast<double>(random.Below(1 << 20)) / (1 << 20);
    all[i].record = static_cast<uint32_t>(std::pow(draw, 3) * records);
    all[i].value_bytes = 8 + (all[i].record * 7919) % (value_bytes_max - 7);
  }
  return TraceOf(std::move(all), records);
}

TEST(TraceTally, CountsBySliceAndInAll) {
  TraceTally tally(1000);
  for (uint64_t i = 0; i < 1000; i++) tally.Get(i, 10, i >= 500);
  tally.Set(999, false);
  tally.Delete(0);
  TraceTally twice(1000);
  twice.Add(tally);
  twice.Add(tally);
  const TraceCounts total = twice.Total();
  EXPECT_EQ(total.gets, 2000u);
  EXPECT_EQ(total.misses, 1000u);
  EXPECT_EQ(total.missed_bytes, 10'000u);
  EXPECT_EQ(total.refused, 2u);
  EXPECT_EQ(total.deletes, 2u);
  EXPECT_EQ(total.MissRatio(), 0.5);
  EXPECT_EQ(twice.slices().front().MissRatio(), 1);
  EXPECT_EQ(twice.slices().back().MissRatio(), 0);
  EXPECT_EQ(TraceCounts().MissRatio(), 0);
}

TEST(PlayPolicy, GetsThatMissAreFilled) {
  const Trace trace = TraceOf({{0, 100}, {0, 100}, {1, 100}, {0, 100}, {1, 100}}, 2);
  auto policy = MakePolicy("lru", 2 * PolicyBytesOf(trace, 0, 100), trace);
  ASSERT_TRUE(policy);
  const TraceCounts counts = PlayPolicy(trace, policy->get()).Total();
  EXPECT_EQ(counts.gets, 5u);
  EXPECT_EQ(counts.misses, 2u);
  EXPECT_EQ(counts.sets, 2u);
  auto small = MakePolicy("lru", PolicyBytesOf(trace, 0, 100), trace);
  EXPECT_EQ(PlayPolicy(trace, small->get()).Total().misses, 4u);
}

TEST(PlayPolicy, SetsDeletesAndTimesToLiveCount) {
  const Trace trace = TraceOf({{0, 100, 0, 10, kSet},
                               {0, 100, 9, 0, kGet},
                               {0, 100, 10, 10, kGet},  // ended; stored again until 20
                               {0, 100, 19, 0, kGet},
                               {0, 0, 19, 0, kDelete},
                               {0, 100, 19, 0, kGet},
                               {0, 100, 1'000'000, 0, kGet}},
                              1);
  auto policy = MakePolicy("lru", 1 << 20, trace);
  const TraceTally tally = PlayPolicy(trace, policy->get());
  const TraceCounts counts = tally.Total();
  EXPECT_EQ(counts.gets, 5u);
  EXPECT_EQ(counts.misses, 2u);
  EXPECT_EQ(counts.sets, 3u);
  EXPECT_EQ(counts.deletes, 1u);
}

TEST(MemoryOf, TakesMiBAndShares) {
  const Trace trace = TraceOf({{0, 1'000'000}, {1, 1'000'000}, {1, 500'000}}, 2);
  EXPECT_EQ(BytesOfAllKeys(trace), 1'500'000u + 2 * (20 + kItemBytes));
  EXPECT_EQ(MemoryOf("64", trace).value(), 64u);
  EXPECT_EQ(MemoryOf("100%", trace).value(), 1u);
  EXPECT_EQ(MemoryOf("0.001%", trace).value(), 1u) << "at least";
  EXPECT_EQ(MemoryOf("1000%", trace).value(), 14u);
  for (const char* text : {"", "%", "0", "-1", "1.5", "10%%", "ten", "inf", "nan", "1e99", "64 "})
    EXPECT_FALSE(MemoryOf(text, trace)) << text;
}

class PlayTargetTest : public ::testing::Test {
 protected:
  TraceCounts Play(const Trace& trace, uint64_t memory_mb, const TracePlayOptions& options = {}) {
    auto format = FormatOf(trace);
    EXPECT_TRUE(format) << format.error().ToString();
    TargetOptions how;
    how.memory_mb = memory_mb;
    auto target = OpenTarget("weft-cache", how, *format);
    EXPECT_TRUE(target) << target.error().ToString();
    std::atomic<uint64_t> played{0};
    auto tally = PlayTarget(trace, target->get(), options, &played);
    EXPECT_TRUE(tally) << tally.error().ToString();
    EXPECT_EQ(played, trace.requests.size());
    return tally->Total();
  }
};

TEST_F(PlayTargetTest, WhatFitsIsMissedOnce) {
  const Trace trace = Skewed(1000, 20'000, 3000);
  auto policy = MakePolicy("lru", 64 << 20, trace);
  const TraceCounts expected = PlayPolicy(trace, policy->get()).Total();
  for (const int connections : {1, 4}) {
    const TraceCounts counts = Play(trace, 64, {.connections = connections});
    EXPECT_EQ(counts.gets, expected.gets);
    EXPECT_EQ(counts.refused, 0u);
    EXPECT_EQ(counts.misses, expected.misses);
    EXPECT_EQ(counts.missed_bytes, expected.missed_bytes);
  }
}

TEST_F(PlayTargetTest, WhatDoesNotFitIsMissedMoreOften) {
  const Trace trace = Skewed(20'000, 100'000, 3000);
  auto floor = MakePolicy("belady", 8 << 20, trace);
  const TraceCounts counts = Play(trace, 8);
  EXPECT_GT(counts.misses, PlayPolicy(trace, floor->get()).Total().misses);
  EXPECT_LT(counts.MissRatio(), 0.9);
}

TEST_F(PlayTargetTest, SetsAndDeletesArePlayed) {
  const Trace trace = TraceOf(
      {{0, 8, 0, 0, kSet}, {0, 8}, {0, 0, 0, 0, kDelete}, {0, 1'000'000}, {0, 1'000'000}}, 1);
  const TraceCounts counts = Play(trace, 8);
  EXPECT_EQ(counts.misses, 1u);
  EXPECT_EQ(counts.sets, 2u);
  EXPECT_EQ(counts.deletes, 1u);
}

TEST_F(PlayTargetTest, TimesToLiveCountWhereTheTraceIsPaced) {
  const Trace trace = TraceOf({{0, 100, 0, 100, kSet}, {0, 100, 300, 0, kGet}}, 1);
  EXPECT_EQ(Play(trace, 8).misses, 0u);
  EXPECT_EQ(Play(trace, 8, {.pace = 100}).misses, 1u) << "a second to live, and asked for after 3";
}

TEST(TraceBench, StoresThatDropNothingAreRefused) {
  TraceBenchOptions options;
  options.files = {"none"};
  options.targets = {"weft-cache", "leveldb"};
  EXPECT_EQ(RunTraceBench(options).code(), Code::kInvalidArgument);
  options.targets = {"weft-cache"};
  EXPECT_EQ(RunTraceBench(options).code(), Code::kNotFound);
}

// A server that is there has the memory that it was given, whatever -m says.
TEST(TraceBench, AServerThatIsThereKeepsItsMemory) {
  auto format = RecordFormat::Make({});
  ASSERT_TRUE(format);
  TargetOptions small;
  small.memory_mb = 64;
  auto server = OpenTarget("start:memcached", small, *format);
  if (!server) GTEST_SKIP() << server.error().message();
  const base::TestFolder folder;
  TraceBenchOptions options;
  options.files = {folder / "numbers.trace"};
  std::ofstream(options.files[0]) << "1\n2\n1\n3\n";
  options.targets = {"memcached:" + (*server)->Settings()["address"].get<std::string>()};
  options.policies = {"lru"};
  options.json = folder / "lines.jsonl";
  options.memory_is_given = true;
  options.memory = {"32"};
  EXPECT_NE(RunTraceBench(options).message().find("is already running with 64 MiB"),
            std::string::npos);
  options.memory = {"64", "32"};
  EXPECT_NE(RunTraceBench(options).message().find("with one size of memory"), std::string::npos);
  options.memory_is_given = false;
  const Status status = RunTraceBench(options);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const std::vector<nlohmann::json> lines = JsonLines(options.json);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["memory_mb"], 64);
  EXPECT_EQ(lines[0]["trace_format"], "numbers");
  EXPECT_EQ(lines[0]["caches"][1]["name"], "lru");
}

TEST(TraceBench, WhatHasNoTimesHasNoPace) {
  const base::TestFolder folder;
  TraceBenchOptions options;
  options.files = {folder / "numbers.trace"};
  std::ofstream(options.files[0]) << "1\n2\n";
  options.targets = {"weft-cache"};
  options.play.pace = 2;
  EXPECT_NE(RunTraceBench(options).message().find("has no times"), std::string::npos);
}

TEST(TraceBench, PoliciesAreCheckedBeforeAnythingIsPlayed) {
  TraceBenchOptions options;
  options.files = {"/nowhere"};
  options.policies = {"lru", "foo"};
  EXPECT_NE(RunTraceBench(options).message().find("foo"), std::string::npos);
  options.policies = {"none", "lru"};
  EXPECT_NE(RunTraceBench(options).message().find("none cannot be combined"), std::string::npos);
}

}  // namespace
}  // namespace weft::bench
