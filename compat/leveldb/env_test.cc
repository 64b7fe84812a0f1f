#include "leveldb/env.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>

#include "leveldb/helpers/memenv.h"
#include "leveldb/slice.h"
#include "leveldb_test_kit.h"

namespace leveldb {
namespace {

using weft::compat::TestFolder;

enum class Kind { kSystem, kMemory, kWrapped };

// What every Env must do.
class AnyEnv : public testing::TestWithParam<Kind> {
 protected:
  AnyEnv() {
    if (GetParam() == Kind::kMemory) owned_.reset(NewMemEnv(Env::Default()));
    if (GetParam() == Kind::kWrapped) owned_ = std::make_unique<EnvWrapper>(Env::Default());
    env_ = owned_ == nullptr ? Env::Default() : owned_.get();
  }
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string Contents(const std::string& path) {
    std::string text;
    const Status status = ReadFileToString(env_, path, &text);
    return status.ok() ? text : status.ToString();
  }

  TestFolder folder_;
  std::unique_ptr<Env> owned_;
  Env* env_;
};

TEST_P(AnyEnv, WritesAppendsAndReads) {
  const std::string path = Path("000001.log");
  WritableFile* made;
  ASSERT_TRUE(env_->NewWritableFile(path, &made).ok());
  std::unique_ptr<WritableFile> file(made);
  EXPECT_TRUE(file->Append("hello ").ok());
  EXPECT_TRUE(file->Append(Slice("wor\0ld", 6)).ok());
  EXPECT_TRUE(file->Append("").ok());
  EXPECT_TRUE(file->Flush().ok());
  EXPECT_EQ(std::string("hello wor\0ld", 12), Contents(path));
  EXPECT_TRUE(file->Sync().ok());
  EXPECT_TRUE(file->Close().ok());

  ASSERT_TRUE(env_->NewAppendableFile(path, &made).ok());
  file.reset(made);
  EXPECT_TRUE(file->Append("!").ok());
  EXPECT_TRUE(file->Close().ok());
  uint64_t bytes = 0;
  EXPECT_TRUE(env_->GetFileSize(path, &bytes).ok());
  EXPECT_EQ(13u, bytes);

  ASSERT_TRUE(env_->NewWritableFile(path, &made).ok());
  file.reset(made);
  EXPECT_TRUE(file->Close().ok());
  EXPECT_TRUE(env_->GetFileSize(path, &bytes).ok());
  EXPECT_EQ(0u, bytes);
}

TEST_P(AnyEnv, AFileNotClosedKeepsWhatItGot) {
  WritableFile* made;
  ASSERT_TRUE(env_->NewWritableFile(Path("f"), &made).ok());
  std::unique_ptr<WritableFile> file(made);
  EXPECT_TRUE(file->Append("text").ok());
  file.reset();
  EXPECT_EQ("text", Contents(Path("f")));
}

TEST_P(AnyEnv, ReadsAtRandomAndInSequence) {
  std::string text;
  for (int i = 0; i < 30000; i++) text += std::to_string(i) + " ";
  ASSERT_TRUE(WriteStringToFile(env_, text, Path("f")).ok());
  RandomAccessFile* random;
  ASSERT_TRUE(env_->NewRandomAccessFile(Path("f"), &random).ok());
  const std::unique_ptr<RandomAccessFile> random_owner(random);
  std::vector<char> scratch(text.size() + 10);
  for (const size_t offset : {size_t{0}, size_t{8190}, size_t{100000}, text.size() - 3}) {
    for (const size_t bytes : {size_t{0}, size_t{1}, size_t{8192}, size_t{70000}}) {
      Slice piece;
      ASSERT_TRUE(random->Read(offset, bytes, &piece, scratch.data()).ok());
      EXPECT_TRUE(piece == Slice(text.substr(offset, bytes))) << offset << " " << bytes;
    }
  }
  SequentialFile* sequential;
  ASSERT_TRUE(env_->NewSequentialFile(Path("f"), &sequential).ok());
  const std::unique_ptr<SequentialFile> sequential_owner(sequential);
  Slice piece;
  ASSERT_TRUE(sequential->Read(10, &piece, scratch.data()).ok());
  EXPECT_EQ(text.substr(0, 10), piece.ToString());
  EXPECT_TRUE(sequential->Skip(9990).ok());
  ASSERT_TRUE(sequential->Read(20, &piece, scratch.data()).ok());
  EXPECT_EQ(text.substr(10000, 20), piece.ToString());
  ASSERT_TRUE(sequential->Read(text.size(), &piece, scratch.data()).ok());
  EXPECT_TRUE(piece == Slice(text.substr(10020)));
  ASSERT_TRUE(sequential->Read(10, &piece, scratch.data()).ok());
  EXPECT_TRUE(piece.empty());
}

TEST_P(AnyEnv, NamesComeGoAndChange) {
  ASSERT_TRUE(WriteStringToFile(env_, "a", Path("a")).ok());
  ASSERT_TRUE(WriteStringToFile(env_, "bb", Path("b")).ok());
  EXPECT_TRUE(env_->FileExists(Path("a")));
  EXPECT_FALSE(env_->FileExists(Path("c")));
  std::vector<std::string> names = {"an older answer"};
  ASSERT_TRUE(env_->GetChildren(folder_.path(), &names).ok());
  std::sort(names.begin(), names.end());
  EXPECT_EQ((std::vector<std::string>{"a", "b"}), names);
  EXPECT_TRUE(env_->RenameFile(Path("b"), Path("a")).ok());
  EXPECT_EQ("bb", Contents(Path("a")));
  EXPECT_FALSE(env_->FileExists(Path("b")));
  EXPECT_TRUE(env_->RemoveFile(Path("a")).ok());
  EXPECT_FALSE(env_->FileExists(Path("a")));
}

TEST_P(AnyEnv, MissingFilesAreErrorsAndNull) {
  SequentialFile* sequential = reinterpret_cast<SequentialFile*>(1);
  EXPECT_FALSE(env_->NewSequentialFile(Path("none"), &sequential).ok());
  EXPECT_EQ(nullptr, sequential);
  RandomAccessFile* random = reinterpret_cast<RandomAccessFile*>(1);
  EXPECT_FALSE(env_->NewRandomAccessFile(Path("none"), &random).ok());
  EXPECT_EQ(nullptr, random);
  uint64_t bytes = 7;
  EXPECT_FALSE(env_->GetFileSize(Path("none"), &bytes).ok());
  EXPECT_FALSE(env_->RemoveFile(Path("none")).ok());
  EXPECT_FALSE(env_->DeleteFile(Path("none")).ok());
  EXPECT_FALSE(env_->RenameFile(Path("none"), Path("a")).ok());
}

TEST_P(AnyEnv, OpenFilesOutliveTheirNames) {
  ASSERT_TRUE(WriteStringToFile(env_, "text", Path("f")).ok());
  RandomAccessFile* random;
  ASSERT_TRUE(env_->NewRandomAccessFile(Path("f"), &random).ok());
  const std::unique_ptr<RandomAccessFile> owner(random);
  ASSERT_TRUE(env_->RemoveFile(Path("f")).ok());
  char scratch[4];
  Slice piece;
  ASSERT_TRUE(random->Read(0, 4, &piece, scratch).ok());
  EXPECT_EQ("text", piece.ToString());
}

TEST_P(AnyEnv, LocksAndUnlocks) {
  FileLock* lock;
  ASSERT_TRUE(env_->LockFile(Path("LOCK"), &lock).ok());
  if (GetParam() != Kind::kMemory) {
    FileLock* second = reinterpret_cast<FileLock*>(1);
    EXPECT_TRUE(env_->LockFile(Path("LOCK"), &second).IsIOError());
    EXPECT_EQ(nullptr, second);
  }
  EXPECT_TRUE(env_->UnlockFile(lock).ok());
  ASSERT_TRUE(env_->LockFile(Path("LOCK"), &lock).ok());
  EXPECT_TRUE(env_->UnlockFile(lock).ok());
}

TEST_P(AnyEnv, RunsWhatIsScheduledInOrderAndWhatIsStarted) {
  struct Note {
    std::atomic<int>* count;
    std::atomic<int>* out_of_order;
    int number;
  };
  std::atomic<int> count = 0, out_of_order = 0;
  std::vector<Note> notes;
  for (int i = 0; i < 100; i++) notes.push_back({&count, &out_of_order, i});
  for (Note& note : notes) {
    env_->Schedule(
        [](void* argument) {
          Note* note_of = static_cast<Note*>(argument);
          if (note_of->count->fetch_add(1) != note_of->number) note_of->out_of_order->fetch_add(1);
        },
        &note);
  }
  while (count < 100) env_->SleepForMicroseconds(100);
  EXPECT_EQ(0, out_of_order);
  env_->StartThread([](void* argument) { static_cast<std::atomic<int>*>(argument)->store(7); },
                    &count);
  while (count != 7) env_->SleepForMicroseconds(100);
}

INSTANTIATE_TEST_SUITE_P(Kinds, AnyEnv,
                         testing::Values(Kind::kSystem, Kind::kMemory, Kind::kWrapped));

TEST(SystemEnv, MissingFilesAreNotFound) {
  const TestFolder folder;
  Env* const env = Env::Default();
  SequentialFile* file;
  EXPECT_TRUE(env->NewSequentialFile(folder.path() + "/none", &file).IsNotFound());
  std::vector<std::string> names;
  EXPECT_TRUE(env->GetChildren(folder.path() + "/none", &names).IsNotFound());
  EXPECT_TRUE(env->RemoveFile(folder.path() + "/none").IsNotFound());
}

TEST(SystemEnv, FoldersAreMadeOnceAndRemovedWhenEmpty) {
  const TestFolder folder;
  Env* const env = Env::Default();
  const std::string path = folder.path() + "/sub";
  EXPECT_TRUE(env->CreateDir(path).ok());
  EXPECT_TRUE(env->CreateDir(path).IsIOError());
  ASSERT_TRUE(WriteStringToFile(env, "x", path + "/MANIFEST-000001").ok());
  EXPECT_TRUE(env->RemoveDir(path).IsIOError());
  EXPECT_TRUE(env->RemoveFile(path + "/MANIFEST-000001").ok());
  EXPECT_TRUE(env->DeleteDir(path).ok());
  EXPECT_FALSE(env->FileExists(path));
}

TEST(SystemEnv, LogsLinesOfAnyLength) {
  const TestFolder folder;
  Env* const env = Env::Default();
  Logger* made;
  ASSERT_TRUE(env->NewLogger(folder.path() + "/LOG", &made).ok());
  std::unique_ptr<Logger> logger(made);
  Log(logger.get(), "number %d", 42);
  Log(logger.get(), "%s, its own end\n", std::string(5000, 'x').c_str());
  for (int bytes = 500; bytes < 520; bytes++) {  // around the room that spares an allocation
    Log(logger.get(), "%s", std::string(static_cast<size_t>(bytes), 'y').c_str());
  }
  logger.reset();
  std::string text;
  ASSERT_TRUE(ReadFileToString(env, folder.path() + "/LOG", &text).ok());
  EXPECT_NE(std::string::npos, text.find("number 42\n"));
  EXPECT_NE(std::string::npos, text.find(std::string(5000, 'x') + ", its own end\n"));
  EXPECT_NE(std::string::npos, text.find(std::string(519, 'y') + "\n"));
  EXPECT_EQ(22, std::count(text.begin(), text.end(), '\n'));
}

TEST(Env, OldAndNewNamesOfRemovalCallEachOther) {
  struct Old final : EnvWrapper {
    Old() : EnvWrapper(Env::Default()) {}
    Status RemoveFile(const std::string& f) override { return Env::RemoveFile(f); }
    Status RemoveDir(const std::string& f) override { return Env::RemoveDir(f); }
    Status DeleteFile(const std::string& f) override { return Status::IOError("file", f); }
    Status DeleteDir(const std::string& f) override { return Status::IOError("folder", f); }
  } old;
  EXPECT_EQ("IO error: file: x", old.RemoveFile("x").ToString());
  EXPECT_EQ("IO error: folder: x", old.RemoveDir("x").ToString());
}

TEST(Env, AppendingIsNotSupportedUnlessOverridden) {
  struct Bare final : EnvWrapper {
    Bare() : EnvWrapper(Env::Default()) {}
    Status NewAppendableFile(const std::string& f, WritableFile** r) override {
      return Env::NewAppendableFile(f, r);
    }
  } bare;
  WritableFile* file = reinterpret_cast<WritableFile*>(1);
  EXPECT_TRUE(bare.NewAppendableFile("x", &file).IsNotSupportedError());
  EXPECT_EQ(nullptr, file);
}

}  // namespace
}  // namespace leveldb
