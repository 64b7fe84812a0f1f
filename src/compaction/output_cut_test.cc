#include "compaction/output_cut.h"

#include <gtest/gtest.h>

#include "compaction/job_test_kit.h"

namespace weft::compaction {
namespace {

JobTable Grandparent(std::string_view smallest, std::string_view largest, uint64_t bytes) {
  JobTable table;
  table.bytes = bytes;
  table.smallest = Put(smallest, 1).key;
  table.largest = Put(largest, 1).key;
  return table;
}

TEST(OutputCut, EndsAnOutputThatPassedTooMuch) {
  JobKit kit;
  kit.job().grandparents = {Grandparent("b", "c", 10), Grandparent("d", "e", 10),
                            Grandparent("f", "g", 10), Grandparent("h", "i", 10)};
  kit.job().grandparent_overlap_bytes_max = 15;
  OutputCut cut(kit.job());
  EXPECT_FALSE(cut.IsBefore(Put("a", 9).key));
  EXPECT_FALSE(cut.IsBefore(Put("d", 9).key));  // passed 10
  EXPECT_TRUE(cut.IsBefore(Put("f", 9).key));   // passed 20
  EXPECT_FALSE(cut.IsBefore(Put("h", 9).key));  // 10 since then
  EXPECT_TRUE(cut.IsBefore(Put("z", 9).key));
  EXPECT_FALSE(cut.IsBefore(Put("zz", 9).key));
}

TEST(OutputCut, WhatLiesBeforeTheFirstKeyIsNotCounted) {
  JobKit kit;
  kit.job().grandparents = {Grandparent("b", "c", 100), Grandparent("d", "e", 100)};
  kit.job().grandparent_overlap_bytes_max = 0;
  OutputCut cut(kit.job());
  EXPECT_FALSE(cut.IsBefore(Put("d", 9).key));
  EXPECT_FALSE(cut.IsBefore(Put("e", 9).key));
  EXPECT_TRUE(cut.IsBefore(Put("e", 0).key));  // an older version than the table's last
}

TEST(OutputCut, NothingIsCutWithoutGrandparents) {
  JobKit kit;
  kit.job().grandparent_overlap_bytes_max = 0;
  OutputCut cut(kit.job());
  for (const char* key : {"a", "b", "c"}) EXPECT_FALSE(cut.IsBefore(Put(key, 9).key));
}

}  // namespace
}  // namespace weft::compaction
