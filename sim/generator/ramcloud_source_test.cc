#include "sim/generator/ramcloud_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/seed_test_kit.h"
#include "sim/generator/generator_test_kit.h"

namespace weft::sim {
namespace {

RamcloudOptions SmallOptions(std::string_view mix, std::string_view util) {
  RamcloudOptions options;
  options.store.cores = 4;
  options.store.seed = base::TestSeed();
  options.store.mix = Mix::Find(mix).value();
  options.store.utilization = ParseUtilization(util).value();
  options.store.buckets = 1 << 10;
  options.ops = 4000;
  return options;
}

std::unique_ptr<RamcloudSource> MakeSource(const RamcloudOptions& options) {
  Result<std::unique_ptr<RamcloudSource>> source = RamcloudSource::Make(options);
  EXPECT_TRUE(source) << source.error().ToString();
  return std::move(source.value());
}

// Of each of the operation's accesses: instructions since the first one.
std::vector<uint32_t> Distances(const std::vector<Record>& op) {
  std::vector<uint32_t> distances;
  uint32_t instructions = 0;
  for (const Record& record : op) {
    instructions += record.gap;
    if (!record.IsAccess()) continue;
    if (distances.empty()) instructions = 0;
    distances.push_back(instructions++);
  }
  return distances;
}

// The first get of the core whose object is in `slot` and starts `offset` bytes into its line.
std::vector<Record> GetOf(RamcloudSource& source, uint8_t slot, uint64_t offset) {
  for (;;) {
    const std::vector<Record> op = NextOp(source, 0);
    if (op.empty()) return op;
    if (op[1].slot != slot) continue;
    const auto length = std::find_if(op.begin(), op.end(), [](const Record& record) {
      return record.cls == AccessClass::kObjectHead;
    });
    if (length->addr % 64 == offset) return op;
  }
}

TEST(RamcloudSource, AGetIsTheOneThatThePaperPrints) {
  RamcloudOptions options = SmallOptions("fixed:128", "exact:4");
  options.op.other_per_op = 0;
  const std::unique_ptr<RamcloudSource> source = MakeSource(options);
  const std::vector<Record> op = GetOf(*source, 2, 8);
  ASSERT_FALSE(op.empty());
  // Table 1's bucket, three entries, the third again, then its length and the object's lines.
  EXPECT_EQ(Distances(op),
            (std::vector<uint32_t>{0, 661, 681, 701, 758, 835, 838, 842, 846, 854, 862, 870}));
  using enum RecordKind;
  const std::vector<RecordKind> kinds = {kOpBegin, kKey,  kPrefetch, kRead,     kRead,     kRead,
                                         kRead,    kRead, kPrefetch, kPrefetch, kPrefetch, kRead,
                                         kRead,    kRead, kHit,      kOpEnd};
  ASSERT_EQ(op.size(), kinds.size());
  for (size_t i = 0; i < op.size(); ++i) EXPECT_EQ(op[i].kind, kinds[i]) << i;
  const uint64_t bucket = op[1].addr;
  const uint64_t object = op[7].addr;
  EXPECT_EQ(op[2].addr, bucket);
  EXPECT_EQ(op[2].gap, 19u);  // the key comes 20 instructions earlier
  EXPECT_EQ(op[5].addr, bucket + 16);
  EXPECT_EQ(op[6].addr, bucket + 16);
  EXPECT_EQ(op[7].size, 3);
  EXPECT_EQ(op[7].dep, 1);  // on the entry
  EXPECT_EQ(op[8].dep, 1);  // on the length
  EXPECT_EQ(op[10].dep, 3);
  EXPECT_EQ(op[11].dep, 4);
  EXPECT_EQ(op[11].addr, object);
  EXPECT_EQ(op[11].size, 56);
  EXPECT_EQ(op[11].cls, AccessClass::kObjectHead);
  EXPECT_EQ(op[12].cls, AccessClass::kObjectBody);
  EXPECT_EQ(op[11].size + op[12].size + op[13].size, 180);
  EXPECT_EQ(op[14].aux, bucket / 64);
  EXPECT_EQ(op[14].slot, 2);
  const TableImage table = source->InitialTable();
  EXPECT_EQ(table.At(bucket / 64, 2), (TableSlot{object, 180, op[1].tag}));
}

TEST(RamcloudSource, AnObjectOf300BytesIsNotPrefetched) {
  for (const auto& [prefetch, count] :
       {std::pair{ObjectPrefetch::kBelow300, 0}, std::pair{ObjectPrefetch::kAll, 5},
        std::pair{ObjectPrefetch::kOff, 0}}) {
    RamcloudOptions options = SmallOptions("fixed:256", "exact:4");
    options.op.object_prefetch = prefetch;
    options.op.length_dep = false;
    const std::unique_ptr<RamcloudSource> source = MakeSource(options);
    const std::vector<Record> op = GetOf(*source, 0, 4);
    ASSERT_FALSE(op.empty());
    int prefetches = 0;
    uint64_t bytes = 0;
    for (const Record& record : op) {
      const bool is_object =
          record.cls == AccessClass::kObjectHead || record.cls == AccessClass::kObjectBody;
      prefetches += is_object && record.kind == RecordKind::kPrefetch;
      if (is_object && record.kind == RecordKind::kRead) bytes += record.size;
    }
    EXPECT_EQ(prefetches, count);
    EXPECT_EQ(bytes, 309u + 3);
    EXPECT_EQ(op[5].dep, 1);  // the length, on the entry,
    EXPECT_EQ(op[6].dep, 2);  // and without length_dep the next one as well
  }
}

TEST(RamcloudSource, AllInstructionsAreCounted) {
  for (const char* mix : {"fixed:128", "12"}) {
    RamcloudOptions options = SmallOptions(mix, "poisson:7");
    const std::unique_ptr<RamcloudSource> source = MakeSource(options);
    for (int i = 0; i < 500; ++i) {
      uint64_t instructions = 0;
      int others = 0;
      for (const Record& record : NextOp(*source, 1)) {
        instructions += record.gap + record.IsAccess();
        others += record.cls == AccessClass::kStack;
      }
      ASSERT_EQ(instructions, options.op.instr_per_op);
      ASSERT_EQ(others, options.op.other_per_op);
    }
  }
}

TEST(RamcloudSource, BucketPrefetchMayBeOffAndPrefetchesMayBeReads) {
  RamcloudOptions options = SmallOptions("fixed:128", "exact:4");
  options.op.bucket_prefetch = false;
  options.op.prefetch_is_load = true;
  options.op.key_lead = 30;
  const std::unique_ptr<RamcloudSource> source = MakeSource(options);
  const std::vector<Record> op = NextOp(*source, 0);
  EXPECT_EQ(op[1].gap, 661u - 30);
  EXPECT_EQ(op[2].gap, 29u);
  EXPECT_EQ(op[2].size, 8);
  for (const Record& record : op) EXPECT_NE(record.kind, RecordKind::kPrefetch);
}

// All else is the same, whether puts announce their keys or not.
TEST(RamcloudSource, PutsMayKeepTheirKeysToThemselves) {
  RamcloudOptions options = SmallOptions("12", "poisson:4");
  const std::unique_ptr<RamcloudSource> told = MakeSource(options);
  options.op.put_key = false;
  const std::unique_ptr<RamcloudSource> untold = MakeSource(options);
  int puts = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<Record> with = NextOp(*told, 0);
    const std::vector<Record> without = NextOp(*untold, 0);
    ASSERT_EQ(with[1].kind, RecordKind::kKey);
    if (with[0].aux == static_cast<uint32_t>(OpType::kPut)) {
      ++puts;
      with[2].gap += with[1].gap;
      with.erase(with.begin() + 1);
    }
    ASSERT_EQ(with, without);
  }
  EXPECT_GT(puts, 50);
}

// Marks alone are those that there would have been among the records, and what follows is the same.
TEST(RamcloudSource, MarksAreThoseOfTheRecords) {
  RamcloudOptions options = SmallOptions("12", "poisson:7");
  const std::unique_ptr<RamcloudSource> whole = MakeSource(options);
  const std::unique_ptr<RamcloudSource> marks_only = MakeSource(options);
  ASSERT_TRUE(marks_only->has_marks());
  int slots = 0;
  for (int i = 0; i < 300; ++i) {
    const int core = i % whole->cores();
    std::vector<Record> of_records;
    for (const Record& record : NextOp(*whole, core)) {
      if (record.kind == RecordKind::kSlot || record.kind == RecordKind::kHit) {
        of_records.push_back(record);
        of_records.back().gap = 0;
        slots += record.kind == RecordKind::kSlot;
      }
    }
    std::vector<Record> marks;
    const Result<bool> is_there = marks_only->NextMarks(core, &marks);
    ASSERT_TRUE(is_there && is_there.value());
    ASSERT_EQ(marks, of_records);
  }
  EXPECT_GT(slots, 50);
  for (int core = 0; core < whole->cores(); ++core) {
    ASSERT_EQ(NextOp(*whole, core), NextOp(*marks_only, core));
  }
}

TEST(RamcloudSource, MarksEndWithTheOperations) {
  RamcloudOptions options = SmallOptions("1", "exact:4");
  options.ops = options.store.cores;
  const std::unique_ptr<RamcloudSource> source = MakeSource(options);
  std::vector<Record> marks;
  EXPECT_TRUE(source->NextMarks(0, &marks).value());
  EXPECT_FALSE(source->NextMarks(0, &marks).value());
}

// Plays all cores' records in the given order on the index, and checks what each of them says.
void CheckAgainstTable(RamcloudSource& source) {
  TableImage table = source.InitialTable();
  const StoreShape& shape = source.shape();
  for (;;) {
    size_t ended = 0;
    for (int core = 0; core < source.cores(); ++core) {
      const std::vector<Record> op = NextOp(source, core);
      if (op.empty()) {
        ++ended;
        continue;
      }
      const Record& key = op[1];
      const uint64_t bucket = key.addr / 64;
      ASSERT_LT(bucket, shape.buckets);
      const bool is_put = op[0].aux == static_cast<uint32_t>(OpType::kPut);
      const auto length = std::find_if(op.begin(), op.end(), [](const Record& record) {
        return record.cls == AccessClass::kObjectHead;
      });
      if (key.slot == kNoSlot) {
        ASSERT_TRUE(table.At(bucket, 7).is_chain);
        ASSERT_GE(table.At(bucket, 7).addr, shape.table_limit);
      } else {
        ASSERT_EQ(table.At(bucket, key.slot).addr, length->addr);
        ASSERT_EQ(table.At(bucket, key.slot).tag, key.tag);
        ASSERT_FALSE(table.At(bucket, key.slot).is_chain);
      }
      int slots = 0;
      uint64_t appended = 0;
      for (const Record& record : op) {
        slots += record.kind == RecordKind::kSlot;
        if (record.cls == AccessClass::kLogAppend) appended += record.size;
        if (record.IsAccess() && record.cls != AccessClass::kStack) {
          ASSERT_LE(record.addr + record.size, shape.log_limit);
        }
        table.Apply(record);
      }
      ASSERT_EQ(slots, is_put && key.slot != kNoSlot);
      ASSERT_EQ(appended > 0, is_put);
      if (key.slot != kNoSlot && is_put) {
        ASSERT_EQ(table.At(bucket, key.slot).bytes, appended);
      }
    }
    if (ended == static_cast<size_t>(source.cores())) return;
  }
}

TEST(RamcloudSource, RecordsAgreeWithTheIndex) {
  for (const char* util : {"exact:8", "poisson:7", "poisson:0.5"}) {
    for (const char* pop : {"uniform", "zipf:0.99", "latest"}) {
      RamcloudOptions options = SmallOptions("12", util);
      options.store.popularity = ParseKeyPopularity(pop).value();
      const std::unique_ptr<RamcloudSource> source = MakeSource(options);
      CheckAgainstTable(*source);
    }
  }
}

TEST(RamcloudSource, WhatACoreDoesDoesNotDependOnWhoIsAskedFirst) {
  RamcloudOptions options = SmallOptions("12", "poisson:4");
  options.store.popularity = ParseKeyPopularity("zipf:0.99").value();
  options.ops = 1003;
  std::vector<std::vector<Record>> by_rounds(4);
  std::vector<std::vector<Record>> by_cores(4);
  const std::unique_ptr<RamcloudSource> first = MakeSource(options);
  for (bool any = true; any;) {
    any = false;
    for (int core = 0; core < 4; ++core) {
      Record record;
      if (!first->Next(core, &record).value()) continue;
      by_rounds[static_cast<size_t>(core)].push_back(record);
      any = true;
    }
  }
  const std::unique_ptr<RamcloudSource> second = MakeSource(options);
  for (int core = 3; core >= 0; --core) {
    Record record;
    while (second->Next(core, &record).value()) {
      by_cores[static_cast<size_t>(core)].push_back(record);
    }
  }
  EXPECT_EQ(by_rounds, by_cores);
  EXPECT_EQ(first->InitialTable(), second->InitialTable());  // puts don't change it
  const auto ends = [](const std::vector<Record>& records) {
    return std::count_if(records.begin(), records.end(),
                         [](const Record& record) { return record.kind == RecordKind::kOpEnd; });
  };
  EXPECT_EQ(ends(by_rounds[0]), 251);
  EXPECT_EQ(ends(by_rounds[3]), 250);
  options.store.seed += 1;
  const std::unique_ptr<RamcloudSource> other = MakeSource(options);
  EXPECT_NE(NextOp(*other, 0), NextOp(*MakeSource(SmallOptions("12", "poisson:4")), 0));
}

TEST(RamcloudSource, AFullLogIsAnError) {
  RamcloudOptions options = SmallOptions("12", "exact:1");
  options.store.memory_bytes = 16 << 20;
  options.ops = 1'000'000;
  const std::unique_ptr<RamcloudSource> source = MakeSource(options);
  Record record;
  for (;;) {
    const Result<bool> next = source->Next(0, &record);
    if (next) {
      ASSERT_TRUE(next.value());
      continue;
    }
    EXPECT_EQ(next.error().code(), Code::kNoMemory);
    EXPECT_NE(next.error().ToString().find("log of"), std::string::npos);
    break;
  }
}

TEST(RamcloudSource, RefusesWhatIsNotPossible) {
  const auto error_of = [](auto change) {
    RamcloudOptions options = SmallOptions("12", "exact:1");
    change(options);
    const Result<std::unique_ptr<RamcloudSource>> source = RamcloudSource::Make(options);
    return source ? std::string() : source.error().ToString();
  };
  const auto expect = [&](auto change, const char* what) {
    EXPECT_NE(error_of(change).find(what), std::string::npos) << error_of(change);
  };
  expect([](RamcloudOptions& o) { o.store.cores = 0; }, "0 cores");
  expect([](RamcloudOptions& o) { o.store.buckets = 0; }, "0 buckets");
  expect([](RamcloudOptions& o) { o.store.buckets = 2; }, "too few");
  expect([](RamcloudOptions& o) { o.store.memory_bytes = 1 << 20; }, "don't fit");
  expect([](RamcloudOptions& o) { o.store.memory_bytes = 9 << 20; }, "don't fit");
  expect([](RamcloudOptions& o) { o.store.key_bytes = 0; }, "keys of 0 bytes");
  expect([](RamcloudOptions& o) { o.store.utilization = {}; }, "a bucket");  // 1 GiB, 2^10 buckets
  expect([](RamcloudOptions& o) { o.ops = 0; }, "no operations");
  expect([](RamcloudOptions& o) { o.op.key_lead = 0; }, "a key 0 instructions");
  expect([](RamcloudOptions& o) { o.op.other_per_op = -1; }, "-1 other");
  expect([](RamcloudOptions& o) { o.op.instr_per_op = 0; }, "0 instructions");
}

}  // namespace
}  // namespace weft::sim
