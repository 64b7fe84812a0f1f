// Names of files, and the CURRENT file.
#include "lsm/file_names.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/folder_test_kit.h"

namespace weft::lsm {
namespace {

TEST(FileNames, AreLevelDbs) {
  EXPECT_EQ(LogFileName("dir", 7), "dir/000007.log");
  EXPECT_EQ(TableFileName("dir", 123456), "dir/123456.ldb");
  EXPECT_EQ(TableFileName("dir", 12345678), "dir/12345678.ldb");
  EXPECT_EQ(OldTableFileName("dir", 0), "dir/000000.sst");
  EXPECT_EQ(ManifestFileName("dir", 2), "dir/MANIFEST-000002");
  EXPECT_EQ(TempFileName("dir", 999), "dir/000999.dbtmp");
  EXPECT_EQ(CurrentFileName("dir"), "dir/CURRENT");
  EXPECT_EQ(LockFileName("dir"), "dir/LOCK");
  EXPECT_EQ(InfoLogFileName("dir"), "dir/LOG");
  EXPECT_EQ(OldInfoLogFileName("dir"), "dir/LOG.old");
}

TEST(FileNames, AreReadBack) {
  const struct {
    const char* name;
    FileType type;
    uint64_t number;
  } kGood[] = {
      {"100.log", FileType::kLog, 100},
      {"0.log", FileType::kLog, 0},
      {"0.sst", FileType::kTable, 0},
      {"0.ldb", FileType::kTable, 0},
      {"000012.dbtmp", FileType::kTemp, 12},
      {"CURRENT", FileType::kCurrent, 0},
      {"LOCK", FileType::kLock, 0},
      {"MANIFEST-2", FileType::kManifest, 2},
      {"MANIFEST-000007", FileType::kManifest, 7},
      {"LOG", FileType::kInfoLog, 0},
      {"LOG.old", FileType::kInfoLog, 0},
      {"18446744073709551615.log", FileType::kLog, 18446744073709551615ull},
  };
  for (const auto& good : kGood) {
    ParsedFileName parsed;
    ASSERT_TRUE(ParseFileName(good.name, &parsed)) << good.name;
    EXPECT_EQ(parsed.type, good.type) << good.name;
    EXPECT_EQ(parsed.number, good.number) << good.name;
  }
}

TEST(FileNames, OthersAreNobodys) {
  for (const char* bad : {"",
                          "foo",
                          "foo-dx-100.log",
                          ".log",
                          "manifest",
                          "CURREN",
                          "CURRENTX",
                          "MANIFES",
                          "MANIFEST",
                          "MANIFEST-",
                          "XMANIFEST-3",
                          "MANIFEST-3x",
                          "LOC",
                          "LOCKx",
                          "LO",
                          "LOGx",
                          "100",
                          "100.",
                          "100.lop",
                          "-1.log",
                          "+1.log",
                          " 1.log",
                          "1.ldb.tmp",
                          "18446744073709551616.log",
                          "184467440737095516150.log"}) {
    ParsedFileName parsed;
    EXPECT_FALSE(ParseFileName(bad, &parsed)) << bad;
  }
}

class CurrentFile : public testing::Test {
 protected:
  void Write(const std::string& content) {
    std::ofstream(folder_ / "CURRENT", std::ios::binary) << content;
  }
  base::TestFolder folder_;
  FileSystem* const files_ = PosixFileSystem();
};

TEST_F(CurrentFile, NamesTheManifest) {
  EXPECT_EQ(ReadCurrentFile(files_, folder_.path()).error().code(), Code::kNotFound);
  for (const uint64_t number : {uint64_t{1}, uint64_t{1234567}}) {
    ASSERT_TRUE(SetCurrentFile(files_, folder_.path(), number).ok());
    const Result<uint64_t> read = ReadCurrentFile(files_, folder_.path());
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read.value(), number);
  }
  EXPECT_FALSE(files_->FileExists(TempFileName(folder_.path(), 1234567)));
  EXPECT_EQ(std::filesystem::file_size(folder_ / "CURRENT"), 17u);
}

TEST_F(CurrentFile, IsDamagedWhereItNamesNone) {
  for (const char* bad : {"", "MANIFEST-000001", "MANIFEST-x\n", "LOG\n", "000003.log\n",
                          "MANIFEST-000001\n\n", "../MANIFEST-000001\n"}) {
    Write(bad);
    const Result<uint64_t> read = ReadCurrentFile(files_, folder_.path());
    ASSERT_FALSE(read.has_value()) << bad;
    EXPECT_EQ(read.error().code(), Code::kCorruption);
    EXPECT_NE(read.error().message().find("CURRENT"), std::string_view::npos);
  }
}

}  // namespace
}  // namespace weft::lsm
