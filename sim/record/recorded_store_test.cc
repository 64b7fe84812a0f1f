// What a query does to memory, record by record; that recording changes nothing and repeats.

#include "sim/record/recorded_store.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/seed_test_kit.h"
#include "task/index.h"

namespace weft::sim {
namespace {

using base::TestSeed;
using testing::HasSubstr;

RecordingOptions Options(IndexPolicy policy = IndexPolicy::kCuckoo) {
  RecordingOptions options;
  options.workload.ids = 2000;
  options.workload.values = {{.bytes = 300, .share = 1}};
  options.workload.seed = TestSeed();
  options.ops = 400;
  options.batch = 1;
  options.prefetches = false;
  options.policy = policy;
  return options;
}

std::unique_ptr<RecordedStore> Opened(const RecordingOptions& options) {
  auto store = RecordedStore::Open(options);
  EXPECT_TRUE(store) << store.error().ToString();
  return std::move(store.value());
}

// All records of each core.
std::vector<std::vector<Record>> Play(RecordedStore& store) {
  std::vector<std::vector<Record>> records(static_cast<size_t>(store.cores()));
  for (int core = 0; core < store.cores(); ++core) {
    Record record;
    while (true) {
      const Result<bool> next = store.Next(core, &record);
      EXPECT_TRUE(next) << next.error().ToString();
      if (!next || !next.value()) break;
      records[static_cast<size_t>(core)].push_back(record);
    }
  }
  return records;
}

// A core's records from each kOpBegin to its kOpEnd, where the operations don't overlap.
std::vector<std::vector<Record>> Operations(const std::vector<Record>& records) {
  std::vector<std::vector<Record>> operations;
  bool is_inside = false;
  for (const Record& record : records) {
    if (record.kind == RecordKind::kOpBegin) {
      operations.emplace_back();
      is_inside = true;
    }
    if (is_inside) operations.back().push_back(record);
    if (record.kind == RecordKind::kOpEnd) is_inside = false;
  }
  return operations;
}

std::vector<Record> Accesses(const std::vector<Record>& operation, RecordKind kind,
                             AccessClass cls) {
  std::vector<Record> found;
  std::copy_if(operation.begin(), operation.end(), std::back_inserter(found),
               [&](const Record& each) { return each.kind == kind && each.cls == cls; });
  return found;
}

std::vector<Record> Marks(const std::vector<Record>& operation, RecordKind kind) {
  std::vector<Record> found;
  std::copy_if(operation.begin(), operation.end(), std::back_inserter(found),
               [&](const Record& each) { return each.kind == kind; });
  return found;
}

// Lines in the order in which they are first accessed.
std::vector<uint64_t> Lines(const std::vector<Record>& accesses) {
  std::vector<uint64_t> lines;
  for (const Record& record : accesses) {
    const uint64_t line = record.addr / 64;
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
  return lines;
}

size_t FirstOf(const std::vector<Record>& operation, AccessClass cls) {
  for (size_t i = 0; i < operation.size(); ++i) {
    if (operation[i].kind == RecordKind::kRead && operation[i].cls == cls) return i;
  }
  return operation.size();
}

class RecordedStoreTest : public testing::TestWithParam<IndexPolicy> {};

INSTANTIATE_TEST_SUITE_P(Policies, RecordedStoreTest,
                         testing::Values(IndexPolicy::kCuckoo, IndexPolicy::kSetAssociative));

TEST_P(RecordedStoreTest, AGetReadsBucketThenHeadThenBody) {
  const auto store = Opened(Options(GetParam()));
  const TableImage table = store->InitialTable();
  const StoreShape& shape = store->shape();
  int found = 0;
  for (const std::vector<Record>& get : Operations(Play(*store)[0])) {
    const std::vector<Record> hits = Marks(get, RecordKind::kHit);
    const auto hit = std::find_if(hits.begin(), hits.end(),
                                  [](const Record& each) { return each.slot != kNoSlot; });
    if (hit == hits.end()) continue;  // dropped from a full set
    ++found;
    const TableSlot& slot = table.At(hit->aux, hit->slot);
    ASSERT_TRUE(slot.has_object());
    const std::vector<uint64_t> buckets =
        Lines(Accesses(get, RecordKind::kRead, AccessClass::kBucket));
    EXPECT_EQ(buckets.back(), shape.table_base / 64 + hit->aux);
    EXPECT_LE(buckets.size(), 2u);
    const std::vector<Record> head = Accesses(get, RecordKind::kRead, AccessClass::kObjectHead);
    const std::vector<Record> body = Accesses(get, RecordKind::kRead, AccessClass::kObjectBody);
    const auto begins = std::count_if(head.begin(), head.end(),
                                      [&](const Record& each) { return each.addr == slot.addr; });
    EXPECT_GE(begins, 1);
    // The body is the value: one behind the other, up to the filler.
    uint64_t next = slot.addr + static_cast<uint64_t>(shape.object_overhead_bytes);
    for (const Record& record : body) {
      EXPECT_EQ(record.addr, next);
      EXPECT_LE(record.addr % 64 + record.size, 64u);
      next += record.size;
    }
    EXPECT_EQ((next + 7) / 8 * 8, slot.addr + slot.bytes);
    EXPECT_LT(FirstOf(get, AccessClass::kBucket), FirstOf(get, AccessClass::kObjectHead));
    EXPECT_LT(FirstOf(get, AccessClass::kObjectHead), FirstOf(get, AccessClass::kObjectBody));
    EXPECT_TRUE(Accesses(get, RecordKind::kWrite, AccessClass::kLogAppend).empty());
  }
  EXPECT_GT(found, 300);
}

TEST_P(RecordedStoreTest, AMissReadsBothBuckets) {
  RecordingOptions options = Options(GetParam());
  options.workload.miss_share = 1;
  const auto store = Opened(options);
  const auto operations = Operations(Play(*store)[0]);
  ASSERT_EQ(operations.size(), 400u);
  EXPECT_EQ(store->answers().hits, 0);
  const bool is_cuckoo = GetParam() == IndexPolicy::kCuckoo;
  for (const std::vector<Record>& get : operations) {
    const std::vector<Record> keys = Marks(get, RecordKind::kKey);
    ASSERT_FALSE(keys.empty());
    std::vector<uint64_t> buckets = {keys[0].addr / 64};
    const uint64_t other = task::OtherBucket(is_cuckoo ? kPolicyCuckoo : kPolicySetAssociative,
                                             buckets[0], keys[0].tag, store->shape().buckets);
    if (other != buckets[0]) buckets.push_back(other);  // few have one bucket twice
    EXPECT_EQ(Lines(Accesses(get, RecordKind::kRead, AccessClass::kBucket)), buckets);
    EXPECT_EQ(Lines(keys), buckets);
    EXPECT_TRUE(Accesses(get, RecordKind::kRead, AccessClass::kObjectBody).empty());
    for (const Record& key : keys) EXPECT_EQ(key.slot, kNoSlot);
    const std::vector<Record> hits = Marks(get, RecordKind::kHit);
    EXPECT_EQ(hits.size(), keys.size());
    for (const Record& hit : hits) EXPECT_EQ(hit.slot, kNoSlot);
  }
}

TEST_P(RecordedStoreTest, ASetAppendsAndChangesItsSlot) {
  RecordingOptions options = Options(GetParam());
  options.workload.get_share = 0;
  const auto store = Opened(options);
  TableImage table = store->InitialTable();
  const auto operations = Operations(Play(*store)[0]);
  ASSERT_EQ(operations.size(), 400u);
  EXPECT_EQ(store->answers().stored, 400);
  for (const std::vector<Record>& set : operations) {
    const std::vector<Record> appends = Accesses(set, RecordKind::kWrite, AccessClass::kLogAppend);
    ASSERT_FALSE(appends.empty());
    uint64_t next = appends.front().addr;
    for (const Record& append : appends) {
      EXPECT_EQ(append.addr, next);
      next += append.size;
    }
    const std::vector<Record> changes = Marks(set, RecordKind::kSlot);
    const auto is_of_new = [&](const Record& each) {
      return each.addr == appends.front().addr && each.size == next - appends.front().addr;
    };
    EXPECT_EQ(std::count_if(changes.begin(), changes.end(), is_of_new), 1);
    for (const Record& change : changes) table.Apply(change);
  }
  EXPECT_EQ(table, store->TableNow());
}

TEST_P(RecordedStoreTest, TheTableFollowsTheIndexWithManyCoresAndEvictions) {
  RecordingOptions options = Options(GetParam());
  options.workload.ids = 20'000;
  options.workload.get_share = 0.5;
  options.workload.miss_share = 0.1;
  options.memory_bytes = uint64_t{16} << 20;
  options.cores = 3;
  options.batch = 8;
  options.prefetches = true;
  options.ops = 90'000;
  const auto store = Opened(options);
  TableImage table = store->InitialTable();
  // In the order in which the batches ran: eight operations of each core.
  std::vector<std::vector<Record>> cores = Play(*store);
  std::vector<size_t> next(cores.size());
  uint64_t slots = 0;
  for (bool has_any = true; has_any;) {
    has_any = false;
    for (size_t core = 0; core < cores.size(); ++core) {
      int ended = 0;
      // Housekeeping follows the batch's last kOpEnd, up to the next one's first kOpBegin.
      for (; next[core] < cores[core].size(); ++next[core]) {
        const Record& record = cores[core][next[core]];
        if (ended == 8 && record.kind == RecordKind::kOpBegin) break;
        ended += record.kind == RecordKind::kOpEnd;
        slots += record.kind == RecordKind::kSlot;
        table.Apply(record);
        has_any = true;
      }
    }
  }
  EXPECT_GT(slots, 45'000u);
  EXPECT_LT(store->answers().hits, store->answers().gets);
  EXPECT_EQ(table, store->TableNow());
}

TEST_P(RecordedStoreTest, EveryAddressIsInItsArena) {
  RecordingOptions options = Options(GetParam());
  options.workload.get_share = 0.5;
  options.batch = 16;
  options.cores = 2;
  options.prefetches = true;
  const auto store = Opened(options);
  const StoreShape& shape = store->shape();
  EXPECT_EQ(shape.table_base, 0u);
  EXPECT_EQ(shape.table_limit, shape.buckets * 64);
  EXPECT_GE(shape.log_base, shape.table_limit);
  for (const std::vector<Record>& records : Play(*store)) {
    uint64_t accesses = 0;
    for (const Record& record : records) {
      if (!record.IsAccess()) continue;
      ++accesses;
      ASSERT_GT(record.size, 0);
      ASSERT_LE(record.addr % 64 + record.size, 64u);
      ASSERT_LT(record.dep, accesses);
      const bool is_in_table = record.addr < shape.table_limit;
      const bool is_in_log = record.addr >= shape.log_base && record.addr < shape.log_limit;
      ASSERT_EQ(record.cls == AccessClass::kBucket, is_in_table);
      ASSERT_EQ(record.cls == AccessClass::kObjectHead || record.cls == AccessClass::kObjectBody ||
                    record.cls == AccessClass::kLogAppend,
                is_in_log);
      ASSERT_LT(record.addr, store->recorder().arenas().limit());
    }
  }
  EXPECT_EQ(store->recorder().left_out(), 0u);
}

TEST_P(RecordedStoreTest, PrefetchesComeAheadOfReads) {
  RecordingOptions options = Options(GetParam());
  options.batch = 32;
  const auto without = Opened(options);
  options.prefetches = true;
  const auto with = Opened(options);
  const auto plain = Play(*without)[0];
  const auto records = Play(*with)[0];
  const auto count = [](const std::vector<Record>& all, AccessClass cls) {
    return Accesses(all, RecordKind::kPrefetch, cls).size();
  };
  EXPECT_EQ(count(plain, AccessClass::kBucket) + count(plain, AccessClass::kObjectHead), 0u);
  // One bucket each, the other one where that had no candidate; the object's lines.
  EXPECT_GE(count(records, AccessClass::kBucket), 400u);
  EXPECT_GE(count(records, AccessClass::kObjectHead), 380u);
  EXPECT_GE(count(records, AccessClass::kObjectBody), 4 * 380u);
  // All keys and all buckets of a batch come before the first object of it.
  size_t at = 0;
  for (int buckets = 0; records[at].cls != AccessClass::kObjectHead; ++at) {
    buckets += records[at].kind == RecordKind::kPrefetch && records[at].cls == AccessClass::kBucket;
    ASSERT_LE(buckets, 64);
  }
  EXPECT_GE(
      Marks({records.begin(), records.begin() + static_cast<int64_t>(at)}, RecordKind::kKey).size(),
      32u);
}

TEST_P(RecordedStoreTest, ObjectsWaitForTheirBucketAndBodiesForTheirHead) {
  const auto store = Opened(Options(GetParam()));
  const auto records = Play(*store)[0];
  std::vector<Record> accesses;
  uint64_t heads = 0;
  uint64_t bodies = 0;
  for (const Record& record : records) {
    if (record.IsAccess()) accesses.push_back(record);
    if (record.kind != RecordKind::kRead || record.dep == 0) continue;
    const Record& producer = accesses[accesses.size() - 1 - record.dep];
    EXPECT_EQ(producer.kind, RecordKind::kRead);
    if (record.cls == AccessClass::kObjectHead) {
      EXPECT_EQ(producer.cls, AccessClass::kBucket);
      ++heads;
    } else {
      EXPECT_EQ(record.cls, AccessClass::kObjectBody);
      EXPECT_EQ(producer.cls, AccessClass::kObjectHead);
      EXPECT_EQ(producer.size, 8);
      ++bodies;
    }
  }
  EXPECT_GE(heads, 400u);
  EXPECT_GE(bodies, 1500u);
}

TEST_P(RecordedStoreTest, AnOperationTakesTheInstructionsThatItIsGiven) {
  RecordingOptions options = Options(GetParam());
  options.gaps.ops_total = 3000;
  const auto store = Opened(options);
  Play(*store);
  EXPECT_EQ(store->recorder().instructions(), 400u * 3000);
}

TEST_P(RecordedStoreTest, SameSeedSameRecordsInWhateverOrder) {
  RecordingOptions options = Options(GetParam());
  options.workload.get_share = 0.7;
  options.workload.zipf_theta = 0.99;
  options.workload.values = {{.bytes = 100, .share = 1}, {.bytes = 700, .share = 2}};
  options.cores = 2;
  options.batch = 8;
  options.prefetches = true;
  const auto first = Opened(options);
  const auto second = Opened(options);
  EXPECT_EQ(first->InitialTable(), second->InitialTable());
  std::vector<std::vector<Record>> in_turns(2);
  Record record;
  for (bool has_any = true; has_any;) {
    has_any = false;
    for (int core = 1; core >= 0; --core) {
      if (!second->Next(core, &record).value()) continue;
      in_turns[static_cast<size_t>(core)].push_back(record);
      has_any = true;
    }
  }
  EXPECT_EQ(Play(*first), in_turns);
  options.workload.seed += 1;
  EXPECT_NE(Play(*Opened(options)), in_turns);
}

TEST_P(RecordedStoreTest, RecordingMovesNothing) {
  RecordingOptions options = Options(GetParam());
  options.workload.get_share = 0.3;
  options.batch = 8;
  options.ops = 8000;
  const auto recorded = Opened(options);
  options.records = false;
  const auto unrecorded = Opened(options);
  EXPECT_GT(Play(*recorded)[0].size(), 8000u);
  EXPECT_TRUE(Play(*unrecorded)[0].empty());
  EXPECT_EQ(unrecorded->answers().gets + unrecorded->answers().sets, 8000);
  EXPECT_NE(recorded->TableNow(), recorded->InitialTable());
  EXPECT_EQ(recorded->TableNow(), unrecorded->TableNow());
}

TEST(RecordedStoreOptions, WrongOnesAreRefusedByName) {
  const auto why = [](auto change) {
    RecordingOptions options = Options();
    change(options);
    const auto store = RecordedStore::Open(options);
    return store ? std::string("opened") : store.error().ToString();
  };
  EXPECT_THAT(why([](auto& o) { o.batch = 33; }), HasSubstr("batch: 33 is not from 1 to 32"));
  EXPECT_THAT(why([](auto& o) { o.batch = 0; }), HasSubstr("batch: 0"));
  EXPECT_THAT(why([](auto& o) { o.cores = 0; }), HasSubstr("cores: 0"));
  EXPECT_THAT(why([](auto& o) { o.load = 0.9; }), HasSubstr("load: 0.9"));
  EXPECT_THAT(why([](auto& o) { o.workload.key_bytes = 4; }), HasSubstr("key bytes: 4"));
  EXPECT_THAT(why([](auto& o) { o.workload.values = {{.bytes = 70'000, .share = 1}}; }),
              HasSubstr("values: 70000"));
  EXPECT_THAT(why([](auto& o) { o.workload.zipf_theta = 1; }), HasSubstr("zipf: 1"));
  EXPECT_THAT(why([](auto& o) { o.workload.ids = 1; }), HasSubstr("records: 1"));
}

TEST(ParseValues, ReadsSizesAndShares) {
  const auto values = ParseValues("128:70,256:20.5,512");
  ASSERT_TRUE(values);
  ASSERT_EQ(values.value().size(), 3u);
  EXPECT_EQ(values.value()[1].bytes, 256u);
  EXPECT_EQ(values.value()[1].share, 20.5);
  EXPECT_EQ(values.value()[2].share, 1);
  for (const char* wrong : {"", "a", "128:", "128,", "128:x", "-1", ",128"}) {
    EXPECT_FALSE(ParseValues(wrong)) << wrong;
  }
}

TEST(StoreWorkloadTest, ValuesHaveTheirSharesAndQueriesTheirs) {
  StoreWorkloadOptions options;
  options.ids = 20'000;
  options.values = {{.bytes = 100, .share = 3}, {.bytes = 200, .share = 1}};
  options.get_share = 0.6;
  options.seed = TestSeed();
  const StoreWorkload workload = StoreWorkload::Make(options).value();
  std::string value;
  double bytes = 0;
  for (uint64_t id = 0; id < options.ids; ++id) {
    workload.WriteValue(id, &value);
    bytes += static_cast<double>(value.size());
  }
  EXPECT_NEAR(bytes / 20'000, 125, 2);
  StoreWorkload::Queries queries(&workload, 0);
  int gets = 0;
  for (int i = 0; i < 20'000; ++i) gets += queries.Draw().is_get;
  EXPECT_NEAR(gets, 12'000, 400);
}

}  // namespace
}  // namespace weft::sim
