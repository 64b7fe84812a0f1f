// sim/run/run_test_kit.h: helpers of the tests of the machine with the paper's units: a store whose
// lookups are given, and the machine that plays them.
//
// A lookup is that of the specification's section 3.5(b): the key for the controller, a software
// prefetch of the bucket, and a read of each entry up to the right one. Then come the object's
// header and what depends on it, its other lines.
//
// Threads   one owner.
#pragma once

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/machine/machine_test_kit.h"
#include "sim/prefetch/prefetch_options.h"

namespace weft::sim {

struct Lookup {
  uint64_t bucket = 0;
  uint8_t slot = 0;
};

// Plain instructions between the steps.
struct LookupGaps {
  uint32_t key = 0;
  uint32_t bucket = 20;
  uint32_t scan = 661;
  uint32_t entry = 20;
  uint32_t header = 134;
  uint32_t line = 8;
  uint32_t end = 300;        // more than a window: a key is sent when what is before it is over
  bool key_is_late = false;  // it is sent when the bucket has been read
};

struct TestStore {
  StoreShape shape;
  TableImage table;

  // All buckets have `slots` objects of `bytes` bytes, each with the slot's number as tag. They lie
  // one after the other in the log, in an order that keeps a bucket's apart.
  TestStore(uint64_t buckets, int slots, uint32_t bytes) : table(buckets, 8) {
    SetShape(buckets);
    for (int slot = 0; slot < slots; ++slot) {
      for (uint64_t bucket = 0; bucket < buckets; ++bucket) Add(bucket, slot, bytes);
    }
  }
  explicit TestStore(uint64_t buckets) : table(buckets, 8) { SetShape(buckets); }

  void Add(uint64_t bucket, int slot, uint32_t bytes) {
    table.At(bucket, slot) = {
        .addr = end_of_log_, .bytes = bytes, .tag = static_cast<uint16_t>(slot)};
    end_of_log_ += bytes;
  }

 private:
  void SetShape(uint64_t buckets) {
    shape.buckets = buckets;
    shape.table_limit = buckets * 64;
    shape.log_base = shape.table_limit;
    shape.log_limit = uint64_t{1} << 30;
    shape.object_overhead_bytes = 52;
    shape.long_object_bytes = 256;
    end_of_log_ = shape.log_base;
  }

  uint64_t end_of_log_ = 0;
};

class LookupSource : public TraceSource {
 public:
  // `store` must outlive it. Lookups by core.
  LookupSource(const TestStore* store, std::vector<std::vector<Lookup>> lookups,
               const LookupGaps& gaps = {})
      : store_(store),
        lookups_(std::move(lookups)),
        gaps_(gaps),
        at_(lookups_.size()),
        records_(lookups_.size()) {}

  int cores() const override { return static_cast<int>(lookups_.size()); }
  const StoreShape& shape() const override { return store_->shape; }
  TableImage InitialTable() const override { return store_->table; }
  Result<bool> Next(int core, Record* record) override {
    const auto number = static_cast<size_t>(core);
    std::deque<Record>& records = records_[number];
    if (records.empty()) {
      if (at_[number] == lookups_[number].size()) return false;
      Append(lookups_[number][at_[number]++], &records);
    }
    *record = records.front();
    records.pop_front();
    return true;
  }

 private:
  void Append(const Lookup& lookup, std::deque<Record>* records) const {
    const TableSlot& object = store_->table.At(lookup.bucket, lookup.slot);
    const uint64_t bucket_addr = store_->shape.table_base + lookup.bucket * 64;
    records->push_back({.kind = RecordKind::kOpBegin});
    const Record key = {.addr = bucket_addr,
                        .gap = gaps_.key,
                        .kind = RecordKind::kKey,
                        .tag = object.tag,
                        .slot = lookup.slot};
    if (!gaps_.key_is_late) records->push_back(key);
    records->push_back({.addr = bucket_addr,
                        .gap = gaps_.bucket,
                        .size = 64,
                        .kind = RecordKind::kPrefetch,
                        .cls = AccessClass::kBucket});
    for (uint64_t entry = 0; entry <= lookup.slot; ++entry) {
      records->push_back({.addr = bucket_addr + 8 * entry,
                          .gap = entry == 0 ? gaps_.scan : gaps_.entry,
                          .size = 8,
                          .cls = AccessClass::kBucket});
    }
    if (gaps_.key_is_late) records->push_back(key);
    records->push_back({.addr = object.addr,
                        .gap = gaps_.header,
                        .size = 3,
                        .cls = AccessClass::kObjectHead,
                        .dep = 1});
    // The header may lie in two lines; nothing else in these needs more reads.
    const uint64_t end = object.addr + object.bytes;
    uint8_t dep = 1;
    for (uint64_t line = (object.addr + 2) / 64 + 1; line * 64 < end; ++line) {
      records->push_back({.addr = line * 64,
                          .gap = gaps_.line,
                          .size = 8,
                          .cls = AccessClass::kObjectBody,
                          .dep = dep++});
    }
    records->push_back({.kind = RecordKind::kHit,
                        .aux = static_cast<uint32_t>(lookup.bucket),
                        .slot = lookup.slot});
    records->push_back({.gap = gaps_.end, .kind = RecordKind::kOpEnd});
  }

  const TestStore* const store_;
  const std::vector<std::vector<Lookup>> lookups_;
  const LookupGaps gaps_;
  std::vector<size_t> at_;
  std::vector<std::deque<Record>> records_;
};

struct UnitRun {
  RunResult result;
  UnitCounts counts;  // of all units
};

// Two channels of the default memory. `wrap` may put something around each unit.
template <typename Wrap>
UnitRun PlaySource(TraceSource& source, const PrefetchOptions& prefetch,
                   const MachineOptions& options, uint64_t seed, Wrap wrap) {
  Preset preset = PresetNamed(kDefaultPreset);
  preset.organization.channels = 2;
  TableImage table = source.InitialTable();
  Result<PrefetchUnits> made = MakePrefetchers(prefetch, source.shape(), table, 2, seed);
  EXPECT_TRUE(made) << made.error().ToString();
  std::vector<std::unique_ptr<Prefetcher>> units;
  for (auto& unit : made.value().units) units.push_back(wrap(std::move(unit)));
  EXPECT_TRUE(Validate(options, preset, source.cores()).ok());
  Machine machine(options, preset, source, &table, std::move(units));
  Result<RunResult> result = machine.Run();
  EXPECT_TRUE(result) << result.error().ToString();
  return {std::move(result.value()), made.value().Total()};
}

inline UnitRun PlaySource(TraceSource& source, const PrefetchOptions& prefetch,
                          const MachineOptions& options = {}, uint64_t seed = 1) {
  return PlaySource(source, prefetch, options, seed,
                    [](std::unique_ptr<Prefetcher> unit) { return unit; });
}

inline int64_t SumOfOutcomes(const RunResult& run) {
  int64_t sum = 0;
  for (const int64_t count : run.prefetch.outcomes) sum += count;
  return sum;
}

}  // namespace weft::sim
