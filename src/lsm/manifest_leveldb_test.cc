// Manifests that LevelDB's own library wrote, read by us, and the other way round.
#ifdef WEFT_TEST_LEVELDB

#include <gtest/gtest.h>
#include <leveldb/db.h>

#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>

#include "base/folder_test_kit.h"
#include "base/mutex.h"
#include "base/seed_test_kit.h"
#include "lsm/close_mark.h"
#include "lsm/file_names.h"
#include "lsm/log_reader.h"
#include "lsm/manifest.h"
#include "lsm/string_file_test_kit.h"
#include "lsm/table_cache.h"
#include "lsm/version_set.h"
#include "weft/db.h"

namespace weft::lsm {
namespace {

class ManifestOfLevelDb : public testing::Test {
 protected:
  std::unique_ptr<leveldb::DB> Open() {
    leveldb::Options options;
    options.create_if_missing = true;
    options.paranoid_checks = true;
    options.write_buffer_size = 64 << 10;
    options.max_file_size = 1 << 20;
    leveldb::DB* db = nullptr;
    const leveldb::Status status = leveldb::DB::Open(options, folder_.path(), &db);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return std::unique_ptr<leveldb::DB>(db);
  }
  // Keys spread over several levels.
  void Fill() {
    const auto db = Open();
    std::mt19937 random(base::TestSeed(1));
    for (int i = 0; i < 20000; ++i) {
      const std::string key = "key" + std::to_string(random() % 50000);
      const auto status = i % 10 == 0 ? db->Delete({}, key) : db->Put({}, key, "of " + key);
      ASSERT_TRUE(status.ok());
    }
    db->CompactRange(nullptr, nullptr);
    for (int i = 0; i < 5000; ++i) ASSERT_TRUE(db->Put({}, std::to_string(i), "more").ok());
  }
  std::string Manifest() {
    const uint64_t number = ReadCurrentFile(PosixFileSystem(), folder_.path()).value();
    std::ostringstream content;
    content << std::ifstream(ManifestFileName(folder_.path(), number), std::ios::binary).rdbuf();
    return content.str();
  }

  base::TestFolder folder_;
};

TEST_F(ManifestOfLevelDb, RecordsAreTheSameBytesReadAndWritten) {
  Fill();
  const std::string manifest = Manifest();
  StringSource file(manifest);
  LogReader reader(&file, nullptr, LogReader::Mode::kStop);
  std::string_view record;
  int records = 0;
  for (; reader.Read(&record); ++records) {
    VersionEdit edit;
    ASSERT_TRUE(edit.DecodeFrom(record).ok());
    std::string bytes;
    edit.EncodeTo(&bytes);
    ASSERT_TRUE(bytes == record) << edit.DebugString();
  }
  EXPECT_EQ(reader.end(), LogEnd::kClean);
  EXPECT_GT(records, 5);
}

TEST_F(ManifestOfLevelDb, IsGoneOnWithByEither) {
  Fill();
  std::string before;
  const table::InternalComparator comparator(BytewiseComparator());
  const DbOptions options;
  TableCache tables(options.file_system, folder_.path(), {.order = &comparator}, 100);
  {
    base::Mutex mutex;
    VersionSet set(options, folder_.path(), &comparator, &tables, &mutex, nullptr);
    base::MutexLock lock(&mutex);
    const Status status = set.Recover();
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_GT(set.current()->TotalFiles(), 0u);
    before = set.current()->DebugString();
    VersionEdit edit;
    ASSERT_TRUE(set.LogAndApply(&edit, &mutex).ok());
  }
  const auto db = Open();
  std::string theirs;
  ASSERT_TRUE(db->GetProperty("leveldb.sstables", &theirs));
  // Level 0 gets what was in the log; every table of ours is in theirs.
  std::istringstream lines(before);
  int table_lines = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(' ')) continue;
    EXPECT_NE(theirs.find(line + '\n'), std::string::npos) << line << '\n' << theirs;
    ++table_lines;
  }
  EXPECT_GT(table_lines, 0);
  std::string value;
  EXPECT_TRUE(db->Get({}, "4999", &value).ok());
}

// Their DestroyDB leaves our file CLOSED. Sooner or later their store has a log and a manifest of
// the numbers that are in it.
TEST_F(ManifestOfLevelDb, AMarkThatWeLeftInTheirFolderSaysNothing) {
  DbOptions options;
  options.create_if_missing = true;
  for (int opens = 1; opens < 4; ++opens) {
    {
      auto ours = Db::Open(options, folder_.path());
      ASSERT_TRUE(ours.has_value()) << ours.error().ToString();
      for (int i = 0; i < 100; ++i) ASSERT_TRUE((*ours)->Put({}, std::to_string(i), "ours").ok());
    }
    if (opens % 3 != 0) continue;
    ASSERT_TRUE(leveldb::DestroyDB(folder_.path(), {}).ok());
    ASSERT_TRUE(PosixFileSystem()->FileExists(CloseMarkFileName(folder_.path())));
    for (int i = 0; i < 15; ++i) {
      ASSERT_TRUE(Open()->Put({}, "key", std::to_string(i)).ok());
      auto theirs = Db::OpenReadOnly(options, folder_.path());
      ASSERT_TRUE(theirs.has_value()) << i << theirs.error().ToString();
      std::string value;
      ASSERT_TRUE((*theirs)->Get({}, "key", &value).ok());
      EXPECT_EQ(value, std::to_string(i));
    }
  }
}

}  // namespace
}  // namespace weft::lsm

#endif  // WEFT_TEST_LEVELDB
