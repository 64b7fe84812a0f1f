// Files that are given to a store by odd paths: symbolic links, what is no file, files of its own.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/faulty_file_system.h"
#include "base/folder_test_kit.h"
#include "base/memory_file_system.h"
#include "lsm/store_copy.h"
#include "weft/db.h"

namespace weft {
namespace {

using Model = std::map<std::string, std::string>;

class ForeignPathsTest : public testing::Test {
 protected:
  ForeignPathsTest() { options.create_if_missing = true; }

  void Open() {
    db.reset();
    auto opened = Db::Open(options, dir);
    ASSERT_TRUE(opened.has_value()) << opened.error().ToString();
    db = std::move(*opened);
  }
  std::string Table(const std::string& path, const std::string& keys) {
    auto writer = TableWriter::Open(options, path);
    EXPECT_TRUE(writer.has_value()) << writer.error().ToString();
    for (int i = 10; i < 20; i++) {
      EXPECT_TRUE((*writer)->Put(keys + std::to_string(i), "ingested").ok());
    }
    EXPECT_TRUE((*writer)->Finish().ok());
    return path;
  }
  void Ingested(const std::string& keys) {
    for (int i = 10; i < 20; i++) model[keys + std::to_string(i)] = "ingested";
  }
  Status Ingest(const std::string& path, bool move = false) {
    const std::vector<std::string> paths = {path};
    return db->Ingest(paths, move);
  }
  static Model All(Db* of) {
    Model all;
    const auto iterator = of->NewIterator({.verify_checksums = true});
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      all.emplace(iterator->key(), iterator->value());
    }
    EXPECT_TRUE(iterator->status().ok()) << iterator->status().ToString();
    return all;
  }
  // The store's tables are files of its own, and hold what they should, also after it was opened.
  void ExpectOwn() {
    Open();
    EXPECT_EQ(All(db.get()), model);
    std::vector<std::string> names;
    ASSERT_TRUE(PosixFileSystem()->GetChildren(dir, &names).ok());
    for (const std::string& name : names) {
      struct stat about;
      ASSERT_EQ(::lstat((dir + "/" + name).c_str(), &about), 0);
      EXPECT_FALSE(S_ISLNK(about.st_mode)) << name;
    }
  }

