#include "env_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "leveldb/db.h"
#include "leveldb/helpers/memenv.h"
#include "leveldb/slice.h"
#include "leveldb_test_kit.h"

namespace weft::compat {
namespace {

class EnvFiles : public testing::Test {
 protected:
  std::string Contents(const std::string& path) {
    std::string text;
    const leveldb::Status status = leveldb::ReadFileToString(env_.get(), path, &text);
    return status.ok() ? text : status.ToString();
  }
  void Make(const std::string& path, const std::string& text) {
    ASSERT_TRUE(leveldb::WriteStringToFile(env_.get(), text, path).ok());
  }

  const std::unique_ptr<leveldb::Env> env_{leveldb::NewMemEnv(leveldb::Env::Default())};
  EnvFileSystem files_{env_.get()};
};

TEST_F(EnvFiles, WriteAndReadThroughTheEnv) {
  auto file = files_.NewWritableFile("/d/000001.log", FileUse::kLog);
  ASSERT_TRUE(file.has_value());
  EXPECT_TRUE((*file)->Append("one").ok());
  EXPECT_TRUE((*file)->Flush().ok());
  EXPECT_TRUE((*file)->Sync().ok());
  EXPECT_TRUE((*file)->Close().ok());
  file = files_.NewAppendableFile("/d/000001.log", FileUse::kLog);
  EXPECT_TRUE((*file)->Append("two").ok());
  EXPECT_TRUE((*file)->Close().ok());
  EXPECT_EQ("onetwo", Contents("/d/000001.log"));
  EXPECT_EQ(6u, files_.GetFileSize("/d/000001.log").value());

  auto reader = files_.NewRandomAccessFile("/d/000001.log");
  ASSERT_TRUE(reader.has_value());
  char scratch[10];
  std::string_view piece;
  EXPECT_TRUE((*reader)->Read(2, 10, &piece, scratch).ok());
  EXPECT_EQ("etwo", piece);
  EXPECT_TRUE((*reader)->Mapped().empty());
  auto sequential = files_.NewSequentialFile("/d/000001.log");
  ASSERT_TRUE(sequential.has_value());
  EXPECT_TRUE((*sequential)->Skip(3).ok());
  EXPECT_TRUE((*sequential)->Read(10, &piece, scratch).ok());
  EXPECT_EQ("two", piece);
}

// LevelDB's files in memory answer IOError for them; the store goes by kNotFound.
TEST_F(EnvFiles, MissingFilesAreNotFound) {
  EXPECT_EQ(Code::kNotFound, files_.NewSequentialFile("/d/none").error().code());
  EXPECT_EQ(Code::kNotFound, files_.NewRandomAccessFile("/d/none").error().code());
  EXPECT_EQ(Code::kNotFound, files_.GetFileSize("/d/none").error().code());
  EXPECT_EQ(Code::kNotFound, files_.RemoveFile("/d/none").code());
  EXPECT_EQ(Code::kNotFound, files_.RenameFile("/d/none", "/d/a").code());
  EXPECT_NE(std::string::npos, files_.RemoveFile("/d/none").message().find("/d/none"));
}

TEST_F(EnvFiles, TruncateKeepsTheBeginning) {
  std::string text;
  for (int i = 0; i < 50000; i++) text += std::to_string(i);
  Make("/d/000007.log", text);
  EXPECT_TRUE(files_.Truncate("/d/000007.log", 150001).ok());
  EXPECT_EQ(text.substr(0, 150001), Contents("/d/000007.log"));
  EXPECT_TRUE(files_.Truncate("/d/000007.log", 0).ok());
  EXPECT_EQ("", Contents("/d/000007.log"));
  EXPECT_EQ(Code::kIoError, files_.Truncate("/d/000007.log", 5).code());
  EXPECT_EQ(Code::kNotFound, files_.Truncate("/d/none.log", 5).code());
  std::vector<std::string> names;
  EXPECT_TRUE(files_.GetChildren("/d", &names).ok());
  EXPECT_EQ(std::vector<std::string>{"000007.log"}, names);
}

TEST_F(EnvFiles, SayWhatAnEnvHasNoCallFor) {
  Make("/d/a", "x");
  EXPECT_EQ(Code::kUnsupported, files_.LinkFile("/d/a", "/d/b").code());
  EXPECT_TRUE(files_.SyncDir("/d").ok());
}

TEST_F(EnvFiles, ALockEndsWithItsObject) {
  const TestFolder folder;
  EnvFileSystem system(leveldb::Env::Default());
  auto lock = system.LockFile(folder.path() + "/LOCK");
  ASSERT_TRUE(lock.has_value());
  EXPECT_FALSE(system.LockFile(folder.path() + "/LOCK").has_value());
  lock->reset();
  EXPECT_TRUE(system.LockFile(folder.path() + "/LOCK").has_value());
  EXPECT_TRUE(system.CreateDir(folder.path()).ok());  // there already
}

// A file of an Env that is used by one thread at a time, or says so.
TEST(EnvFilesThreads, ALogIsSyncedWhileItIsAppendedTo) {
  struct Lonely final : leveldb::WritableFile {
    explicit Lonely(std::atomic<int>* all) : clashes(all) {}
    leveldb::Status Append(const leveldb::Slice&) override { return Use(); }
    leveldb::Status Flush() override { return Use(); }
    leveldb::Status Sync() override { return Use(); }
    leveldb::Status Close() override { return Use(); }
    leveldb::Status Use() {
      if (used.exchange(true)) ++*clashes;
      std::this_thread::yield();
      used.store(false);
      return leveldb::Status::OK();
    }
    std::atomic<bool> used{false};
    std::atomic<int>* const clashes;
  };
  struct LonelyEnv final : leveldb::EnvWrapper {
    LonelyEnv() : EnvWrapper(leveldb::Env::Default()) {}
    leveldb::Status NewWritableFile(const std::string&, leveldb::WritableFile** file) override {
      *file = new Lonely(&clashes);  // freed by who opened it
      return leveldb::Status::OK();
    }
    std::atomic<int> clashes{0};
  } env;
  EnvFileSystem files(&env);
  auto file = files.NewWritableFile("000001.log", FileUse::kLog);
  ASSERT_TRUE(file.has_value());
  constexpr int kRounds = 20'000;
  std::thread syncer([&] {
    for (int i = 0; i < kRounds; i++) EXPECT_TRUE((*file)->Sync().ok());
  });
  for (int i = 0; i < kRounds; i++) {
    EXPECT_TRUE((*file)->Append("x").ok());
    EXPECT_TRUE((*file)->Flush().ok());
  }
  syncer.join();
  EXPECT_EQ(env.clashes.load(), 0);
}

// An Env whose reads give three bytes at most, as LevelDB's contract allows.
class ShortEnv final : public leveldb::EnvWrapper {
 public:
  explicit ShortEnv(leveldb::Env* env) : EnvWrapper(env) {}
  leveldb::Status NewSequentialFile(const std::string& name,
                                    leveldb::SequentialFile** file) override {
    return Wrap<ShortSequential>(target()->NewSequentialFile(name, file), file);
  }
  leveldb::Status NewRandomAccessFile(const std::string& name,
                                      leveldb::RandomAccessFile** file) override {
    return Wrap<ShortRandom>(target()->NewRandomAccessFile(name, file), file);
  }

