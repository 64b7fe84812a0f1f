#include <gtest/gtest.h>

#include "compaction/job.h"
#include "compaction/random_job_test_kit.h"
#include "table/table.h"
#include "table/table_iterator.h"

namespace weft::compaction {
namespace {

// All entries of the outputs, in order, as the table room reads them.
TestEntries EntriesOf(JobKit* kit, const std::vector<OutputTable>& outputs) {
  TestEntries entries;
  for (const OutputTable& output : outputs) {
    auto file = kit->files().NewRandomAccessFile(output.path);
    EXPECT_TRUE(file.has_value());
    auto table =
        table::Table::Open({.order = &kit->order()}, std::move(*file), output.bytes, output.path);
    EXPECT_TRUE(table.has_value());
    const auto walk = (*table)->NewIterator({});
    for (walk->SeekToFirst(); walk->Valid(); walk->Next()) {
      entries.push_back({std::string(walk->key()), std::string(walk->value())});
    }
    EXPECT_TRUE(walk->status().ok());
  }
  return entries;
}

// Two runs of about a mebibyte each, with several versions of keys.
void FillTwoRuns(JobKit* kit, table::Strings* strings) {
  for (const uint64_t newest : {2000, 1000}) {
    TestEntries run;
    for (int i = 0; i < 3000; i++) {
      if (strings->Below(2) == 0) continue;
      const std::string key = "user" + std::to_string(100000 + i * 7);
      for (uint64_t version = 0; version <= strings->Below(4); version++) {
        run.push_back(strings->Below(5) == 0
                          ? Deletion(key, newest - version)
                          : Put(key, newest - version, strings->Bytes(strings->Below(700))));
      }
    }
    kit->AddRun(run, 300);
  }
}

TEST(SplitJob, PartsTogetherDoTheSameWork) {
  table::Strings strings(table::TestSeed());
  for (const Comparator* user : {BytewiseComparator()}) {
    for (const uint64_t snapshot : {uint64_t{0}, uint64_t{1999}, table::kSequenceMax}) {
      JobKit kit(user);
      FillTwoRuns(&kit, &strings);
      kit.job().oldest_snapshot = snapshot;
      const JobResult whole = kit.Run();
      ASSERT_TRUE(whole.status.ok());
      const TestEntries expected = EntriesOf(&kit, whole.outputs);
      for (const int parts_max : {1, 2, 3, 4, 100}) {
        Result<std::vector<Job>> parts = SplitJob(kit.job(), parts_max);
        ASSERT_TRUE(parts.has_value());
        EXPECT_LE(parts->size(), static_cast<size_t>(parts_max));
        EXPECT_TRUE(parts_max == 1 || parts->size() >= 2);
        std::vector<OutputTable> outputs;
        uint64_t entries_read = 0;
        for (const Job& part : *parts) {
          const JobResult result = kit.Run(part);
          ASSERT_TRUE(result.status.ok()) << result.status.ToString();
          // Never inside a user key.
          if (!outputs.empty() && !result.outputs.empty()) {
            EXPECT_FALSE(kit.SameUserKey(outputs.back().largest, result.outputs[0].smallest));
          }
          outputs.insert(outputs.end(), result.outputs.begin(), result.outputs.end());
          entries_read += result.entries_read;
        }
        EXPECT_EQ(whole.entries_read, entries_read);
        const TestEntries entries = EntriesOf(&kit, outputs);
        ASSERT_EQ(expected.size(), entries.size());
        for (size_t i = 0; i < entries.size(); i++) {
          ASSERT_EQ(expected[i].key, entries[i].key);
          ASSERT_EQ(expected[i].value, entries[i].value);
        }
      }
    }
  }
}

TEST(SplitJob, PartsAreAboutTheSameSize) {
  JobKit kit;
  table::Strings strings(table::TestSeed());
  FillTwoRuns(&kit, &strings);
  Result<std::vector<Job>> parts = SplitJob(kit.job(), 2);
  ASSERT_TRUE(parts.has_value());
  ASSERT_EQ(2u, parts->size());
  const uint64_t first = kit.Run((*parts)[0]).bytes_written;
  const uint64_t second = kit.Run((*parts)[1]).bytes_written;
  EXPECT_LT(first * 8, second * 10);
  EXPECT_LT(second * 8, first * 10);
}

TEST(SplitJob, APartHasOnlyTheTablesItNeeds) {
  JobKit kit;
  table::Strings strings(table::TestSeed());
  FillTwoRuns(&kit, &strings);
  Result<std::vector<Job>> parts = SplitJob(kit.job(), 3);
  ASSERT_TRUE(parts.has_value());
  for (const Job& part : *parts) {
    for (size_t run = 0; run < part.runs.size(); run++) {
      EXPECT_LT(part.runs[run].size(), kit.job().runs[run].size());
    }
  }
}

TEST(SplitJob, PartsCanBeSplitAgain) {
  JobKit kit;
  table::Strings strings(table::TestSeed());
  FillTwoRuns(&kit, &strings);
  Result<std::vector<Job>> halves = SplitJob(kit.job(), 2);
  ASSERT_TRUE(halves.has_value());
  for (const Job& half : *halves) {
    Result<std::vector<Job>> quarters = SplitJob(half, 2);
    ASSERT_TRUE(quarters.has_value());
    EXPECT_EQ(half.first_user_key, quarters->front().first_user_key);
    EXPECT_EQ(half.end_user_key, quarters->back().end_user_key);
    EXPECT_EQ(quarters->front().end_user_key, quarters->back().first_user_key);
  }
}

TEST(SplitJob, LittleWorkAndOneKeyAreNotSplit) {
  JobKit kit;
  kit.AddRun({Put("a", 1), Put("b", 1)});
  EXPECT_EQ(1u, SplitJob(kit.job(), 8)->size());
  TestEntries versions;
  for (uint64_t i = 1000; i > 0; i--) versions.push_back(Put("k", i, std::string(1000, 'v')));
  kit.AddRun(versions);
  auto parts = SplitJob(kit.job(), 8);
  ASSERT_TRUE(parts.has_value());
  EXPECT_LE(parts->size(), 2u);
}

// Knows keys of eight bytes alone, as a program's own comparator may.
class EightByteComparator final : public Comparator {
 public:
  int Compare(std::string_view a, std::string_view b) const override {
    EXPECT_EQ(a.size(), 8u);
    EXPECT_EQ(b.size(), 8u);
    return a.compare(b);
  }
  const char* Name() const override { return "test.EightBytes"; }
  void FindShortestSeparator(std::string*, std::string_view) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

TEST(SplitJob, KeysThatAreNoneMakeNoBounds) {
  const EightByteComparator eight;
  JobKit kit(&eight);
  TestEntries entries;
  // Too short for an internal key, and so before all others; a block each.
  for (int i = 0; i < 100; i++)
    entries.push_back({"s" + std::to_string(100 + i), std::string(9000, 'v')});
  for (int i = 0; i < 200; i++) {
    entries.push_back(Put("key" + std::to_string(10000 + i), 1, std::string(9000, 'v')));
  }
  kit.AddRun(entries);
  auto parts = SplitJob(kit.job(), 4);
  ASSERT_TRUE(parts.has_value());
  EXPECT_GE(parts->size(), 2u);
  for (const Job& part : *parts) {
    EXPECT_EQ(part.end_user_key.value_or("the last").size(), 8u);
  }
}

TEST(SplitJob, SaysWhichTableIsDamaged) {
  JobKit kit;
  kit.AddRun({Put("a", 1)});
  const JobTable& table = kit.job().runs[0][0];
  ASSERT_TRUE(kit.files().FlipBits(table.path, table.bytes - 1, 1).ok());
  auto parts = SplitJob(kit.job(), 2);
  ASSERT_FALSE(parts.has_value());
  EXPECT_EQ(Code::kCorruption, parts.error().code());
  EXPECT_NE(std::string::npos, parts.error().message().find(table.path));
}

}  // namespace
}  // namespace weft::compaction
