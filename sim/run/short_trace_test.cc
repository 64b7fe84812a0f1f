#include "sim/run/short_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/machine/machine_test_kit.h"
#include "sim/run/simulation.h"

namespace weft::sim {
namespace {

using testing::HasSubstr;

RunOptions Options(int64_t ops, int64_t fast_forward, double warmup) {
  RunOptions options;
  options.workload.source = "trace:x";
  options.workload.ops = ops;
  options.fast_forward = fast_forward;
  options.warmup = warmup;
  options.epoch_clocks = 0;
  return options;
}

std::string SaidOf(const RunOptions& options, const std::vector<int64_t>& ops_by_core) {
  return std::string(TooShort(options, ops_by_core).message());
}

TEST(ShortTrace, SaysHowManyThereAreAndWhatMendsIt) {
  EXPECT_EQ(SaidOf(Options(20'000, 100'000, 0.1), {200}),
            "x: the trace has 200 operations; 102000 come before the first measured one "
            "(--fast-forward 100000, and --warmup 0.1 of --ops 20000): --ops 0 --fast-forward 0 "
            "measures what is there");
  EXPECT_EQ(SaidOf(Options(2000, 0, 0.1), {100, 100}),
            "x: the trace has 200 operations; 200 come before the first measured one "
            "(--warmup 0.1 of --ops 2000): --ops 0 measures what is there");
  EXPECT_EQ(SaidOf(Options(0, 200, 0.1), {100, 100}),
            "x: the trace has 200 operations; 200 come before the first measured one "
            "(--fast-forward 200): --fast-forward 0 measures what is there");
  EXPECT_EQ(SaidOf(Options(0, 0, 0.9), {1}),
            "x: the trace has 1 operations; 1 come before the first measured one "
            "(--warmup 0.9 of the others): --warmup 0 measures what is there");
  EXPECT_THAT(SaidOf(Options(20, 0, 0.1), {0}), testing::EndsWith("(--warmup 0.1 of --ops 20)"));
}

// Cores have a share each, and may have more or fewer operations.
TEST(ShortTrace, NamesACoreThatHasFewerThanItsShare) {
  EXPECT_EQ(SaidOf(Options(0, 151, 0.1), {150, 50}),
            "x: the trace has 200 operations, but core 1 has 50 of the 75 that take no time; 156 "
            "come before the first measured one (--fast-forward 151, and --warmup 0.1 of the "
            "others): --fast-forward 0 measures what is there");
  EXPECT_THAT(SaidOf(Options(300, 0, 0.6), {190, 10}),
              HasSubstr("has 200 operations, of which its cores play 160; 180 come before"));
}

// What a run does is what is said of it: each set of options that measures nothing is told of, with
// others that measure something.
TEST(ShortTrace, TheMachineJudgesAlike) {
  std::vector<Record> op = {Mark(RecordKind::kOpBegin), Read(5), Mark(RecordKind::kOpEnd, 10)};
  const auto source_of = [&](const std::vector<int64_t>& ops_by_core) {
    std::vector<std::vector<Record>> records;
    for (const int64_t ops : ops_by_core) {
      records.emplace_back();
      for (int64_t i = 0; i < ops; ++i) {
        records.back().insert(records.back().end(), op.begin(), op.end());
      }
    }
    return records;
  };
  int failed = 0;
  for (const std::vector<int64_t>& ops_by_core : std::vector<std::vector<int64_t>>{
           {1}, {7}, {20}, {4, 4}, {7, 1}, {1, 7}, {8, 0}, {3, 2, 9}}) {
    const RunParts parts = {
        .make_source = [&]() -> Result<std::unique_ptr<TraceSource>> {
          return std::unique_ptr<TraceSource>(new ListSource(source_of(ops_by_core)));
        },
        .make_units = {},
        .config = {}};
    for (const int64_t ops : {0, 4, 8, 30}) {
      for (const int64_t fast_forward : {0, 1, 6, 8}) {
        for (const double warmup : {0.0, 0.1, 0.7}) {
          RunOptions options = Options(ops, fast_forward, warmup);
          const auto run = Simulate(options, parts);
          if (run) {
            EXPECT_GT(run.value().ops, 0);
            continue;
          }
          ++failed;
          const std::string said(run.error().message());
          if (said.find("no operation is left to measure") != std::string::npos)
            continue;  // of a core
          ASSERT_THAT(said, HasSubstr(" measures what is there"));
          if (said.find("--ops 0 ") != std::string::npos) options.workload.ops = 0;
          if (said.find("--fast-forward 0 ") != std::string::npos) options.fast_forward = 0;
          if (said.find("--warmup 0 ") != std::string::npos) options.warmup = 0;
          const auto mended = Simulate(options, parts);
          ASSERT_TRUE(mended) << said << " But: " << mended.error().ToString();
          EXPECT_GT(mended.value().ops, 0) << said;
        }
      }
    }
  }
  EXPECT_GT(failed, 20);
}

TEST(ShortTrace, FewerThanAskedForAreTold) {
  RunResult run;
  run.ops = 180;
  EXPECT_EQ(MissingOps(Options(200, 0, 0.1), run), "");
  EXPECT_EQ(MissingOps(Options(0, 5, 0.1), run), "");
  EXPECT_EQ(MissingOps(Options(300, 0, 0.1), run),
            "x: the trace ended after 210 operations of the 300 that --ops asks for; --ops 0 plays "
            "all of them");
  EXPECT_THAT(MissingOps(Options(300, 7, 0.1), run), HasSubstr(", after 7 of --fast-forward; "));
}

}  // namespace
}  // namespace weft::sim
