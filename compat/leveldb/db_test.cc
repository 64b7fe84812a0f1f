#include "leveldb/db.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <functional>
#include <memory>
#include <string>

#include "leveldb_test_kit.h"

namespace weft::compat {
namespace {

TEST(LevelDbStore, SaysThatAnotherHoldsItAndThatThereAreNoDescriptors) {
  const TestFolder folder;
  const std::string name = folder.path() + "/db";
  leveldb::Options options;
  options.create_if_missing = true;
  leveldb::DB* made = nullptr;
  const std::function<leveldb::Status()> ways[] = {
      [&] {
        leveldb::DB* db = nullptr;
        const leveldb::Status status = leveldb::DB::Open(options, name, &db);
        EXPECT_EQ(db, nullptr);
        return status;
      },
      [&] { return leveldb::RepairDB(name, options); },
      [&] { return leveldb::DestroyDB(name, options); },
  };
  ASSERT_TRUE(leveldb::DB::Open(options, name, &made).ok());
  std::unique_ptr<leveldb::DB> db(made);
  for (const auto& way : ways) {
    EXPECT_EQ(way().ToString(), "IO error: lock " + name + "/LOCK: already held by process");
  }
  db.reset();
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none = {0, limit.rlim_max};
  for (const auto& way : ways) {
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    const leveldb::Status status = way();
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    EXPECT_TRUE(status.IsIOError()) << status.ToString();
    EXPECT_TRUE(status.ToString().ends_with(": Too many open files")) << status.ToString();
  }
}

}  // namespace
}  // namespace weft::compat
