#include "base/memory_file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>

#include "base/seed_test_kit.h"

namespace weft::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::unique_ptr<WritableFile> Open(MemoryFileSystem* files, const std::string& path) {
  auto file = files->NewWritableFile(path, FileUse::kOther);
  EXPECT_TRUE(file.has_value()) << file.error().ToString();
  return std::move(*file);
}

std::string Contents(const MemoryFileSystem& files, const std::string& path) {
  auto contents = files.Contents(path);
  return contents.has_value() ? *contents : contents.error().ToString();
}

class MemoryFiles : public ::testing::Test {
 protected:
  std::mt19937_64 random_{base::TestSeed(1)};
  MemoryFileSystem files_;
};

TEST_F(MemoryFiles, AppendsAreSeenOnceFlushed) {
  auto file = Open(&files_, "/f");
  ASSERT_TRUE(file->Append("one").ok());
  EXPECT_EQ(Contents(files_, "/f"), "");
  ASSERT_TRUE(file->Flush().ok());
  EXPECT_EQ(Contents(files_, "f"), "one") << "a leading slash means nothing";
  ASSERT_TRUE(file->Append("two").ok());
  ASSERT_TRUE(file->Close().ok());
  EXPECT_FALSE(file->Append("x").ok());
  EXPECT_EQ(Contents(files_, "//f"), "onetwo");
  auto more = files_.NewAppendableFile("/f", FileUse::kLog);
  ASSERT_TRUE((*more)->Append("three").ok());
  more->reset();
  EXPECT_EQ(*files_.GetFileSize("/f"), 11u);
  file = Open(&files_, "/f");
  EXPECT_EQ(*files_.GetFileSize("/f"), 0u) << "in place of the old";
}

TEST_F(MemoryFiles, ReadersReadAnywhereAndInOrder) {
  ASSERT_TRUE(files_.SetContents("/f", "0123456789").ok());
  char scratch[16];
  std::string_view got;
  auto anywhere = files_.NewRandomAccessFile("/f");
  ASSERT_TRUE((*anywhere)->Read(7, 16, &got, scratch).ok());
  EXPECT_EQ(got, "789");
  ASSERT_TRUE((*anywhere)->Read(10, 1, &got, scratch).ok());
  EXPECT_EQ(got, "");
  auto in_order = files_.NewSequentialFile("/f");
  ASSERT_TRUE((*in_order)->Read(2, &got, scratch).ok());
  ASSERT_TRUE((*in_order)->Skip(3).ok());
  ASSERT_TRUE((*in_order)->Read(2, &got, scratch).ok());
  EXPECT_EQ(got, "56");
  ASSERT_TRUE(files_.RemoveFile("/f").ok());
  ASSERT_TRUE((*anywhere)->Read(0, 1, &got, scratch).ok()) << "open files outlive their names";
  EXPECT_EQ(got, "0");
}

TEST_F(MemoryFiles, NamesBehaveAsTheSystems) {
  ASSERT_TRUE(files_.CreateDir("/d").ok());
  ASSERT_TRUE(files_.CreateDir("/d").ok());
  ASSERT_TRUE(files_.CreateDir("/d/e").ok());
  ASSERT_TRUE(files_.SetContents("/d/a", "A").ok());
  ASSERT_TRUE(files_.SetContents("/d/b", "B").ok());
  std::vector<std::string> names;
  ASSERT_TRUE(files_.GetChildren("/d", &names).ok());
  EXPECT_THAT(names, UnorderedElementsAre("a", "b", "e"));
  EXPECT_EQ(files_.RemoveDir("/d").code(), Code::kIoError) << "not empty";
  ASSERT_TRUE(files_.RenameFile("/d/a", "/d/b").ok());
  EXPECT_EQ(Contents(files_, "/d/b"), "A");
  EXPECT_FALSE(files_.FileExists("/d/a"));
  ASSERT_TRUE(files_.LinkFile("/d/b", "/d/c").ok());
  EXPECT_EQ(files_.LinkFile("/d/b", "/d/c").code(), Code::kIoError);
  ASSERT_TRUE(files_.Truncate("/d/c", 0).ok());
  EXPECT_EQ(Contents(files_, "/d/b"), "");
  ASSERT_TRUE(files_.RenameFile("/d", "/moved").ok()) << "folders move with what is in them";
  EXPECT_THAT(files_.AllFiles(), ElementsAre("/moved/b", "/moved/c"));
  EXPECT_EQ(files_.RenameFile("/moved", "/moved/e/m").code(), Code::kIoError) << "into itself";
  EXPECT_EQ(files_.RenameFile("/moved/b", "/moved/e").code(), Code::kIoError) << "file to folder";
  ASSERT_TRUE(files_.RemoveDir("/moved/e").ok());
}

