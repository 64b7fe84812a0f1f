#include <gtest/gtest.h>

#include "compaction/job.h"
#include "compaction/job_test_kit.h"

namespace weft::compaction {
namespace {

OutputTable Describe(const JobTable& table, uint64_t entries) {
  OutputTable output;
  output.number = table.number;
  output.path = table.path;
  output.bytes = table.bytes;
  output.entries = entries;
  output.smallest = table.smallest;
  output.largest = table.largest;
  return output;
}

TestEntries ManyEntries() {
  TestEntries entries;
  for (int i = 0; i < 100; i++) entries.push_back(Put("key" + std::to_string(1000 + i), 5));
  return entries;
}

TEST(VerifyTable, PassesAWholeTable) {
  for (const Compression compression :
       {Compression::kNone, Compression::kSnappy, Compression::kZstd}) {
    JobKit kit;
    kit.job().format.compression = compression;
    kit.job().format.block_size = 100;
    const OutputTable output = Describe(kit.WriteTable(ManyEntries()), 100);
    const Status status = VerifyTable(kit.job(), output);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
}

TEST(VerifyTable, FindsCountAndEndsThatDiffer) {
  JobKit kit;
  const OutputTable right = Describe(kit.WriteTable(ManyEntries()), 100);
  OutputTable wrong = right;
  wrong.entries = 99;
  EXPECT_EQ(Code::kCorruption, VerifyTable(kit.job(), wrong).code());
  wrong = right;
  wrong.smallest = Put("key1000", 4).key;
  EXPECT_EQ(Code::kCorruption, VerifyTable(kit.job(), wrong).code());
  wrong = right;
  wrong.largest = Put("key1099", 4).key;
  EXPECT_EQ(Code::kCorruption, VerifyTable(kit.job(), wrong).code());
  wrong = right;
  wrong.bytes++;
  EXPECT_EQ(Code::kCorruption, VerifyTable(kit.job(), wrong).code());
}

TEST(VerifyTable, FindsKeysOutOfOrder) {
  for (const size_t block_size : {size_t{1}, size_t{4096}}) {
    for (const int interval : {1, 16}) {
      JobKit kit;
      kit.job().format.block_size = block_size;
      kit.job().format.block_restart_interval = interval;
      const std::vector<TestEntries> all = {
          {Put("b", 1), Put("a", 1)},         {Put("a", 1), Put("a", 1)},
          {Put("a", 1), Put("a", 2)},         {Put("ab", 1), Put("a", 1)},
          {Put("a\x80", 1), Put("a\x7f", 1)},
      };
      for (const TestEntries& entries : all) {
        const OutputTable output = Describe(kit.WriteTable(entries), entries.size());
        EXPECT_EQ(Code::kCorruption, VerifyTable(kit.job(), output).code());
      }
    }
  }
}

TEST(VerifyTable, FindsEveryFlippedByte) {
  JobKit kit;
  const auto bloom = NewBloomFilterPolicy(10);
  const table::InternalFilterPolicy policy(bloom);
  kit.job().format.filter = &policy;
  kit.job().format.block_size = 300;
  const OutputTable output = Describe(kit.WriteTable(ManyEntries()), 100);
  uint64_t missed = 0;
  for (uint64_t at = 0; at < output.bytes; at++) {
    ASSERT_TRUE(kit.files().FlipBits(output.path, at, 0x10).ok());
    const Status status = VerifyTable(kit.job(), output);
    if (status.ok()) missed++;
    EXPECT_TRUE(status.ok() || status.message().find(output.path) != std::string::npos);
    ASSERT_TRUE(kit.files().FlipBits(output.path, at, 0x10).ok());
  }
  EXPECT_LE(missed, table::kFooterBytes);  // its padding
}

// What is missing was written a moment ago: no caller may take it for a key that is not there.
TEST(VerifyTable, AMissingFileIsDamage) {
  JobKit kit;
  OutputTable output;
  output.path = "/missing";
  EXPECT_EQ(Code::kCorruption, VerifyTable(kit.job(), output).code());
}

}  // namespace
}  // namespace weft::compaction
