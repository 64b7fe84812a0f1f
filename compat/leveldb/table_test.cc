#include "leveldb/table.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "leveldb/db.h"
#include "leveldb/dumpfile.h"
#include "leveldb/env.h"
#include "leveldb/helpers/memenv.h"
#include "leveldb/options.h"
#include "leveldb/table_builder.h"
#include "table/internal_key.h"

namespace leveldb {
namespace {

std::string InternalKey(const std::string& user_key, uint64_t sequence) {
  return weft::table::MakeInternalKey(user_key, sequence, weft::table::ValueType::kValue);
}

class StoreTable : public testing::Test {
 protected:
  // Several versions of a key, each in a block of its own: as plain bytes their index descends.
  void Write(const std::string& path) {
    WritableFile* file = nullptr;
    ASSERT_TRUE(env_->NewWritableFile(path, &file).ok());
    const std::unique_ptr<WritableFile> owned(file);
    TableBuilder builder(Options(), file);
    for (const uint64_t sequence : {5, 3, 2}) {
      builder.Add(InternalKey("k", sequence), "v");
      builder.Flush();
    }
    builder.Add(InternalKey("m", 1), "v");
    ASSERT_TRUE(builder.Finish().ok());
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
};

TEST_F(StoreTable, OpensInPlainOrder) {
  Write("/000005.ldb");
  RandomAccessFile* file = nullptr;
  ASSERT_TRUE(env_->NewRandomAccessFile("/000005.ldb", &file).ok());
  const std::unique_ptr<RandomAccessFile> owned(file);
  uint64_t bytes;
  ASSERT_TRUE(env_->GetFileSize("/000005.ldb", &bytes).ok());
  Table* table = nullptr;
  const Status status = Table::Open(Options(), file, bytes, &table);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const std::unique_ptr<Table> owned_table(table);
  const std::unique_ptr<Iterator> it(table->NewIterator(ReadOptions()));
  int entries = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) entries++;
  EXPECT_TRUE(it->status().ok());
  EXPECT_EQ(entries, 4);
}

TEST_F(StoreTable, IsDumped) {
  Write("/000005.ldb");
  WritableFile* file = nullptr;
  ASSERT_TRUE(env_->NewWritableFile("/text", &file).ok());
  const std::unique_ptr<WritableFile> owned(file);
  ASSERT_TRUE(DumpFile(env_.get(), "/000005.ldb", file).ok());
  std::string text;
  ASSERT_TRUE(ReadFileToString(env_.get(), "/text", &text).ok());
  EXPECT_EQ(text,
            "'k' @ 5 : val => 'v'\n'k' @ 3 : val => 'v'\n"
            "'k' @ 2 : val => 'v'\n'm' @ 1 : val => 'v'\n");
}

// Files in memory know no folders, only names.
TEST(MemoryStore, OpensAgainWithoutBeingMade) {
  const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  Options options;
  options.env = env.get();
  DB* db = nullptr;
  EXPECT_TRUE(DB::Open(options, "/db", &db).IsInvalidArgument());
  options.create_if_missing = true;
  ASSERT_TRUE(DB::Open(options, "/db", &db).ok());
  EXPECT_TRUE(db->Put(WriteOptions(), "key", "value").ok());
  delete db;  // Open gave it to us
  options.create_if_missing = false;
  const Status status = DB::Open(options, "/db", &db);
  ASSERT_TRUE(status.ok()) << status.ToString();
  std::string value;
  EXPECT_TRUE(db->Get(ReadOptions(), "key", &value).ok());
  EXPECT_EQ(value, "value");
  delete db;  // as above
}

}  // namespace
}  // namespace leveldb
