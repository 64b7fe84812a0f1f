// Calls of a store that give it a null pointer.
#include <gtest/gtest.h>

#include "base/memory_file_system.h"
#include "weft/db.h"

namespace weft::lsm {
namespace {

TEST(DbArgumentsTest, NullPointersAreAnswered) {
  base::MemoryFileSystem files;
  DbOptions options;
  options.create_if_missing = true;
  options.file_system = &files;
  auto opened = Db::Open(options, "/db");
  ASSERT_TRUE(opened);
  Db& db = **opened;
  ASSERT_TRUE(db.Put({}, "key", "value").ok());
  EXPECT_EQ(db.Write({}, nullptr).code(), Code::kInvalidArgument);
  EXPECT_TRUE(db.Get({}, "key", nullptr).ok());
  EXPECT_EQ(db.Get({}, "other", nullptr).code(), Code::kNotFound);
  ASSERT_TRUE(db.Flush().ok());
  EXPECT_TRUE(db.Get({}, "key", nullptr).ok());
  EXPECT_TRUE(db.GetProperty("leveldb.stats", nullptr));
  EXPECT_FALSE(db.GetProperty("leveldb.nonsense", nullptr));
  db.ReleaseSnapshot(nullptr);
  EXPECT_EQ(WriteBatch().Iterate(nullptr).code(), Code::kInvalidArgument);
  options.listeners.push_back(nullptr);
  EXPECT_EQ(Db::Open(options, "/other").error().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace weft::lsm
