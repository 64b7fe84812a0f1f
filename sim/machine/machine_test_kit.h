// sim/machine/machine_test_kit.h: helpers of the machine's tests: sources of records, and random
// records.
//
// Threads   one owner.
#pragma once

#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/seed_test_kit.h"
#include "sim/dram/dram_test_kit.h"
#include "sim/machine/machine.h"

namespace weft::sim {

// Lists of records, one a core.
class ListSource : public TraceSource {
 public:
  explicit ListSource(std::vector<std::vector<Record>> records, uint64_t buckets = 64)
      : records_(std::move(records)), at_(records_.size()) {
    shape_.table_limit = buckets * 64;
    shape_.log_base = shape_.table_limit;
    shape_.log_limit = uint64_t{1} << 30;
    shape_.buckets = buckets;
  }

  int cores() const override { return static_cast<int>(records_.size()); }
  const StoreShape& shape() const override { return shape_; }
  TableImage InitialTable() const override {
    return TableImage(shape_.buckets, shape_.slots_per_bucket);
  }
  Result<bool> Next(int core, Record* record) override {
    const auto number = static_cast<size_t>(core);
    if (at_[number] == records_[number].size()) return false;
    *record = records_[number][at_[number]++];
    return true;
  }

 private:
  StoreShape shape_;
  std::vector<std::vector<Record>> records_;
  std::vector<size_t> at_;
};

inline Record Read(uint64_t line, uint32_t gap = 0, uint8_t dep = 0) {
  return {.addr = line * 64, .gap = gap, .size = 8, .dep = dep};
}
inline Record Write(uint64_t line, uint32_t gap = 0) {
  return {.addr = line * 64, .gap = gap, .size = 8, .kind = RecordKind::kWrite};
}
inline Record Mark(RecordKind kind, uint32_t gap = 0) { return {.gap = gap, .kind = kind}; }

// Operations of a few accesses: some to lines that all cores share, some far apart, some wide, some
// that depend on the one before, with marks between them.
inline std::vector<std::vector<Record>> RandomRecords(uint64_t seed, int cores, int ops,
                                                      uint32_t gap_max, uint64_t lines = 1 << 20) {
  std::mt19937_64 random(base::TestSeed(seed));
  const auto below = [&](uint64_t n) { return random() % n; };
  std::vector<std::vector<Record>> all(static_cast<size_t>(cores));
  for (auto& records : all) {
    for (int op = 0; op < ops; ++op) {
      records.push_back(Mark(RecordKind::kOpBegin));
      const auto bucket = static_cast<uint32_t>(below(64));
      const auto slot = static_cast<uint8_t>(below(8));
      records.push_back({.addr = bucket * 64, .kind = RecordKind::kKey, .tag = slot});
      uint8_t dep = 0;
      for (uint64_t n = 2 + below(6); n > 0; --n) {
        Record record = Read(below(4) == 0 ? 64 + below(256) : 64 + below(lines),
                             static_cast<uint32_t>(below(gap_max)));
        record.addr += below(64);
        record.size = static_cast<uint16_t>(below(4) == 0 ? 1 + below(300) : 8);
        record.kind = static_cast<RecordKind>(below(3));
        record.cls = static_cast<AccessClass>(below(kAccessClasses));
        if (below(2) == 0) record.dep = dep;
        if (dep < 255) ++dep;
        if (record.kind == RecordKind::kRead) dep = 1;
        if (dep > 1 && record.dep == 0 && n == 2) dep = 0;
        records.push_back(record);
      }
      if (below(4) == 0) {
        records.push_back({.addr = (64 + below(lines)) * 64,
                           .size = 100,
                           .kind = RecordKind::kSlot,
                           .aux = bucket,
                           .slot = slot});
      }
      records.push_back({.kind = RecordKind::kHit, .aux = bucket, .slot = slot});
      records.push_back(Mark(RecordKind::kOpEnd, static_cast<uint32_t>(below(gap_max))));
    }
  }
  return all;
}

inline RunResult Simulate(ListSource source, const MachineOptions& options = {},
                          std::vector<std::unique_ptr<Prefetcher>> units = {}, int channels = 2) {
  Preset preset = PresetNamed(kDefaultPreset);
  preset.organization.channels = channels;
  TableImage table = source.InitialTable();
  EXPECT_TRUE(Validate(options, preset, source.cores()).ok());
  Machine machine(options, preset, source, &table, std::move(units));
  Result<RunResult> result = machine.Run();
  EXPECT_TRUE(result) << result.error().ToString();
  return std::move(result.value());
}

// Expects that two runs went alike, in every figure except the host's time.
inline void ExpectSame(const RunResult& a, const RunResult& b) {
  EXPECT_TRUE(a.by_core == b.by_core);
  EXPECT_EQ(a.cores.reads, b.cores.reads);
  EXPECT_EQ(a.cores.misses, b.cores.misses);
  EXPECT_EQ(a.cores.cycles, b.cores.cycles);
  EXPECT_EQ(a.cores.instructions, b.cores.instructions);
  EXPECT_EQ(a.cores.stalled_cycles, b.cores.stalled_cycles);
  EXPECT_EQ(a.ops, b.ops);
  EXPECT_EQ(a.time, b.time);
  EXPECT_EQ(a.warmup_end, b.warmup_end);
  EXPECT_EQ(a.l2.hits, b.l2.hits);
  EXPECT_EQ(a.l2.misses, b.l2.misses);
  EXPECT_EQ(a.l2.write_backs, b.l2.write_backs);
  EXPECT_EQ(a.l2.invalidations, b.l2.invalidations);
  EXPECT_EQ(a.mesh_waited, b.mesh_waited);
  ASSERT_EQ(a.channels.size(), b.channels.size());
  for (size_t i = 0; i < a.channels.size(); ++i) {
    EXPECT_EQ(a.channels[i].clocks, b.channels[i].clocks);
    EXPECT_EQ(a.channels[i].controller, b.channels[i].controller);
    EXPECT_EQ(a.channels[i].demand_latency, b.channels[i].demand_latency);
    EXPECT_EQ(a.channels[i].wait, b.channels[i].wait);
    EXPECT_EQ(a.channels[i].queued_clocks, b.channels[i].queued_clocks);
    EXPECT_EQ(a.channels[i].demand_latencies, b.channels[i].demand_latencies);
  }
}

}  // namespace weft::sim
