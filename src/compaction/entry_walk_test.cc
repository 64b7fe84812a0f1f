// Threads   one.
#include "compaction/entry_walk.h"

#include <gtest/gtest.h>

#include "compaction/job_test_kit.h"

namespace weft::compaction {
namespace {

using Walk = EntryWalk<table::InternalBytewiseOrder>;

std::string BlockOf(const TestEntries& entries, int restart_interval) {
  table::OutputBuffer bytes;
  table::BlockBuilder builder(restart_interval);
  builder.Begin(&bytes);
  for (const TestEntry& entry : entries) builder.Add(entry.key, entry.value);
  return std::string(builder.Finish());
}

TEST(EntryWalk, GivesWhatTheBuilderGot) {
  table::Strings strings(table::TestSeed());
  for (int round = 0; round < 300; round++) {
    std::map<std::string, std::string> sorted;
    for (uint64_t i = strings.Below(50); i != 0; i--) {
      sorted[strings.Key()] = strings.Bytes(strings.Below(20000));
    }
    TestEntries entries;
    for (const auto& [key, value] : sorted) {
      for (uint64_t sequence = strings.Below(3); sequence != 0; sequence--) {
        entries.push_back(Put(key, sequence, value));
      }
    }
    const std::string block = BlockOf(entries, 1 + static_cast<int>(strings.Below(20)));
    Walk walk{table::InternalBytewiseOrder()};
    ASSERT_TRUE(walk.StartBlock(block));
    for (const TestEntry& entry : entries) {
      ASSERT_EQ(Walk::Step::kEntry, walk.Next());
      EXPECT_TRUE(entry.key == walk.key());
      EXPECT_TRUE(entry.value == walk.value());
    }
    EXPECT_EQ(Walk::Step::kEndOfBlock, walk.Next());
    EXPECT_EQ(Walk::Step::kEndOfBlock, walk.Next());
  }
}

TEST(EntryWalk, FindsKeysThatDoNotAscend) {
  const std::vector<TestEntries> all = {
      {Put("b", 1), Put("a", 1)},
      {Put("a", 1), Put("a", 1)},
      {Put("a", 1), Put("a", 2)},
      {Put("a", 1), {"short", ""}},
      {{"b", ""}, {"a", ""}},
      {Put("ab", 1), Put("a", 1)},
      {Put("common beginning b", 1), Put("common beginning a", 1)},
      {Put("a\x80", 1), Put("a\x7f", 1)},
  };
  for (const TestEntries& entries : all) {
    for (const int interval : {1, 16}) {
      const std::string block = BlockOf(entries, interval);
      Walk walk{table::InternalBytewiseOrder()};
      ASSERT_TRUE(walk.StartBlock(block));
      EXPECT_EQ(Walk::Step::kEntry, walk.Next());
      EXPECT_EQ(Walk::Step::kDamaged, walk.Next());
    }
    // Across blocks, too.
    const std::string first = BlockOf({entries[0]}, 16);
    const std::string second = BlockOf({entries[1]}, 16);
    Walk walk{table::InternalBytewiseOrder()};
    ASSERT_TRUE(walk.StartBlock(first));
    EXPECT_EQ(Walk::Step::kEntry, walk.Next());
    ASSERT_TRUE(walk.StartBlock(second));
    EXPECT_EQ(Walk::Step::kDamaged, walk.Next());
  }
}

TEST(EntryWalk, SurvivesAnyBytes) {
  table::Strings strings(table::TestSeed());
  const std::string whole = BlockOf(
      {Put("aa", 2, "value"), Put("ab", 1, "value"), Put("abc", 3, std::string(200, 'v'))}, 2);
  for (int round = 0; round < 20000; round++) {
    std::string block = strings.Below(4) == 0 ? strings.Bytes(strings.Below(60)) : whole;
    for (uint64_t flips = strings.Below(4); flips != 0 && !block.empty(); flips--) {
      block[strings.Below(block.size())] = static_cast<char>(strings.Below(256));
    }
    if (strings.Below(4) == 0) block.resize(strings.Below(block.size() + 1));
    // In memory of its own, so that a sanitizer sees every step outside.
    const std::unique_ptr<char[]> copy(new char[block.size()]);  // freed by copy
    if (!block.empty()) std::memcpy(copy.get(), block.data(), block.size());
    Walk walk{table::InternalBytewiseOrder()};
    size_t entries = 0;
    if (walk.StartBlock({copy.get(), block.size()})) {
      while (walk.Next() == Walk::Step::kEntry) entries++;
    }
    EXPECT_LE(entries, block.size());
  }
}

}  // namespace
}  // namespace weft::compaction
