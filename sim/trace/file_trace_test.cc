#include "sim/trace/file_trace.h"

#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/folder_test_kit.h"
#include "base/seed_test_kit.h"
#include "sim/base/text_test_kit.h"

namespace weft::sim {
namespace {

constexpr uint64_t kMemoryBytes = uint64_t{1} << 30;
constexpr uint64_t kBuckets = 100;

class ListSource : public TraceSource {
 public:
  ListSource(std::vector<std::vector<Record>> records, TableImage table)
      : records_(std::move(records)), at_(records_.size()), table_(std::move(table)) {
    shape_.table_base = 4096;
    shape_.table_limit = shape_.table_base + kBuckets * 64;
    shape_.log_base = 1 << 20;
    shape_.log_limit = kMemoryBytes;
    shape_.buckets = kBuckets;
    shape_.object_overhead_bytes = 52;
    shape_.long_object_bytes = 256;
  }
  int cores() const override { return static_cast<int>(records_.size()); }
  const StoreShape& shape() const override { return shape_; }
  TableImage InitialTable() const override { return table_; }
  Result<bool> Next(int core, Record* record) override {
    const auto index = static_cast<size_t>(core);
    if (at_[index] == records_[index].size()) return false;
    *record = records_[index][at_[index]++];
    return true;
  }

 private:
  std::vector<std::vector<Record>> records_;
  std::vector<size_t> at_;
  TableImage table_;
  StoreShape shape_;
};

Record RandomRecord(std::mt19937_64& random, uint64_t accesses) {
  Record record;
  record.kind = static_cast<RecordKind>(random() % kRecordKinds);
  record.cls = static_cast<AccessClass>(random() % kAccessClasses);
  record.size = static_cast<uint16_t>(1 + random() % 600);
  record.addr = random() % (kMemoryBytes - record.size);
  record.gap = static_cast<uint32_t>(random());
  record.tag = static_cast<uint16_t>(random());
  record.slot = static_cast<uint8_t>(random() % 8);
  record.dep = static_cast<uint8_t>(random() % (1 + std::min<uint64_t>(accesses, 255)));
  record.aux = record.kind == RecordKind::kOpBegin ? static_cast<uint32_t>(random() % 2)
                                                   : static_cast<uint32_t>(random() % kBuckets);
  return record;
}

std::vector<Record> RandomRecords(std::mt19937_64& random, size_t count) {
  std::vector<Record> records;
  RecordsBefore before;
  for (size_t i = 0; i < count; ++i) {
    Record record = RandomRecord(random, before.accesses);
    if (record.kind == RecordKind::kOpEnd && before.open_ops == 0) {
      record.kind = RecordKind::kOpBegin;
      record.aux = 0;
    }
    before.Add(record);
    records.push_back(record);
  }
  return records;
}

TableImage RandomTable(std::mt19937_64& random) {
  TableImage table(kBuckets, 8);
  for (uint64_t bucket = 0; bucket < kBuckets; ++bucket) {
    for (int slot = 0; slot < 8; ++slot) {
      if (random() % 2 == 0) continue;
      table.At(bucket, slot) = {.addr = random() % (kMemoryBytes - 600),
                                .bytes = static_cast<uint32_t>(1 + random() % 600),
                                .tag = static_cast<uint16_t>(random()),
                                .is_chain = random() % 8 == 0};
    }
  }
  return table;
}

class FileTraceTest : public testing::Test {
 protected:
  std::string Folder() const { return folder_.path() + "/trace"; }
  std::string Core(int core) const { return Folder() + "/core-" + std::to_string(core) + ".trace"; }

