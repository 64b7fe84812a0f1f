#include "base/flat_file_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "base/counted_memory_test_kit.h"

namespace weft::base {
namespace {

void Write(FileSystem* files, const std::string& path, std::string_view bytes) {
  auto file = files->NewWritableFile(path, FileUse::kTable);
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE((*file)->Append(bytes).ok());
  ASSERT_TRUE((*file)->Close().ok());
}
std::string Read(FileSystem* files, const std::string& path) {
  auto file = files->NewRandomAccessFile(path);
  return file ? std::string((*file)->Mapped()) : "no file";
}

TEST(FlatFileSystem, ReadsWhatWasWritten) {
  FlatFileSystem files(nullptr, 100);
  Write(&files, "/a/b", "some bytes");
  EXPECT_EQ("some bytes", Read(&files, "/a/b"));
  EXPECT_EQ(10u, *files.GetFileSize("/a/b"));
  EXPECT_EQ(Code::kNotFound, files.GetFileSize("/none").error().code());

  auto anywhere = files.NewRandomAccessFile("/a/b");
  std::string_view read;
  char scratch[10];
  ASSERT_TRUE((*anywhere)->Read(5, 100, &read, scratch).ok());
  EXPECT_EQ("bytes", read);
  EXPECT_EQ((*anywhere)->Mapped().data() + 5, read.data()) << "nothing is copied";
  ASSERT_TRUE((*anywhere)->Read(50, 5, &read, scratch).ok());
  EXPECT_EQ("", read);

  auto in_order = files.NewSequentialFile("/a/b");
  ASSERT_TRUE((*in_order)->Skip(2).ok());
  ASSERT_TRUE((*in_order)->Read(3, &read, scratch).ok());
  EXPECT_EQ("me ", read);
  ASSERT_TRUE((*in_order)->Skip(100).ok());
  ASSERT_TRUE((*in_order)->Read(3, &read, scratch).ok());
  EXPECT_EQ("", read);
}

TEST(FlatFileSystem, AFileMayHaveASizeOfItsOwn) {
  CountedMemory memory;
  {
    FlatFileSystem files(&memory, 10);
    std::memset(files.NewFile("/a", 1000), 'a', 1000);
    EXPECT_EQ(std::string(1000, 'a'), Read(&files, "/a"));
    auto more = files.NewAppendableFile("/a", FileUse::kOther);
    EXPECT_EQ(Code::kIoError, (*more)->Append("b").code());
    more->reset();
    std::memset(files.NewFile("/a", 3), 'c', 3);
    EXPECT_EQ("ccc", Read(&files, "/a"));
    EXPECT_EQ(1u, memory.ranges());
  }
  EXPECT_EQ(2, memory.times_given());
  EXPECT_EQ(0u, memory.ranges());
}

TEST(FlatFileSystem, FilesAreWrittenInPlace) {
  FlatFileSystem files(nullptr, 1000);
  EXPECT_TRUE(files.WritesInPlace());
  auto file = files.NewWritableFile("/table", FileUse::kTable);
  Result<char*> first = (*file)->Extend(3);
  Result<char*> second = (*file)->Extend(2);
  ASSERT_TRUE(first && second);
  ASSERT_TRUE((*file)->Append("!").ok());
  std::memcpy(*second, "de", 2);  // in any order
  std::memcpy(*first, "abc", 3);
  EXPECT_EQ("", Read(&files, "/table")) << "it is not flushed";
  ASSERT_TRUE((*file)->Sync().ok());
  EXPECT_EQ("abcde!", Read(&files, "/table"));
}

TEST(FlatFileSystem, AFileThatWouldBeTooLongIsRefused) {
  FlatFileSystem files(nullptr, 10);
  auto file = files.NewWritableFile("/table", FileUse::kTable);
  ASSERT_TRUE((*file)->Append("1234567").ok());
  EXPECT_EQ(Code::kIoError, (*file)->Extend(4).error().code());
  EXPECT_EQ(Code::kIoError, (*file)->Append("8901").code());
  EXPECT_EQ(Code::kIoError, (*file)->Extend(~uint64_t{0}).error().code());
  ASSERT_TRUE((*file)->Append("890").ok());
  ASSERT_TRUE((*file)->Close().ok());
  EXPECT_EQ("1234567890", Read(&files, "/table"));
}

TEST(FlatFileSystem, ARemovedFileStaysForItsReaders) {
  CountedMemory memory;
  {
    FlatFileSystem files(&memory, 100);
    Write(&files, "/a", "old");
    auto reader = files.NewRandomAccessFile("/a");
    Write(&files, "/a", "new");
    EXPECT_EQ("new", Read(&files, "/a"));
    ASSERT_TRUE(files.RemoveFile("/a").ok());
    EXPECT_EQ(Code::kNotFound, files.RemoveFile("/a").code());
    EXPECT_EQ(Code::kNotFound, files.NewRandomAccessFile("/a").error().code());
    Write(&files, "/b", "of the room that the new one had");
    EXPECT_EQ("old", (*reader)->Mapped());
    EXPECT_EQ(2, memory.times_given());
    EXPECT_EQ(2u, memory.ranges()) << "kept for files to come";
  }
  EXPECT_EQ(2, memory.times_given());
  EXPECT_EQ(0u, memory.ranges());
}

TEST(FlatFileSystem, NamesMove) {
  FlatFileSystem files(nullptr, 100);
  Write(&files, "/a", "a");
  Write(&files, "/b", "b");
  ASSERT_TRUE(files.RenameFile("/a", "/b").ok());
  EXPECT_FALSE(files.FileExists("/a"));
  EXPECT_EQ("a", Read(&files, "/b"));
  ASSERT_TRUE(files.RenameFile("/b", "/b").ok());
  EXPECT_EQ("a", Read(&files, "/b"));
  ASSERT_TRUE(files.LinkFile("/b", "/c").ok());
  EXPECT_EQ(Code::kIoError, files.LinkFile("/b", "/c").code());
  ASSERT_TRUE(files.RemoveFile("/b").ok());
  EXPECT_EQ("a", Read(&files, "/c"));
  EXPECT_EQ(Code::kNotFound, files.RenameFile("/none", "/d").code());
  EXPECT_EQ(Code::kNotFound, files.LinkFile("/none", "/d").code());
}

TEST(FlatFileSystem, FilesAreContinuedAndCut) {
  FlatFileSystem files(nullptr, 100);
  Write(&files, "/a", "123456");
  ASSERT_TRUE(files.Truncate("/a", 3).ok());
  EXPECT_EQ(Code::kIoError, files.Truncate("/a", 4).code());
  EXPECT_EQ(Code::kNotFound, files.Truncate("/none", 0).code());
  for (const char* path : {"/a", "/made"}) {
    auto file = files.NewAppendableFile(path, FileUse::kLog);
    ASSERT_TRUE((*file)->Append("more").ok());
    ASSERT_TRUE((*file)->Close().ok());
  }
  EXPECT_EQ("123more", Read(&files, "/a"));
  EXPECT_EQ("more", Read(&files, "/made"));
}

TEST(FlatFileSystem, FoldersListWhatIsInThem) {
  FlatFileSystem files(nullptr, 100);
  std::vector<std::string> names;
  EXPECT_EQ(Code::kNotFound, files.GetChildren("/db", &names).code());
  ASSERT_TRUE(files.CreateDir("/db").ok());
  ASSERT_TRUE(files.GetChildren("/db", &names).ok());
  EXPECT_TRUE(names.empty());
  for (const char* path : {"/db/1", "/db/2", "/db/in/3", "/dbase/4"}) Write(&files, path, "");
  ASSERT_TRUE(files.GetChildren("/db", &names).ok());
  std::sort(names.begin(), names.end());
  EXPECT_EQ((std::vector<std::string>{"1", "2", "in"}), names);
  EXPECT_EQ(Code::kIoError, files.RemoveDir("/db").code());
  for (const char* path : {"/db/1", "/db/2", "/db/in/3"}) ASSERT_TRUE(files.RemoveFile(path).ok());
  EXPECT_TRUE(files.RemoveDir("/db").ok());
  EXPECT_EQ(Code::kNotFound, files.RemoveDir("/db").code());
  EXPECT_EQ(Code::kIoError, files.CreateDir("/dbase/4").code());
}

TEST(FlatFileSystem, ALockIsHeldOnce) {
  FlatFileSystem files(nullptr, 100);
  auto lock = files.LockFile("/LOCK");
  ASSERT_TRUE(lock.has_value());
  EXPECT_TRUE(files.FileExists("/LOCK"));
  EXPECT_EQ(Code::kRetryLater, files.LockFile("/LOCK").error().code());
  lock->reset();
  EXPECT_TRUE(files.LockFile("/LOCK").has_value());
}

TEST(FlatFileSystem, ThreadsMakeAndRemoveFiles) {
  FlatFileSystem files(nullptr, 100);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; thread++) {
    threads.emplace_back([&files, thread] {
      for (int i = 0; i < 200; i++) {
        const std::string path = "/" + std::to_string(thread) + "/" + std::to_string(i % 3);
        const std::string bytes = path + std::to_string(i);
        Write(&files, path, bytes);
        EXPECT_EQ(bytes, Read(&files, path));
        if (i % 5 != 0) continue;
        EXPECT_TRUE(files.RemoveFile(path).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace weft::base
