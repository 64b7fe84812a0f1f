#include "compaction/device/piece/table_layout.h"

#include <gtest/gtest.h>

#include "compaction/device/piece/grandparent_walk.h"
#include "compaction/job_test_kit.h"
#include "compaction/output_cut.h"

namespace weft::compaction::device {
namespace {

TEST(TableLayout, LeavesBlocksOutWhoseFilterMayGrow) {
  JobKit kit;
  const auto bloom = NewBloomFilterPolicy(10);
  const table::InternalFilterPolicy policy(bloom);
  kit.job().format.filter = &policy;
  TableLayout layout(kit.job());
  std::vector<PackedBlock> blocks(5);
  for (PackedBlock& block : blocks) block.stored_bytes = 995;  // 1000 with its trailer
  // They begin at 0, 1000, 2000 | 3000, 4000, and the next at 5000, in the window of 4096.
  std::vector<BlockPlace> places = layout.Place(blocks, false);
  ASSERT_EQ(5u, places.size());
  EXPECT_EQ(4000u, places[4].offset);
  // At 5000, 6000 | 7000, 8000 | 9000, and the next at 10000, in the window of 8192.
  places = layout.Place(blocks, false);
  ASSERT_EQ(4u, places.size());
  EXPECT_EQ(8000u, places[3].offset);
  // Given again, with another behind it.
  blocks.resize(2);
  places = layout.Place(blocks, true);
  ASSERT_EQ(2u, places.size());
  EXPECT_EQ(9000u, places[0].offset);
  EXPECT_EQ(0u, places[0].ends_table);
  EXPECT_EQ(1u, places[1].ends_table);
}

TEST(TableLayout, TablesEndBySizeAndByCut) {
  JobKit kit;
  kit.job().output_bytes_max = 2000;
  TableLayout layout(kit.job());
  std::vector<PackedBlock> blocks(6);
  for (PackedBlock& block : blocks) block.stored_bytes = 995;
  blocks[2].is_cut_behind = true;
  const std::vector<BlockPlace> places = layout.Place(blocks, false);
  ASSERT_EQ(6u, places.size());
  const std::vector<uint64_t> offsets = {0, 1000, 0, 0, 1000, 0};
  const std::vector<uint32_t> ends = {0, 1, 1, 0, 1, 0};
  for (size_t i = 0; i < 6; i++) {
    EXPECT_EQ(offsets[i], places[i].offset) << i;
    EXPECT_EQ(ends[i], places[i].ends_table) << i;
  }
}

TEST(TableLayout, PartsAreWhatOneTableHas) {
  const std::vector<BlockPlace> places = {
      {3000, 995, 0}, {4000, 95, 1}, {0, 10, 1}, {0, 20, 0}, {25, 30, 0}};
  const std::vector<TablePart> parts = PartsOf(places);
  ASSERT_EQ(3u, parts.size());
  const TablePart expected[] = {
      {0, 2, 3000, 1100, false, true}, {2, 3, 0, 15, true, true}, {3, 5, 0, 60, true, false}};
  for (size_t i = 0; i < 3; i++) {
    EXPECT_EQ(expected[i].first, parts[i].first) << i;
    EXPECT_EQ(expected[i].end, parts[i].end) << i;
    EXPECT_EQ(expected[i].offset, parts[i].offset) << i;
    EXPECT_EQ(expected[i].bytes, parts[i].bytes) << i;
    EXPECT_EQ(expected[i].begins_table, parts[i].begins_table) << i;
    EXPECT_EQ(expected[i].ends_table, parts[i].ends_table) << i;
  }
  EXPECT_TRUE(PartsOf({}).empty());
}

TEST(GrandparentWalk, CutsWhereTheRuleDoes) {
  for (uint64_t seed = table::TestSeed() * 1000; seed < table::TestSeed() * 1000 + 500; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    table::Strings strings(seed);
    const auto name = [](uint64_t i) { return "key" + std::to_string(10000 + i); };
    Job job;
    const table::InternalComparator order(BytewiseComparator());
    job.comparator = &order;
    job.grandparent_overlap_bytes_max = strings.Below(1500);
    for (uint64_t at = strings.Below(20); at < 400; at += 1 + strings.Below(40)) {
      job.grandparents.push_back({.number = 0,
                                  .bytes = strings.Below(1000),
                                  .path = "",
                                  .smallest = "",
                                  .largest = Put(name(at), 1).key});
    }
    std::vector<std::string> keys;
    for (uint64_t i = 0; i < 400; i++) {
      if (strings.Below(3) == 0) keys.push_back(Put(name(i), strings.Below(3)).key);
    }
    std::vector<uint64_t> expected;
    OutputCut rule(job);
    for (size_t i = 0; i < keys.size(); i++) {
      if (rule.IsBefore(keys[i])) expected.push_back(i);
    }
    std::vector<uint64_t> cuts;
    GrandparentWalk walk(job);
    for (size_t begin = 0; begin < keys.size();) {
      const size_t end = std::min<size_t>(keys.size(), begin + strings.Below(60));
      std::vector<uint32_t> behind;
      for (const JobTable& grandparent : job.grandparents) {
        size_t at = begin;
        while (at < end && order.Compare(keys[at], grandparent.largest) <= 0) at++;
        behind.push_back(static_cast<uint32_t>(at - begin));
      }
      for (const uint32_t cut : walk.CutsOfPiece(behind, static_cast<uint32_t>(end - begin))) {
        cuts.push_back(begin + cut);
      }
      begin = end;
    }
    ASSERT_EQ(expected, cuts);
  }
}

}  // namespace
}  // namespace weft::compaction::device
