#include "compaction/key_prefix.h"

#include <gtest/gtest.h>

#include "compaction/job_test_kit.h"

namespace weft::compaction {
namespace {

JobTable Bounds(std::string_view smallest, std::string_view largest) {
  JobTable table;
  table.smallest = Put(smallest, 9).key;
  table.largest = Put(largest, 1).key;
  return table;
}

TEST(KeyPrefix, CommonBeginningIsThatOfAllTables) {
  Job job;
  EXPECT_EQ(0u, KeyPrefix(job).common_bytes());
  job.runs = {{Bounds("user1234", "user1299")}};
  EXPECT_EQ(6u, KeyPrefix(job).common_bytes());
  job.runs.push_back({Bounds("user11", "user1234"), Bounds("user13", "user1555")});
  EXPECT_EQ(5u, KeyPrefix(job).common_bytes());
  job.runs.push_back({Bounds("user1", "user1")});
  EXPECT_EQ(5u, KeyPrefix(job).common_bytes());
  job.runs.push_back({Bounds("", "v")});
  EXPECT_EQ(0u, KeyPrefix(job).common_bytes());
}

TEST(KeyPrefix, NothingIsCommonWithAKeyThatIsNone) {
  Job job;
  job.runs = {{Bounds("user1", "user2")}};
  job.runs[0][0].smallest = "user";
  EXPECT_EQ(0u, KeyPrefix(job).common_bytes());
}

TEST(KeyPrefix, NeverOrdersKeysWrongly) {
  table::Strings strings(table::TestSeed());
  for (const std::string_view start : {"", "abc", "a beginning of many bytes"}) {
    Job job;
    job.runs = {{Bounds(std::string(start), std::string(start) + "\xff\xff\xff\xff\xff")}};
    const KeyPrefix prefix(job);
    ASSERT_EQ(start.size(), prefix.common_bytes());
    for (int i = 0; i < 20000; i++) {
      const std::string a = std::string(start) + strings.Key();
      const std::string b =
          std::string(start) +
          (strings.Below(2) == 0 ? strings.Key() : a.substr(start.size()) + strings.Key());
      ASSERT_TRUE(prefix.HasCommon(Put(a, 1).key));
      const uint64_t of_a = prefix.Of(Put(a, 1).key);
      const uint64_t of_b = prefix.Of(Put(b, ~uint64_t{0} >> 8).key);
      EXPECT_TRUE(of_a == of_b || (a < b) == (of_a < of_b));
    }
  }
}

TEST(KeyPrefix, SeesKeysWithoutTheCommonBeginning) {
  Job job;
  job.runs = {{Bounds("user12", "user13")}};
  const KeyPrefix prefix(job);
  EXPECT_TRUE(prefix.HasCommon(Put("user1", 1).key));
  EXPECT_FALSE(prefix.HasCommon(Put("user2", 1).key));
  EXPECT_FALSE(prefix.HasCommon(Put("user", 1).key));
  for (const std::string& short_key : {std::string("user1"), std::string()}) {
    EXPECT_FALSE(prefix.HasCommon(short_key));
  }
}

}  // namespace
}  // namespace weft::compaction
