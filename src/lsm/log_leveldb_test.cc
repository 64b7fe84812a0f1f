// Logs that LevelDB's own library wrote, read by us, and the other way round.
#ifdef WEFT_TEST_LEVELDB

#include <leveldb/db.h>
#include <leveldb/write_batch.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/seed_test_kit.h"
#include "lsm/log_reader.h"
#include "lsm/log_writer.h"
#include "lsm/string_file_test_kit.h"
#include "lsm/write_batch_internal.h"
#include "weft/file_system.h"

namespace weft::lsm {
namespace {

std::string BytesOf(size_t bytes, uint32_t seed) {
  std::mt19937 random(base::TestSeed(seed));
  std::string text(bytes, '\0');
  for (char& byte : text) byte = static_cast<char>(random());
  return text;
}

class LogOfLevelDb : public testing::Test {
 protected:
  LogOfLevelDb() {
    std::string name = (std::filesystem::temp_directory_path() / "weft-log-XXXXXX").string();
    dir_ = mkdtemp(name.data());
  }
  ~LogOfLevelDb() override { std::filesystem::remove_all(dir_); }

  // The one log in the folder.
  std::string LogPath() const {
    for (const auto& entry : std::filesystem::directory_iterator(dir_)) {
      if (entry.path().extension() == ".log") return entry.path();
    }
    return "";
  }

  static std::string Content(const std::string& path) {
    auto file = PosixFileSystem()->NewSequentialFile(path);
    std::string buffer(std::filesystem::file_size(path), '\0');
    std::string_view content;
    EXPECT_TRUE((*file)->Read(buffer.size(), &content, buffer.data()).ok());
    return std::string(content);
  }

  std::string dir_;
};

TEST_F(LogOfLevelDb, IsReadAndWrittenByteForByte) {
  leveldb::Options options;
  options.create_if_missing = true;
  leveldb::DB* db = nullptr;
  ASSERT_TRUE(leveldb::DB::Open(options, dir_, &db).ok());
  const std::unique_ptr<leveldb::DB> owner(db);
  std::vector<std::string> expected;
  uint64_t sequence = 1;
  for (int i = 0; i < 200; ++i) {
    leveldb::WriteBatch theirs;
    WriteBatch ours;
    for (int change = 0; change <= i % 3; ++change) {
      const std::string key = "key" + std::to_string(i) + BytesOf(static_cast<size_t>(i % 7), 9);
      const std::string value =
          BytesOf(static_cast<size_t>(i * i % 5000 + (i == 50 ? 70000 : 0)), 3);
      theirs.Put(key, value);
      theirs.Delete(value.substr(0, 20));
      ours.Put(key, value);
      ours.Delete(value.substr(0, 20));
    }
    ASSERT_TRUE(db->Write({}, &theirs).ok());
    WriteBatchInternal::SetSequence(&ours, sequence);
    sequence += ours.Count();
    expected.emplace_back(ours.contents());
  }
  const std::string log = Content(LogPath());
  StringSource source(log);
  LogReader reader(&source, nullptr, LogReader::Mode::kStop);
  std::string ours;
  StringSink sink(&ours);
  LogWriter writer(&sink);
  std::string_view record;
  for (const std::string& each : expected) {
    ASSERT_TRUE(reader.Read(&record));
    ASSERT_EQ(record, each);
    ASSERT_TRUE(writer.AddRecord(each).ok());
  }
  EXPECT_FALSE(reader.Read(&record));
  EXPECT_EQ(reader.end(), LogEnd::kClean);
  EXPECT_TRUE(log == ours) << "the same records are the same bytes";
}

TEST_F(LogOfLevelDb, RecoversWhatWeWrote) {
  leveldb::Options options;
  options.create_if_missing = true;
  {
    leveldb::DB* db = nullptr;
    ASSERT_TRUE(leveldb::DB::Open(options, dir_, &db).ok());
    delete db;
  }
  {
    auto file = PosixFileSystem()->NewWritableFile(LogPath(), FileUse::kLog);
    ASSERT_TRUE(file.has_value());
    LogWriter writer(file->get());
    uint64_t sequence = 1;
    for (int i = 0; i < 100; ++i) {
      WriteBatch batch;
      batch.Put("key" + std::to_string(i), BytesOf(static_cast<size_t>(i) * 991, 1));
      if (i > 0) batch.Delete("key" + std::to_string(i / 2));
      WriteBatchInternal::SetSequence(&batch, sequence);
      sequence += batch.Count();
      ASSERT_TRUE(writer.AddRecord(batch.contents()).ok());
    }
    ASSERT_TRUE((*file)->Close().ok());
  }
  leveldb::DB* db = nullptr;
  options.paranoid_checks = true;
  ASSERT_TRUE(leveldb::DB::Open(options, dir_, &db).ok());
  const std::unique_ptr<leveldb::DB> owner(db);
  for (int i = 0; i < 100; ++i) {
    std::string value;
    const leveldb::Status status = db->Get({}, "key" + std::to_string(i), &value);
    if (i < 50) {
      EXPECT_TRUE(status.IsNotFound()) << i;
    } else {
      EXPECT_EQ(value, BytesOf(static_cast<size_t>(i) * 991, 1)) << i;
    }
  }
}

}  // namespace
}  // namespace weft::lsm

#endif  // WEFT_TEST_LEVELDB
