// A store on a file system whose reads give fewer bytes than they are asked for.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "weft/db.h"

namespace weft {
namespace {

using Model = std::map<std::string, std::string>;

// How much the next read gives: never all of what was asked for, but where that is one byte.
size_t Fewer(size_t bytes, uint64_t* calls) {
  static constexpr size_t kParts[] = {1, 2, 3, 7};
  return bytes < 2 ? bytes : std::max<size_t>(1, bytes / (1 + kParts[(*calls)++ % 4]));
}

class ShortSequentialFile final : public SequentialFile {
 public:
  explicit ShortSequentialFile(std::unique_ptr<SequentialFile> file) : file_(std::move(file)) {}
  Status Read(size_t bytes, std::string_view* result, char* scratch) override {
    return file_->Read(Fewer(bytes, &calls_), result, scratch);
  }
  Status Skip(uint64_t bytes) override { return file_->Skip(bytes); }

 private:
  const std::unique_ptr<SequentialFile> file_;
  uint64_t calls_ = 0;
};

// What it gives lies in memory of its own, as a mapped file's does; and it is strict as a mapped
// file of LevelDB's: nothing behind the end may be asked for.
class ShortRandomAccessFile final : public RandomAccessFile {
 public:
  explicit ShortRandomAccessFile(std::string contents) : contents_(std::move(contents)) {}
  Status Read(uint64_t offset, size_t bytes, std::string_view* result, char*) const override {
    *result = {};
    if (offset + bytes > contents_.size()) return {Code::kIoError, "read behind the end"};
    uint64_t calls = offset;
    *result = std::string_view(contents_).substr(offset, Fewer(bytes, &calls));
    return {};
  }

 private:
  const std::string contents_;
};

class ShortFiles final : public FileSystem {
 public:
  explicit ShortFiles(base::MemoryFileSystem* files) : files_(files) {}
  Result<std::unique_ptr<SequentialFile>> NewSequentialFile(const std::string& path) override {
    auto file = files_->NewSequentialFile(path);
    if (!file) return file;
    return std::unique_ptr<SequentialFile>(std::make_unique<ShortSequentialFile>(std::move(*file)));
  }
  Result<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(const std::string& path) override {
    auto contents = files_->Contents(path);
    if (!contents) return contents.error();
    return std::unique_ptr<RandomAccessFile>(
        std::make_unique<ShortRandomAccessFile>(std::move(*contents)));
  }
  Result<std::unique_ptr<WritableFile>> NewWritableFile(const std::string& path,
                                                        FileUse use) override {
    return files_->NewWritableFile(path, use);
  }
  Result<std::unique_ptr<WritableFile>> NewAppendableFile(const std::string& path,
                                                          FileUse use) override {
    return files_->NewAppendableFile(path, use);
  }
  bool FileExists(const std::string& path) override { return files_->FileExists(path); }
  Status GetChildren(const std::string& dir, std::vector<std::string>* names) override {
    return files_->GetChildren(dir, names);
  }
  Status RemoveFile(const std::string& path) override { return files_->RemoveFile(path); }
  Status CreateDir(const std::string& dir) override { return files_->CreateDir(dir); }
  Status RemoveDir(const std::string& dir) override { return files_->RemoveDir(dir); }
  Result<uint64_t> GetFileSize(const std::string& path) override {
    return files_->GetFileSize(path);
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    return files_->RenameFile(from, to);
  }
  Status LinkFile(const std::string& from, const std::string&) override {
    return {Code::kUnsupported, "link " + from};  // so that it is read, and copied
  }
  Status Truncate(const std::string& path, uint64_t bytes) override {
    return files_->Truncate(path, bytes);
  }
  Status SyncDir(const std::string& dir) override { return files_->SyncDir(dir); }
  Result<std::unique_ptr<FileLock>> LockFile(const std::string& path) override {
    return files_->LockFile(path);
  }