TEST_F(MemoryFiles, MissingIsNotFoundAndWrongKindIsIoError) {
  ASSERT_TRUE(files_.SetContents("/f", "").ok());
  ASSERT_TRUE(files_.CreateDir("/d").ok());
  std::vector<std::string> names;
  EXPECT_EQ(files_.NewSequentialFile("/n").error().code(), Code::kNotFound);
  EXPECT_EQ(files_.NewRandomAccessFile("/n").error().code(), Code::kNotFound);
  EXPECT_EQ(files_.NewWritableFile("/n/f", FileUse::kLog).error().code(), Code::kNotFound);
  EXPECT_EQ(files_.GetChildren("/n", &names).code(), Code::kNotFound);
  EXPECT_EQ(files_.RemoveFile("/n").code(), Code::kNotFound);
  EXPECT_EQ(files_.RemoveDir("/n").code(), Code::kNotFound);
  EXPECT_EQ(files_.GetFileSize("/n").error().code(), Code::kNotFound);
  EXPECT_EQ(files_.RenameFile("/n", "/m").code(), Code::kNotFound);
  EXPECT_EQ(files_.LinkFile("/n", "/m").code(), Code::kNotFound);
  EXPECT_EQ(files_.Truncate("/n", 0).code(), Code::kNotFound);
  EXPECT_EQ(files_.SyncDir("/n").code(), Code::kNotFound);
  EXPECT_EQ(files_.NewSequentialFile("/d").error().code(), Code::kIoError);
  EXPECT_EQ(files_.NewWritableFile("/d", FileUse::kLog).error().code(), Code::kIoError);
  EXPECT_EQ(files_.NewWritableFile("/f/g", FileUse::kLog).error().code(), Code::kIoError);
  EXPECT_EQ(files_.GetChildren("/f", &names).code(), Code::kIoError);
  EXPECT_EQ(files_.RemoveFile("/d").code(), Code::kIoError);
  EXPECT_EQ(files_.RemoveDir("/f").code(), Code::kIoError);
  EXPECT_EQ(files_.SyncDir("/f").code(), Code::kIoError);
  EXPECT_EQ(files_.CreateDir("/f").code(), Code::kIoError);
  EXPECT_EQ(files_.FlipBits("/f", 0, 1).code(), Code::kInvalidArgument);
}

TEST_F(MemoryFiles, LockIsHeldOnceAndFreedByACrash) {
  auto lock = files_.LockFile("/LOCK");
  ASSERT_TRUE(lock.has_value());
  EXPECT_EQ(files_.LockFile("/LOCK").error().code(), Code::kRetryLater);
  lock->reset();
  lock = files_.LockFile("/LOCK");
  ASSERT_TRUE(lock.has_value());
  files_.Crash(&random_, CrashKind::kProcessEnd);
  auto after = files_.LockFile("/LOCK");
  ASSERT_TRUE(after.has_value());
  lock->reset();
  EXPECT_FALSE(files_.LockFile("/LOCK").has_value()) << "a dead lock's end frees nothing";
}