  base::TestFolder folder;
  const std::string dir = folder / "db";
  DbOptions options;
  std::unique_ptr<Db> db;
  Model model;
};

TEST_F(ForeignPathsTest, ASymbolicLinkStandsForItsFile) {
  Open();
  Table(folder / "a.ldb", "a");
  Table(folder / "b.ldb", "b");
  ASSERT_EQ(::symlink((folder / "a.ldb").c_str(), (folder / "to-a").c_str()), 0);
  ASSERT_EQ(::symlink("b.ldb", (folder / "to-b").c_str()), 0);
  ASSERT_EQ(::symlink("to-b", (folder / "to-to-b").c_str()), 0);
  EXPECT_TRUE(Ingest(folder / "to-a", true).ok());
  Ingested("a");
  EXPECT_TRUE(Ingest(folder / "to-to-b").ok());
  Ingested("b");
  // The link is what was named, and goes; its file stays.
  EXPECT_NE(::access((folder / "to-a").c_str(), F_OK), 0);
  EXPECT_EQ(::access((folder / "a.ldb").c_str(), F_OK), 0);
  ASSERT_EQ(::unlink((folder / "a.ldb").c_str()), 0);
  ASSERT_EQ(::unlink((folder / "b.ldb").c_str()), 0);
  ExpectOwn();
}

TEST_F(ForeignPathsTest, ALinkToNothingIsAnErrorAndMakesNoFile) {
  Open();
  ASSERT_EQ(::symlink("none.ldb", (folder / "to-none").c_str()), 0);
  EXPECT_EQ(Ingest(folder / "to-none").code(), Code::kNotFound);
  EXPECT_NE(::access((folder / "none.ldb").c_str(), F_OK), 0);
  ExpectOwn();
}

// Nobody reads it, and opening it to write would wait for somebody who does.
TEST_F(ForeignPathsTest, AFifoInTheNameOfAFileIsNotWaitedFor) {
  for (const char* name : {"CLOSED", "LOG", "000900.ldb", "000901.log"}) {
    Open();
    ASSERT_TRUE(db->Put({}, "key", name).ok());
    db.reset();
    ::unlink((dir + "/" + name).c_str());
    ASSERT_EQ(::mkfifo((dir + "/" + name).c_str(), 0600), 0) << name;
    for (int i = 0; i < 2; i++) {
      auto opened = Db::Open(options, dir);
      ASSERT_TRUE(opened.has_value()) << name << ": " << opened.error().ToString();
      EXPECT_TRUE((*opened)->Put({}, "another", name).ok()) << name;
    }
    ::unlink((dir + "/" + name).c_str());
  }
  for (const FileUse use : {FileUse::kTable, FileUse::kLog, FileUse::kOther}) {
    ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
    EXPECT_FALSE(PosixFileSystem()->NewWritableFile(folder / "fifo", use).has_value());
    EXPECT_FALSE(PosixFileSystem()->NewAppendableFile(folder / "fifo", use).has_value());
    EXPECT_FALSE(PosixFileSystem()->Direct()->NewWritableFile(folder / "fifo", use).has_value());
    ::unlink((folder / "fifo").c_str());
  }
}

TEST_F(ForeignPathsTest, WhatIsNoFileIsRefusedAndNotWaitedFor) {
  Open();
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  ASSERT_EQ(::mkdir((folder / "folder").c_str(), 0700), 0);
  const int empty = ::open((folder / "empty.ldb").c_str(), O_CREAT | O_WRONLY, 0600);
  ASSERT_GE(empty, 0);
  ::close(empty);
  for (const std::string& path :
       {folder / "fifo", folder / "folder", folder / "empty.ldb", std::string("/dev/null"),
        std::string("/dev/zero"), std::string()}) {
    const Status status = Ingest(path, true);
    EXPECT_FALSE(status.ok()) << path;
    EXPECT_NE(status.ToString().find(path), std::string::npos) << status.ToString();
  }
  EXPECT_EQ(::access((folder / "fifo").c_str(), F_OK), 0);
  EXPECT_FALSE(PosixFileSystem()->NewSequentialFile(folder / "fifo").has_value());
  EXPECT_FALSE(PosixFileSystem()->Direct()->NewRandomAccessFile(folder / "fifo").has_value());
  EXPECT_FALSE(PosixFileSystem()->NewSequentialFile("/dev/null").has_value());
  EXPECT_FALSE(PosixFileSystem()->NewSequentialFile("/dev/zero").has_value());
  ExpectOwn();
}

TEST_F(ForeignPathsTest, OneFileTwiceCountsOnce) {
  Open();
  const std::string path = Table(folder / "a.ldb", "a");
  const std::vector<std::string> twice = {path, path};
  EXPECT_TRUE(db->Ingest(twice, true).ok());
  Ingested("a");
  ExpectOwn();
}

// `move` would take a table of the store away.
TEST_F(ForeignPathsTest, AFileOfTheStoreItselfIsRefusedUnderAnyPath) {
  Open();
  Table(folder / "a.ldb", "a");
  ASSERT_TRUE(Ingest(folder / "a.ldb").ok());
  Ingested("a");
  std::vector<std::string> names;
  ASSERT_TRUE(PosixFileSystem()->GetChildren(dir, &names).ok());
  ASSERT_EQ(::symlink("db", (folder / "other").c_str()), 0);
  int tables = 0;
  for (const std::string& name : names) {
    if (!name.ends_with(".ldb")) continue;
    tables++;
    for (const std::string& path :
         {dir + "/" + name, dir + "/../db//" + name, (folder / "other") + "/" + name}) {
      EXPECT_EQ(Ingest(path, true).code(), Code::kInvalidArgument) << path;
      EXPECT_EQ(::access(path.c_str(), F_OK), 0) << path;
    }
  }
  EXPECT_EQ(tables, 1);
  // A name that no store gives may lie anywhere, and another store's folder is any folder.
  EXPECT_TRUE(Ingest(Table(dir + "/incoming", "b"), true).ok());
  Ingested("b");
  ASSERT_EQ(::mkdir((folder / "dump").c_str(), 0700), 0);
  EXPECT_TRUE(Ingest(Table(folder / "dump/000005.ldb", "c"), true).ok());
  Ingested("c");
  ExpectOwn();
}

TEST_F(ForeignPathsTest, TablesOfAStoreMayBeSymbolicLinks) {
  Open();
  ASSERT_TRUE(db->Put({}, "key", "value").ok());
  ASSERT_TRUE(db->Flush().ok());
  db.reset();
  std::vector<std::string> names;
  ASSERT_TRUE(PosixFileSystem()->GetChildren(dir, &names).ok());
  for (const std::string& name : names) {
    if (!name.ends_with(".ldb")) continue;
    ASSERT_EQ(::rename((dir + "/" + name).c_str(), (folder / name).c_str()), 0);
    ASSERT_EQ(::symlink(("../" + name).c_str(), (dir + "/" + name).c_str()), 0);
  }
  Open();
  ASSERT_EQ(::mkdir((folder / "deep").c_str(), 0700), 0);
  ASSERT_EQ(::mkdir((folder / "deep/er").c_str(), 0700), 0);
  ASSERT_TRUE(db->Checkpoint(folder / "deep/er/copy").ok());
  auto copy = Db::Open(options, folder / "deep/er/copy");
  ASSERT_TRUE(copy.has_value()) << copy.error().ToString();
  EXPECT_EQ(All(copy->get()), (Model{{"key", "value"}}));
}

// Where a file cannot be opened to be written it cannot be synced, and is copied.
TEST(ForeignFiles, AFileThatMayOnlyBeReadIsTaken) {
  base::MemoryFileSystem memory;
  base::FaultyFileSystem files(&memory);
  DbOptions options;
  options.create_if_missing = true;
  options.file_system = &files;
  auto writer = TableWriter::Open(options, "/in.ldb");
  ASSERT_TRUE((*writer)->Put("key", "ingested").ok());
  ASSERT_TRUE((*writer)->Finish().ok());
  auto db = Db::Open(options, "/db");
  ASSERT_TRUE(db.has_value());
  files.SetHook([](const base::FileCall& call) {
    return call.kind == base::FileCallKind::kNewAppendableFile
               ? Status(Code::kIoError, "test: permission denied")
               : Status();
  });
  const std::vector<std::string> paths = {"/in.ldb"};
  const Status status = (*db)->Ingest(paths, false);
  EXPECT_TRUE(status.ok()) << status.ToString();
  std::string value;
  EXPECT_TRUE((*db)->Get({}, "key", &value).ok());
  EXPECT_EQ(value, "ingested");
}

}  // namespace
}  // namespace weft