 private:
  base::MemoryFileSystem* const files_;
};

class ShortReadsTest : public testing::Test {
 protected:
  ShortReadsTest() {
    options.create_if_missing = true;
    options.file_system = &files;
    options.paranoid_checks = true;
    options.block_size = 1024;
    options.filter_policy = NewBloomFilterPolicy(10);
  }
  void Open() {
    db.reset();
    auto opened = Db::Open(options, "/db");
    ASSERT_TRUE(opened.has_value()) << opened.error().ToString();
    db = std::move(*opened);
  }
  void Put(int from, int to, size_t bytes) {
    for (int i = from; i < to; i++) {
      const std::string key = "key" + std::to_string(i);
      model[key] = key + std::string(bytes, 'v');
      ASSERT_TRUE(db->Put({}, key, model[key]).ok());
    }
  }
  Model All(Db* of) {
    Model all;
    const auto iterator = of->NewIterator({.verify_checksums = true});
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      all.emplace(iterator->key(), iterator->value());
      std::string value;
      EXPECT_TRUE(of->Get({}, iterator->key(), &value).ok());
    }
    EXPECT_TRUE(iterator->status().ok()) << iterator->status().ToString();
    return all;
  }

  base::MemoryFileSystem memory;
  ShortFiles files{&memory};
  DbOptions options;
  std::unique_ptr<Db> db;
  Model model;
};

TEST_F(ShortReadsTest, LogsAndTablesAreReadToTheirEnds) {
  Open();
  Put(0, 300, 100);
  Put(1000, 1003, 100'000);  // records of several blocks of a log
  Open();
  EXPECT_EQ(All(db.get()), model);
  Put(200, 400, 50);
  ASSERT_TRUE(db->Flush().ok());
  Put(100, 250, 60);
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  EXPECT_EQ(All(db.get()), model);
  Open();
  EXPECT_EQ(All(db.get()), model);
}

// It is no torn one, for all that a read gives no more than the half of its record.
TEST_F(ShortReadsTest, ADamagedLogIsRefused) {
  Open();
  Put(0, 4, 20'000);
  const auto left = memory.Copy();
  db.reset();
  memory.Restore(*left);
  for (const std::string& path : memory.AllFiles()) {
    if (path.ends_with(".log") && memory.Contents(path)->size() > 300) {  // a spare one is empty
      ASSERT_TRUE(memory.FlipBits(path, 300, 1).ok());
    }
  }
  options.paranoid_checks = false;
  const auto opened = Db::Open(options, "/db");
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code(), Code::kCorruption) << opened.error().ToString();
}

TEST_F(ShortReadsTest, CopiesAreWhole) {
  Open();
  Put(0, 300, 100);
  ASSERT_TRUE(db->Checkpoint("/copy").ok());
  auto copy = Db::Open(options, "/copy");
  ASSERT_TRUE(copy.has_value()) << copy.error().ToString();
  EXPECT_EQ(All(copy->get()), model);
  auto writer = TableWriter::Open(options, "/in.ldb");
  for (int i = 0; i < 200; i++) {
    const std::string key = "x" + std::to_string(1000 + i);
    model[key] = "ingested";
    ASSERT_TRUE((*writer)->Put(key, "ingested").ok());
  }
  ASSERT_TRUE((*writer)->Finish().ok());
  const std::vector<std::string> paths = {"/in.ldb"};
  ASSERT_TRUE(db->Ingest(paths, true).ok());
  EXPECT_EQ(All(db.get()), model);
}

TEST_F(ShortReadsTest, ARepairTakesAll) {
  Open();
  Put(0, 300, 100);
  ASSERT_TRUE(db->Flush().ok());
  Put(200, 400, 50);
  db.reset();
  ASSERT_TRUE(RepairDb("/db", options).ok());
  Open();
  EXPECT_EQ(All(db.get()), model);
  db.reset();
  for (const std::string& path : memory.AllFiles()) {
    if (path.ends_with("CURRENT") || path.find("MANIFEST") != path.npos) {
      ASSERT_TRUE(memory.RemoveFile(path).ok());
    }
    if (path.ends_with(".ldb") && path.find("lost") == path.npos) {
      // A filter is damaged, and so the table is copied block by block.
      const uint64_t bytes = memory.Contents(path)->size();
      ASSERT_TRUE(memory.FlipBits(path, bytes - bytes / 50 - 60, 1).ok());
    }
  }
  ASSERT_TRUE(RepairDb("/db", options).ok());
  Open();
  EXPECT_EQ(All(db.get()), model);
}

}  // namespace
}  // namespace weft
