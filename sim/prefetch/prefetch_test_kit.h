// sim/prefetch/prefetch_test_kit.h: helpers of the units' tests: a small store, and a driver that
// tells a unit what a machine would, in order of time.
//
// Threads   one owner.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/dram/dram_test_kit.h"
#include "sim/prefetch/lines.h"
#include "sim/prefetch/prefetch_options.h"

namespace weft::sim {

inline constexpr Time kNs = kPicosecondsPerNanosecond;

// RAMCloud's: 23-byte keys. The index doesn't begin at 0, and has overflow buckets above it.
inline StoreShape SmallShape(uint64_t buckets = 64) {
  StoreShape shape;
  shape.table_base = 4096;
  shape.buckets = buckets;
  shape.table_limit = shape.table_base + buckets * 64;
  shape.log_base = shape.table_limit + 16 * 64;
  shape.log_limit = shape.log_base + buckets * 8 * 1024;
  shape.object_overhead_bytes = 52;
  shape.long_object_bytes = 256;
  return shape;
}

// Where SmallTable has the slot's object: 20 bytes after a line's begin.
inline uint64_t AddrOf(const StoreShape& shape, uint64_t bucket, int slot) {
  return shape.log_base + (bucket * 8 + static_cast<uint64_t>(slot)) * 1024 + 20;
}
inline uint64_t FirstLineOf(const StoreShape& shape, uint64_t bucket, int slot) {
  return AddrOf(shape, bucket, slot) / 64;
}

// Each bucket has objects of 180 bytes (4 lines) in its first `used` slots; slot s has tag 100 + s.
inline TableImage SmallTable(const StoreShape& shape, int used = 8) {
  TableImage table(shape.buckets, shape.slots_per_bucket);
  for (uint64_t bucket = 0; bucket < shape.buckets; ++bucket) {
    for (int slot = 0; slot < used; ++slot) {
      table.At(bucket, slot) = {.addr = AddrOf(shape, bucket, slot),
                                .bytes = 180,
                                .tag = static_cast<uint16_t>(100 + slot)};
    }
  }
  return table;
}

inline Record KeyMark(const StoreShape& shape, uint64_t bucket, int tag, int slot) {
  return {.addr = shape.table_base + bucket * 64,
          .kind = RecordKind::kKey,
          .tag = static_cast<uint16_t>(tag),
          .slot = static_cast<uint8_t>(slot)};
}
inline Record HitMark(uint64_t bucket, int slot) {
  return {.kind = RecordKind::kHit,
          .aux = static_cast<uint32_t>(bucket),
          .slot = static_cast<uint8_t>(slot)};
}

class UnitDriver {
 public:
  explicit UnitDriver(const PrefetchOptions& options, StoreShape of = SmallShape(), int used = 8,
                      uint64_t seed = 1, int channels = 1)
      : shape(of), table(SmallTable(of, used)) {
    Result<PrefetchUnits> result = MakePrefetchers(options, shape, table, channels, seed);
    EXPECT_TRUE(result) << result.error().ToString();
    made = std::move(result.value());
  }
  UnitDriver(const UnitDriver&) = delete;  // the units know the table
  UnitDriver& operator=(const UnitDriver&) = delete;

  // Does what the unit has to do until `now`, at its own times.
  void RunTo(Time now) {
    for (Time next = unit().NextEvent(); next <= now; next = unit().NextEvent()) {
      const size_t before = asked.size();
      unit().AdvanceTo(next, &asked);
      for (size_t i = before; i < asked.size(); ++i) EXPECT_EQ(asked[i].ready, next);
    }
  }
  void ReadLine(uint64_t line, Time now, int core = 0) {
    RunTo(now - 1);
    unit().OnLineRead(line, core, now);
  }
  void ReadBucket(uint64_t bucket, Time now, int core = 0) {
    ReadLine(shape.table_base / 64 + bucket, now, core);
  }
  void Key(uint64_t bucket, int slot, Time now, int core = 0) {
    Mark(KeyMark(shape, bucket, 100 + slot, slot), now, core);
  }
  void Hit(uint64_t bucket, int slot, Time now, int core = 0) {
    Mark(HitMark(bucket, slot), now, core);
  }
  void Mark(const Record& record, Time now, int core = 0) {
    RunTo(now - 1);
    unit().OnMark(record, core, now);
  }
  void Arrive(uint64_t id, Time now, bool was_dropped = false) {
    RunTo(now - 1);
    unit().OnAskedLine(id, was_dropped, now);
  }

  // When each line was asked for, in the order of asking; then none.
  struct When {
    uint64_t line;
    Time at;
    bool operator==(const When&) const = default;
  };
  std::vector<When> TakeAsked() {
    RunTo(kNever - 1);
    std::vector<When> taken;
    for (const AskedLine& each : asked) taken.push_back({each.line, each.ready});
    asked.clear();
    return taken;
  }
  // The slots of the bucket whose objects' first lines were asked for; then none.
  std::vector<int> TakeSlots(uint64_t bucket) {
    std::vector<int> slots;
    for (const When& each : TakeAsked()) {
      for (int slot = 0; slot < shape.slots_per_bucket; ++slot) {
        if (each.line == FirstLineOf(shape, bucket, slot)) slots.push_back(slot);
      }
    }
    return slots;
  }
  // An object of SmallTable, asked for in full.
  std::vector<When> Whole(uint64_t bucket, int slot, Time at) const {
    std::vector<When> lines;
    for (uint64_t i = 0; i < 4; ++i) lines.push_back({FirstLineOf(shape, bucket, slot) + i, at});
    return lines;
  }

  Prefetcher& unit() { return *made.units.at(0); }
  const UnitCounts& counts() const { return *made.counts.at(0); }

  const StoreShape shape;
  TableImage table;
  PrefetchUnits made;
  std::vector<AskedLine> asked;
};

inline std::ostream& operator<<(std::ostream& out, const UnitDriver::When& when) {
  return out << "line " << when.line << " at " << when.at;
}

}  // namespace weft::sim