 private:
  static constexpr size_t kBytesMax = 3;
  struct ShortSequential final : leveldb::SequentialFile {
    leveldb::Status Read(size_t n, leveldb::Slice* result, char* scratch) override {
      return file->Read(std::min(n, kBytesMax), result, scratch);
    }
    leveldb::Status Skip(uint64_t n) override { return file->Skip(n); }
    std::unique_ptr<leveldb::SequentialFile> file;
  };
  struct ShortRandom final : leveldb::RandomAccessFile {
    leveldb::Status Read(uint64_t offset, size_t n, leveldb::Slice* result,
                         char* scratch) const override {
      return file->Read(offset, std::min(n, kBytesMax), result, scratch);
    }
    std::unique_ptr<leveldb::RandomAccessFile> file;
  };
  template <typename Short, typename File>
  static leveldb::Status Wrap(const leveldb::Status& status, File** file) {
    if (!status.ok()) return status;
    auto made = std::make_unique<Short>();
    made->file.reset(*file);
    *file = made.release();  // freed by whoever opened it
    return status;
  }
};

class EnvFilesShortReads : public testing::Test {
 protected:
  EnvFilesShortReads() {
    for (int i = 0; i < 100; i++) text_ += std::to_string(i);
  }
  const std::unique_ptr<leveldb::Env> memory_{leveldb::NewMemEnv(leveldb::Env::Default())};
  ShortEnv env_{memory_.get()};
  std::string text_;
};

TEST_F(EnvFilesShortReads, AreGoneOnWith) {
  EnvFileSystem files(&env_);
  ASSERT_TRUE(leveldb::WriteStringToFile(memory_.get(), text_, "/d/f").ok());
  char scratch[300];
  std::string_view piece;
  auto sequential = files.NewSequentialFile("/d/f");
  ASSERT_TRUE(sequential.has_value());
  EXPECT_TRUE((*sequential)->Read(100, &piece, scratch).ok());
  EXPECT_EQ(piece, text_.substr(0, 100));
  EXPECT_TRUE((*sequential)->Read(300, &piece, scratch).ok());
  EXPECT_EQ(piece, text_.substr(100));
  auto random = files.NewRandomAccessFile("/d/f");
  ASSERT_TRUE(random.has_value());
  EXPECT_TRUE((*random)->Read(7, 100, &piece, scratch).ok());
  EXPECT_EQ(piece, text_.substr(7, 100));
  EXPECT_TRUE((*random)->Read(150, 300, &piece, scratch).ok());
  EXPECT_EQ(piece, text_.substr(150));
  EXPECT_TRUE((*random)->Read(text_.size(), 10, &piece, scratch).ok());
  EXPECT_EQ(piece, "");
}

// Its logs are read back by them.
TEST_F(EnvFilesShortReads, LoseNoKeyOfAStore) {
  leveldb::Options options;
  options.env = &env_;
  options.create_if_missing = true;
  for (int round = 0; round < 3; round++) {
    leveldb::DB* opened = nullptr;
    ASSERT_TRUE(leveldb::DB::Open(options, "/d/db", &opened).ok());
    const std::unique_ptr<leveldb::DB> db(opened);
    std::string value;
    for (int i = 0; i < 500 * round; i++) {
      EXPECT_TRUE(db->Get({}, "key" + std::to_string(i), &value).ok()) << i;
    }
    for (int i = 500 * round; i < 500 * (round + 1); i++) {
      EXPECT_TRUE(db->Put({}, "key" + std::to_string(i), text_).ok());
    }
  }
}

// An Env whose every call fails: its words arrive, and no null object is touched.
TEST(EnvFilesErrors, AreTheEnvsOwn) {
  struct Failing final : leveldb::EnvWrapper {
    using Status = leveldb::Status;
    Failing() : EnvWrapper(leveldb::Env::Default()) {}
    static Status No() { return Status::IOError("no", "way"); }
    Status NewSequentialFile(const std::string&, leveldb::SequentialFile**) override {
      return No();
    }
    Status NewRandomAccessFile(const std::string&, leveldb::RandomAccessFile**) override {
      return No();
    }
    Status NewWritableFile(const std::string&, leveldb::WritableFile**) override { return No(); }
    Status NewAppendableFile(const std::string&, leveldb::WritableFile**) override {
      return Status::NotSupported("append");
    }
    bool FileExists(const std::string&) override { return true; }
    Status GetChildren(const std::string&, std::vector<std::string>*) override { return No(); }
    Status RemoveFile(const std::string&) override { return No(); }
    Status RemoveDir(const std::string&) override { return No(); }
    Status GetFileSize(const std::string&, uint64_t*) override { return Status::Corruption("c"); }
    Status RenameFile(const std::string&, const std::string&) override { return No(); }
    Status LockFile(const std::string&, leveldb::FileLock**) override { return No(); }
  } env;
  EnvFileSystem files(&env);
  std::vector<std::string> names;
  for (const Status& status :
       {files.NewSequentialFile("f").error(), files.NewRandomAccessFile("f").error(),
        files.NewWritableFile("f", FileUse::kTable).error(), files.GetChildren("f", &names),
        files.RemoveFile("f"), files.RemoveDir("f"), files.RenameFile("f", "g"),
        files.LockFile("f").error(), files.Truncate("f", 1)}) {
    EXPECT_EQ("i/o error: no: way", status.ToString());
  }
  EXPECT_EQ(Code::kUnsupported, files.NewAppendableFile("f", FileUse::kLog).error().code());
  EXPECT_EQ("corruption: c", files.GetFileSize("f").error().ToString());
}

}  // namespace
}  // namespace weft::compat