TEST_F(MemoryFiles, OpenFilesAreDeadAfterACrash) {
  auto file = Open(&files_, "/f");
  ASSERT_TRUE(file->Append("kept").ok());
  ASSERT_TRUE(file->Flush().ok());
  ASSERT_TRUE(file->Append("lost").ok());
  auto reader = files_.NewRandomAccessFile("/f");
  files_.Crash(&random_, CrashKind::kProcessEnd);
  EXPECT_EQ(file->Append("x").code(), Code::kIoError);
  EXPECT_EQ(file->Flush().code(), Code::kIoError);
  EXPECT_EQ(file->Sync().code(), Code::kIoError);
  char scratch[4];
  std::string_view got;
  EXPECT_EQ((*reader)->Read(0, 4, &got, scratch).code(), Code::kIoError);
  file.reset();
  EXPECT_EQ(Contents(files_, "/f"), "kept") << "flushed, and no more";
}

TEST_F(MemoryFiles, PowerCutDropsWhatWasNotSynced) {
  auto file = Open(&files_, "/f");
  ASSERT_TRUE(file->Append("synced").ok());
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(file->Append("flushed").ok());
  ASSERT_TRUE(file->Flush().ok());
  auto nameless = files_.Copy();
  nameless->Crash(&random_, CrashKind::kDropAll);
  EXPECT_THAT(nameless->AllFiles(), IsEmpty()) << "its name was not synced";
  ASSERT_TRUE(files_.SyncDir("/").ok());
  files_.Crash(&random_, CrashKind::kDropAll);
  EXPECT_EQ(Contents(files_, "/f"), "synced");
  files_.Crash(&random_, CrashKind::kDropAll);
  EXPECT_EQ(Contents(files_, "/f"), "synced") << "a second crash takes nothing more";
}

TEST_F(MemoryFiles, TornBytesAreAnyPrefix) {
  auto file = Open(&files_, "/f");
  ASSERT_TRUE(file->Append("ab").ok());
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(files_.SyncDir("/").ok());
  ASSERT_TRUE(file->Append("cd").ok());
  ASSERT_TRUE(file->Append("e").ok());
  ASSERT_TRUE(file->Flush().ok());
  std::set<std::string> seen;
  for (int i = 0; i < 200; i++) {
    auto copy = files_.Copy();
    copy->Crash(&random_, CrashKind::kTorn);
    seen.insert(Contents(*copy, "/f"));
  }
  EXPECT_THAT(seen, UnorderedElementsAre("ab", "abc", "abcd", "abcde"));
}

TEST_F(MemoryFiles, ReorderedPiecesAreWholeOrZero) {
  const std::string synced(700, 's'), later(20000, 'l');
  auto file = Open(&files_, "/f");
  ASSERT_TRUE(file->Append(synced).ok());
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(files_.SyncDir("/").ok());
  ASSERT_TRUE(file->Append(later).ok());
  ASSERT_TRUE(file->Flush().ok());
  bool late_survived_early = false;
  for (int i = 0; i < 100; i++) {
    auto copy = files_.Copy();
    copy->Crash(&random_, CrashKind::kReordered);
    const std::string left = Contents(*copy, "/f");
    ASSERT_EQ(left.substr(0, synced.size()), synced);
    for (size_t start = synced.size(); start < left.size();) {
      const size_t end = std::min(left.size(), (start / 512 + 1) * 512);
      const std::string piece = left.substr(start, end - start);
      ASSERT_EQ(piece, std::string(piece.size(), piece[0]));
      start = end;
    }
    const size_t hole = left.find('\0');
    late_survived_early |= hole != std::string::npos && left.find('l', hole) != std::string::npos;
  }
  EXPECT_TRUE(late_survived_early);
}

TEST_F(MemoryFiles, CutsNotSyncedMayBeUndone) {
  ASSERT_TRUE(files_.SetContents("/f", "old contents").ok());
  auto file = Open(&files_, "/f");
  ASSERT_TRUE(file->Append("new").ok());
  ASSERT_TRUE(file->Flush().ok());
  auto dropped = files_.Copy();
  dropped->Crash(&random_, CrashKind::kDropAll);
  EXPECT_EQ(Contents(*dropped, "/f"), "old contents");
  std::set<std::string> seen;
  for (int i = 0; i < 200; i++) {
    auto copy = files_.Copy();
    copy->Crash(&random_, CrashKind::kTorn);
    seen.insert(Contents(*copy, "/f"));
  }
  EXPECT_THAT(seen, UnorderedElementsAre("old contents", "", "n", "ne", "new"));
  ASSERT_TRUE(file->Sync().ok());
  files_.Crash(&random_, CrashKind::kDropAll);
  EXPECT_EQ(Contents(files_, "/f"), "new");
}

