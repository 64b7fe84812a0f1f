// The table cache: what it keeps open, what it closes, and what cannot be opened.
#include "lsm/table_cache.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "lsm/version_test_kit.h"

namespace weft::lsm {
namespace {

class TableCacheTest : public testing::Test {
 protected:
  FileRef NewTable(uint64_t number) {
    const NewFile file = kit_.WriteKeys(1, number, {"key" + std::to_string(number)}, 1);
    return std::make_shared<const FileMeta>(file.number, file.bytes, file.smallest, file.largest);
  }
  const table::Table* Find(const FileMeta& file) {
    OpenTable open;
    EXPECT_TRUE(kit_.tables->Find(file, &open).ok());
    return open.table;
  }

  VersionFixture kit_{16};  // 12 pinned, 4 that take turns
};

TEST_F(TableCacheTest, OpensATableOnceAndClosesItWithItsMeta) {
  FileRef file = NewTable(1);
  const table::Table* table = Find(*file);
  EXPECT_EQ(Find(*file), table);
  EXPECT_EQ(file->pin.get(), table);
  EXPECT_EQ(kit_.tables->open_tables(), 1u);
  file.reset();
  EXPECT_EQ(kit_.tables->open_tables(), 0u);
}

TEST_F(TableCacheTest, KeepsWithinItsLimit) {
  std::vector<FileRef> files;
  for (uint64_t i = 1; i <= 40; ++i) files.push_back(NewTable(i));
  for (const FileRef& file : files) Find(*file);
  EXPECT_EQ(kit_.tables->open_tables(), 16u);
  const uint64_t calls = kit_.faults.calls();
  for (size_t i = 0; i < 12; ++i) Find(*files[i]);
  for (size_t i = 36; i < 40; ++i) Find(*files[i]);
  EXPECT_EQ(kit_.faults.calls(), calls) << "all of these are open";
  Find(*files[20]);
  EXPECT_GT(kit_.faults.calls(), calls);
  EXPECT_EQ(kit_.tables->open_tables(), 16u);
  // Room comes back when pinned tables go.
  files.erase(files.begin(), files.begin() + 6);
  Find(*files[19]);
  EXPECT_NE(files[19]->pin.get(), nullptr);
}

TEST_F(TableCacheTest, ATableInUseStaysOpenThoughItWasDisplaced) {
  std::vector<FileRef> files;
  for (uint64_t i = 1; i <= 30; ++i) files.push_back(NewTable(i));
  for (size_t i = 0; i < 12; ++i) Find(*files[i]);
  OpenTable open;
  ASSERT_TRUE(kit_.tables->Find(*files[12], &open).ok());
  for (size_t i = 13; i < 30; ++i) Find(*files[i]);
  EXPECT_EQ(open.table->file_bytes(), files[12]->bytes);
  kit_.tables->Evict(30);
  kit_.tables->Evict(30);
  EXPECT_EQ(kit_.tables->open_tables(), 15u);
}

TEST_F(TableCacheTest, AnErrorIsNotKept) {
  const FileRef file = NewTable(1);
  kit_.faults.SetHook([](const base::FileCall& call) {
    return call.kind == base::FileCallKind::kNewRandomAccessFile
               ? Status(Code::kIoError, "injected")
               : Status();
  });
  OpenTable open;
  EXPECT_EQ(kit_.tables->Find(*file, &open).code(), Code::kIoError);
  kit_.faults.Heal();
  EXPECT_TRUE(kit_.tables->Find(*file, &open).ok());
}

// As in stores of early LevelDBs.
TEST_F(TableCacheTest, ATableOfTheOldNameThatDoesNotOpenIsNotMissing) {
  const FileRef file = NewTable(1);
  const std::string path = kit_.tables->PathOf(1);
  const std::string old_path = path.substr(0, path.size() - 4) + ".sst";
  ASSERT_TRUE(kit_.faults.RenameFile(path, old_path).ok());
  kit_.faults.SetHook([&](const base::FileCall& call) {
    const bool opens = call.kind == base::FileCallKind::kNewRandomAccessFile;
    return opens && call.path == old_path ? Status(Code::kRetryLater, "injected") : Status();
  });
  const auto found = kit_.tables->FindShared(*file);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().ToString(), "retry later: injected");
  kit_.faults.Heal();
  EXPECT_TRUE(kit_.tables->FindShared(*file).has_value());
}

TEST_F(TableCacheTest, PinsOutliveTheCache) {
  const FileRef file = NewTable(1);
  Find(*file);
  kit_.tables.reset();
  EXPECT_NE(file->pin.get(), nullptr);
}

TEST_F(TableCacheTest, ManyThreadsMayOpenTheSameTables) {
  std::vector<FileRef> files;
  for (uint64_t i = 1; i <= 24; ++i) files.push_back(NewTable(i));
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 400; ++i) {
        const FileMeta& file = *files[(i * (t + 1) * 7) % files.size()];
        OpenTable open;
        ASSERT_TRUE(kit_.tables->Find(file, &open).ok());
        ASSERT_EQ(open.table->path(), TableFileName(kit_.dir, file.number));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(kit_.tables->open_tables(), 16u);
}

}  // namespace
}  // namespace weft::lsm
