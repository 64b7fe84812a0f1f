// Operations that take no time: what they leave behind, and what they don't count in.

#include <memory>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/generator/workload_options.h"
#include "sim/run/run_test_kit.h"
#include "sim/run/simulation.h"

namespace weft::sim {
namespace {

using testing::HasSubstr;

void AddOp(std::vector<Record>& records, const std::vector<Record>& accesses) {
  records.push_back(Mark(RecordKind::kOpBegin));
  records.insert(records.end(), accesses.begin(), accesses.end());
  records.push_back(Mark(RecordKind::kOpEnd, 10));
}

MachineOptions SmallL2(int64_t fast_forward_ops) {
  MachineOptions options;
  options.l2.shape.kilobytes = 64;
  options.fast_forward_ops = fast_forward_ops;
  return options;
}

Result<RunResult> Play(TraceSource& source, const MachineOptions& options) {
  Preset preset = PresetNamed(kDefaultPreset);
  preset.organization.channels = 2;
  TableImage table = source.InitialTable();
  return Machine(options, preset, source, &table, {}).Run();
}

TEST(FastForward, L2HasWhatWasAccessed) {
  std::vector<Record> records;
  AddOp(records, {Read(100), {.addr = 101 * 64 - 4, .size = 8}});  // wide: 100 and 101
  AddOp(records, {Read(100), Read(101), Read(102)});
  ListSource source({records});
  const auto run = Play(source, SmallL2(1));
  ASSERT_TRUE(run) << run.error().ToString();
  EXPECT_EQ(run.value().ops, 1);
  EXPECT_EQ(run.value().l2.hits, 2);
  EXPECT_EQ(run.value().l2.misses, 1);
  EXPECT_EQ(run.value().cores.reads.count, 3);
  EXPECT_EQ(run.value().requests, 1);
}

TEST(FastForward, WhatWasWrittenIsWrittenBackLater) {
  std::vector<Record> records;
  AddOp(records, {Write(7), Read(8)});
  std::vector<Record> many;
  for (uint64_t line = 2000; line < 2000 + 2048; ++line) many.push_back(Read(line));
  AddOp(records, many);
  ListSource source({records});
  const auto run = Play(source, SmallL2(1));
  ASSERT_TRUE(run) << run.error().ToString();
  EXPECT_EQ(run.value().l2.write_backs, 1);
}

// Cores take turns, and each core's later operations may wait for accesses of the earlier ones.
TEST(FastForward, GoesOnWhereItEnded) {
  std::vector<std::vector<Record>> both(2);
  for (size_t core = 0; core < 2; ++core) {
    for (uint64_t op = 0; op < 5; ++op) {
      AddOp(both[core], {Read(1000 * (core + 1) + op), Read(5000 + op, 0, 1)});
    }
  }
  both[0][5].dep = 1;  // the second operation's first read: the first one's last
  ListSource source(both);
  const auto run = Play(source, SmallL2(3));
  ASSERT_TRUE(run) << run.error().ToString();
  EXPECT_EQ(run.value().by_core[0].op_cycles.size(), 3u);
  EXPECT_EQ(run.value().by_core[1].op_cycles.size(), 4u);
}

// A source that tells no marks by themselves, so that all of its operations go through L2.
class WithoutMarks : public TraceSource {
 public:
  explicit WithoutMarks(std::unique_ptr<TraceSource> source) : source_(std::move(source)) {}
  int cores() const override { return source_->cores(); }
  const StoreShape& shape() const override { return source_->shape(); }
  TableImage InitialTable() const override { return source_->InitialTable(); }
  Result<bool> Next(int core, Record* record) override { return source_->Next(core, record); }

 private:
  const std::unique_ptr<TraceSource> source_;
};

// Nothing is left of operations long ago but what they have taught.
TEST(FastForward, MarksTeachWhatTheOperationsWould) {
  RunOptions options;
  options.workload.buckets = 1024;
  options.workload.log_mib = 1;
  options.workload.mix = "6";
  options.workload.pop = "zipf:0.99";
  options.workload.ops = 1000;
  options.l2_kb = 64;  // 1024 lines
  options.fast_forward = 6000;
  options.epoch_clocks = 0;
  const PrefetchOptions unit = {.pacu = "hittable", .pscu = "dynamic"};
  const Result<RunParts> parts = PartsOf(options, unit);
  Result<RunParts> whole = PartsOf(options, unit);
  ASSERT_TRUE(parts && whole);
  whole.value().make_source = [&parts]() -> Result<std::unique_ptr<TraceSource>> {
    auto source = parts.value().make_source();
    if (!source) return source.error();
    return std::unique_ptr<TraceSource>(std::make_unique<WithoutMarks>(std::move(source.value())));
  };
  const auto of_marks = Simulate(options, parts.value(), {});
  const auto of_all = Simulate(options, whole.value(), {});
  ASSERT_TRUE(of_marks) << of_marks.error().ToString();
  ASSERT_TRUE(of_all) << of_all.error().ToString();
  ExpectSame(of_marks.value(), of_all.value());
  const UnitCounts counts = parts.value().unit_figures().counts;
  EXPECT_EQ(counts, whole.value().unit_figures().counts);
  EXPECT_GT(counts.addresses_right, 100);
}

TEST(FastForward, MarksThatEndAreAnError) {
  WorkloadOptions workload;
  workload.buckets = 1024;
  workload.log_mib = 1;
  workload.ops = 100;
  const auto source = MakeSource(workload, 1);
  ASSERT_TRUE(source);
  const auto run = Play(*source.value(), SmallL2(5000));
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().ToString(), HasSubstr("core 4: the trace ended among the operations"));
}

TEST(FastForward, ATraceThatEndsInItIsAnError) {
  std::vector<Record> records;
  AddOp(records, {Read(1)});
  ListSource source({records});
  const auto run = Play(source, SmallL2(2));
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().ToString(), HasSubstr("core 0: the trace ended among the operations"));

  AddOp(records, {{.addr = uint64_t{1} << 40, .size = 8}});
  ListSource wrong({records});
  const auto bad = Play(wrong, SmallL2(2));
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().ToString(), HasSubstr("core 0, record 5: address"));
}

// The table is as the operations left it, and so is what a unit has learnt of them.
TEST(FastForward, UnitsLearn) {
  TestStore store(2048, 2, 180);
  std::vector<Lookup> lookups = {{.bucket = 5, .slot = 1}};
  for (uint64_t bucket = 100; bucket < 1100; ++bucket) lookups.push_back({bucket, 0});
  const auto passed = static_cast<int64_t>(lookups.size());
  lookups.push_back({5, 1});
  const auto right = [&](int64_t fast_forward_ops) {
    LookupSource source(&store, {lookups});
    MachineOptions options = SmallL2(fast_forward_ops);
    options.core.warmup_ops = passed - fast_forward_ops;
    return PlaySource(source, {.pacu = "hittable"}, options).counts;
  };
  const UnitCounts in_time = right(0);
  const UnitCounts forwarded = right(passed);
  EXPECT_EQ(in_time.addresses_right, 1);
  EXPECT_EQ(forwarded.addresses_right, 1);
  EXPECT_EQ(forwarded.triggers, 1);
  EXPECT_EQ(forwarded.hits, 1);  // of what is counted

  lookups.front().slot = 0;
  EXPECT_EQ(right(passed).addresses_wrong, 1);
}

}  // namespace
}  // namespace weft::sim