TEST_F(MemoryFiles, NamesNotSyncedAreKeptEachOnItsOwn) {
  ASSERT_TRUE(files_.SetContents("/gone", "G").ok());
  for (const char* path : {"/a", "/b"}) ASSERT_TRUE(Open(&files_, path)->Sync().ok());
  ASSERT_TRUE(files_.RemoveFile("/gone").ok());
  std::set<std::vector<std::string>> seen;
  for (int i = 0; i < 200; i++) {
    auto copy = files_.Copy();
    copy->Crash(&random_, CrashKind::kTorn);
    seen.insert(copy->AllFiles());
  }
  EXPECT_EQ(seen.size(), 8u) << "all subsets";
  ASSERT_TRUE(files_.SyncDir("/").ok());
  files_.Crash(&random_, CrashKind::kTorn);
  EXPECT_THAT(files_.AllFiles(), ElementsAre("/a", "/b"));
}

TEST_F(MemoryFiles, RenameIsOldOrNew) {
  ASSERT_TRUE(files_.SetContents("/current", "old").ok());
  ASSERT_TRUE(files_.SetContents("/temporary", "new").ok());
  ASSERT_TRUE(files_.RenameFile("/temporary", "/current").ok());
  std::map<std::string, int> seen;
  for (int i = 0; i < 100; i++) {
    auto copy = files_.Copy();
    copy->Crash(&random_, CrashKind::kReordered);
    const std::string contents = Contents(*copy, "/current");
    EXPECT_EQ(copy->FileExists("/temporary"), contents == "old");
    seen[contents]++;
  }
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen["old"] + seen["new"], 100);
}

TEST_F(MemoryFiles, FolderNotSyncedIsLostWithAllInIt) {
  ASSERT_TRUE(files_.CreateDir("/d").ok());
  ASSERT_TRUE(Open(&files_, "/d/f")->Sync().ok());
  ASSERT_TRUE(files_.SyncDir("/d").ok());
  auto copy = files_.Copy();
  copy->Crash(&random_, CrashKind::kDropAll);
  EXPECT_FALSE(copy->FileExists("/d"));
  ASSERT_TRUE(files_.SyncDir("/").ok());
  files_.Crash(&random_, CrashKind::kDropAll);
  EXPECT_TRUE(files_.FileExists("/d/f"));
}

TEST_F(MemoryFiles, CopiesAreApartAndRestoreBringsBack) {
  ASSERT_TRUE(files_.SetContents("/f", "first").ok());
  ASSERT_TRUE(files_.LinkFile("/f", "/g").ok());
  auto copy = files_.Copy();
  ASSERT_TRUE(files_.FlipBits("/f", 0, 0x20).ok());
  EXPECT_EQ(Contents(files_, "/g"), "First") << "one file, two names";
  EXPECT_EQ(Contents(*copy, "/g"), "first");
  auto open = Open(&files_, "/h");
  files_.Restore(*copy);
  EXPECT_FALSE(open->Append("x").ok());
  EXPECT_THAT(files_.AllFiles(), ElementsAre("/f", "/g"));
  EXPECT_EQ(Contents(files_, "/f"), "first");
}

TEST_F(MemoryFiles, ThreadsWorkAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([this, t] {
      const std::string path = "/f" + std::to_string(t);
      for (int i = 0; i < 100; i++) {
        auto file = files_.NewAppendableFile(path, FileUse::kLog);
        ASSERT_TRUE((*file)->Append("x").ok());
        ASSERT_TRUE((*file)->Sync().ok());
        ASSERT_TRUE(files_.SyncDir("/").ok());
        if (i % 10 == 0) (void)files_.Copy();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& path : files_.AllFiles()) EXPECT_EQ(Contents(files_, path).size(), 100u);
}

}  // namespace
}  // namespace weft::base
