#include "compaction/read_ahead_file.h"

#include <gtest/gtest.h>

#include "base/faulty_file_system.h"
#include "base/memory_file_system.h"
#include "table/file_test_kit.h"

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

// Of a file that wants aligned reads none is another one.
TEST(ReadAheadFile, ReadsAlignedWindows) {
  constexpr size_t kAlign = 512;
  class Aligned final : public RandomAccessFile {
   public:
    explicit Aligned(const std::string* contents) : contents_(*contents) {}
    Status Read(uint64_t offset, size_t bytes, std::string_view* result,
                char* scratch) const override {
      EXPECT_EQ(0u, (offset | bytes | reinterpret_cast<uintptr_t>(scratch)) % kAlign);
      const size_t at = std::min<size_t>(offset, contents_.size());
      const size_t count = contents_.copy(scratch, bytes, at);
      *result = {scratch, count};
      return Status::Ok();
    }
    size_t ReadAlignment() const override { return kAlign; }

   private:
    const std::string& contents_;
  };
  table::Strings strings(table::TestSeed());
  const std::string contents = strings.Bytes(ReadAheadFile::kDirectWindowBytes * 3 + 777);
  ReadAheadFile file(std::make_unique<Aligned>(&contents));
  for (int i = 0; i < 300; i++) {
    const size_t at = strings.Below(contents.size() + 3000);
    const size_t bytes = strings.Below(i % 10 == 0 ? 2 * ReadAheadFile::kDirectWindowBytes : 9000);
    std::string_view result;
    ASSERT_TRUE(file.Read(at, bytes, &result, nullptr).ok());
    const std::string_view expected =
        at < contents.size() ? std::string_view(contents).substr(at, bytes) : std::string_view();
    ASSERT_TRUE(result == expected) << at << " " << bytes;
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