  void Write(std::vector<std::vector<Record>> records, uint64_t most = UINT64_MAX) {
    ListSource source(std::move(records), table_);
    const Status status = WriteTrace(source, Folder(), most);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  static void Spill(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  // What opening and reading all of it says.
  std::string Read() const {
    auto trace = FileTrace::Open(Folder(), kMemoryBytes);
    if (!trace) return trace.error().ToString();
    for (int core = 0; core < (*trace)->cores(); ++core) {
      Record record;
      for (;;) {
        Result<bool> more = (*trace)->Next(core, &record);
        if (!more) return more.error().ToString();
        if (!*more) break;
      }
    }
    return "";
  }
  void ExpectFault(const std::string& path, const std::string& what) const {
    const std::string said = Read();
    EXPECT_NE(said.find(path), std::string::npos) << said;
    EXPECT_NE(said.find(what), std::string::npos) << said;
  }
  // Core 0's third record of five is this one.
  void ExpectBadRecord(const Record& record, const std::string& what) {
    const Record good{.addr = 4096, .size = 8};
    Write({{good, good, record, good, good}});
    ExpectFault(Core(0), "record 3: " + what);
  }

  std::mt19937_64 random_{base::TestSeed()};
  base::TestFolder folder_;
  TableImage table_ = RandomTable(random_);
};

TEST_F(FileTraceTest, ReadsWhatWasWritten) {
  const std::vector<std::vector<Record>> records = {
      RandomRecords(random_, 150'000), {}, RandomRecords(random_, 1)};
  Write(records);
  auto trace = FileTrace::Open(Folder(), kMemoryBytes);
  ASSERT_TRUE(trace) << trace.error().ToString();
  EXPECT_EQ((*trace)->cores(), 3);
  EXPECT_EQ((*trace)->InitialTable(), table_);
  EXPECT_EQ((*trace)->shape(), ListSource({}, table_).shape());
  for (int core = 2; core >= 0; --core) {
    std::vector<Record> read;
    for (Record record; (*trace)->Next(core, &record).value();) read.push_back(record);
    EXPECT_EQ(read, records[static_cast<size_t>(core)]);
    EXPECT_EQ((*trace)->records(core), read.size());
  }
}

TEST_F(FileTraceTest, WritesNoMoreThanIsAskedFor) {
  const std::vector<Record> records = RandomRecords(random_, 100);
  Write({records}, 7);
  auto trace = FileTrace::Open(Folder(), kMemoryBytes);
  ASSERT_TRUE(trace);
  EXPECT_EQ((*trace)->records(0), 7u);
}

TEST_F(FileTraceTest, KnowsFilesThatWereCutShort) {
  Write({RandomRecords(random_, 10)});
  const std::string whole = TextOf(Core(0));
  for (const size_t bytes : {whole.size() - 1, whole.size() - 24, whole.size() - 25}) {
    Spill(Core(0), whole.substr(0, bytes));
    const size_t held = (bytes - 64) / 24;
    ExpectFault(Core(0), "record " + std::to_string(held + 1) + " of 10 is cut short or missing");
  }
  Spill(Core(0), whole.substr(0, 63));
  ExpectFault(Core(0), "cut short in its header: 63 of 64 bytes");
  Spill(Core(0), whole + "x");
  ExpectFault(Core(0), "bytes after the last record");
  Spill(Core(0), whole);
  EXPECT_EQ(Read(), "");
  const std::string layout = TextOf(Folder() + "/layout.bin");
  Spill(Folder() + "/layout.bin", layout.substr(1));
  ExpectFault("layout.bin", "slots have");
}

TEST_F(FileTraceTest, KnowsHeadersThatAreNone) {
  Write({RandomRecords(random_, 3), RandomRecords(random_, 3)});
  const std::string whole = TextOf(Core(1));
  const auto expect = [&](size_t at, char byte, const std::string& what) {
    std::string changed = whole;
    changed[at] = byte;
    Spill(Core(1), changed);
    ExpectFault(Core(1), what);
  };
  expect(0, 'k', "it must begin with KVTRACE1");
  expect(8, 2, "it has version 2, but this program reads 1");
  expect(12, 0, "it is core 0's");
  expect(12, 7, "core 7 of 2");
  expect(14, 9, "buckets of 9 slots");
  expect(52, 1, "another trace");
  expect(51, 1, "buckets are not within");
  expect(56, 4, "record 4 of 4 is cut short or missing");
  expect(63, 1, "is cut short or missing");
  std::filesystem::remove(Core(1));
  ExpectFault(Core(1), "open");
}

TEST_F(FileTraceTest, KnowsAnOperationThatEndsTwice) {
  const Record begin{.kind = RecordKind::kOpBegin};
  const Record end{.kind = RecordKind::kOpEnd};
  Write({{begin, begin, end, end, begin}, {begin, end, end}});
  ExpectFault(Core(1), "record 3: the end of an operation that hasn't begun");
}

TEST_F(FileTraceTest, KnowsALogBeyondTheMemory) {
  Write({{}});
  ASSERT_EQ(Read(), "");
  EXPECT_NE(FileTrace::Open(Folder(), kMemoryBytes - 1)
                .error()
                .ToString()
                .find("core-0.trace: a log of 0x100000 to 0x40000000, in a memory of 0x3fffffff"),
            std::string::npos);
}

TEST_F(FileTraceTest, KnowsRecordsThatCannotBe) {
  using enum RecordKind;
  Record bad{.addr = 4096, .size = 8, .kind = static_cast<RecordKind>(9)};
  ExpectBadRecord(bad, "unknown kind 9");
  ExpectBadRecord({.addr = 4096, .size = 8, .cls = static_cast<AccessClass>(7)}, "unknown class 7");
  ExpectBadRecord({.addr = 4096, .size = 0}, "an access of no bytes");
  ExpectBadRecord({.addr = kMemoryBytes - 7, .size = 8}, "8 bytes at 0x3ffffff9 are not in");
  ExpectBadRecord({.addr = UINT64_MAX, .size = 8}, "8 bytes at 0xffffffffffffffff are not in");
  ExpectBadRecord({.addr = 4096, .size = 8, .dep = 3}, "it waits for the access 3 before it");
  ExpectBadRecord({.kind = kOpBegin, .aux = 2}, "unknown operation 2");
  ExpectBadRecord({.kind = kOpEnd}, "the end of an operation that hasn't begun");
  ExpectBadRecord({.addr = 4096, .kind = kKey, .slot = 8}, "slot 8 does not exist");
  ExpectBadRecord({.kind = kHit, .aux = kBuckets, .slot = 0}, "bucket 100 does not exist");
  ExpectBadRecord({.kind = kHit, .aux = 0, .slot = 8}, "slot 8 does not exist");
  ExpectBadRecord({.addr = 4096, .size = 8, .kind = kSlot, .aux = 0}, "slot 255 does not exist");
  ExpectBadRecord({.addr = kMemoryBytes, .size = 8, .kind = kSlot, .aux = 0, .slot = 0},
                  "8 bytes at 0x40000000 are not in");
  ExpectBadRecord({.addr = kMemoryBytes, .size = 64, .kind = kChain, .aux = 0, .slot = 0},
                  "64 bytes at 0x40000000 are not in");
}

TEST_F(FileTraceTest, KnowsLayoutsThatCannotBe) {
  table_.At(1, 2) = {.addr = kMemoryBytes - 4, .bytes = 5};
  Write({{}});
  ExpectFault("layout.bin", "slot 11: 5 bytes at 0x3ffffffc are not in");
}

TEST_F(FileTraceTest, SaysWhereItCannotWrite) {
  Spill(Folder(), "a file");
  ListSource source({{}}, table_);
  const Status status = WriteTrace(source, Folder(), 1);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.ToString().find(Folder()), std::string::npos) << status.ToString();
}

}  // namespace
}  // namespace weft::sim
