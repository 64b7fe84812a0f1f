#include "compaction/read_ahead_file.h"

#include <gtest/gtest.h>

#include "base/faulty_file_system.h"
#include "base/memory_file_system.h"
#include "table/test_file.h"

namespace weft::compaction {
namespace {

TEST(ReadAheadFile, ReadsTheFilesBytesInFewCalls) {
  table::Strings strings(table::TestSeed());
  base::MemoryFileSystem files;
  base::FaultyFileSystem counted(&files);
  const std::string contents = strings.Bytes(ReadAheadFile::kWindowBytes * 4 + 777);
  ASSERT_TRUE(files.SetContents("/file", contents).ok());
  ReadAheadFile file(std::move(*counted.NewRandomAccessFile("/file")));
  std::string_view result;
  for (size_t at = 0; at < contents.size(); at += 4096) {
    ASSERT_TRUE(file.Read(at, 4096, &result, nullptr).ok());
    ASSERT_TRUE(result == std::string_view(contents).substr(at, 4096));
  }
  EXPECT_LE(counted.calls(), 10u);
  for (int i = 0; i < 200; i++) {
    const size_t at = strings.Below(contents.size() + 100);
    const size_t bytes = strings.Below(2 * ReadAheadFile::kWindowBytes);
    ASSERT_TRUE(file.Read(at, bytes, &result, nullptr).ok());
    const std::string_view expected =
        at < contents.size() ? std::string_view(contents).substr(at, bytes) : std::string_view();
    ASSERT_TRUE(result == expected);
  }
}

TEST(ReadAheadFile, GivesTheFilesErrorAndReadsAgain) {
  base::MemoryFileSystem files;
  base::FaultyFileSystem faulty(&files);
  ASSERT_TRUE(files.SetContents("/file", "contents").ok());
  ReadAheadFile file(std::move(*faulty.NewRandomAccessFile("/file")));
  std::string_view result;
  faulty.FailCall(1);
  EXPECT_EQ(Code::kIoError, file.Read(0, 8, &result, nullptr).code());
  ASSERT_TRUE(file.Read(0, 8, &result, nullptr).ok());
  EXPECT_EQ("contents", result);
}

}  // namespace
}  // namespace weft::compaction
