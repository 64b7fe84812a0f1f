#include "base/posix_direct.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/bytes_test_kit.h"
#include "base/folder_test_kit.h"
#include "base/seed_test_kit.h"

namespace weft::base {
namespace {

std::string ContentsByPageCache(const std::string& path) {
  auto file = PosixFileSystem()->NewRandomAccessFile(path);
  EXPECT_TRUE(file.has_value()) << path;
  Result<uint64_t> bytes = PosixFileSystem()->GetFileSize(path);
  std::string scratch(*bytes, '\0');
  std::string_view got;
  EXPECT_TRUE((*file)->Read(0, *bytes, &got, scratch.data()).ok());
  return std::string(got);
}

std::unique_ptr<WritableFile> Open(const std::string& path) {
  auto file = PosixFileSystem()->Direct()->NewWritableFile(path, FileUse::kTable);
  EXPECT_TRUE(file.has_value());
  return std::move(*file);
}

TEST(PosixDirect, WritesWhatIsAppendedInPartsOfAnySize) {
  const TestFolder folder;
  const std::string path = folder.path() + "/table";
  std::mt19937_64 random(base::TestSeed(1));
  for (int round = 0; round < 8; round++) {
    const auto file = Open(path);
    std::string expected;
    for (int i = 0; i < 20; i++) {
      const size_t sizes[] = {0, random() % 100, random() % 5000, 4096, random() % 3'000'000};
      const std::string data = RandomBytes(&random, sizes[random() % 5]);
      ASSERT_TRUE(file->Append(data).ok());
      expected += data;
      if (random() % 4 != 0) continue;
      ASSERT_TRUE((random() % 2 == 0 ? file->Flush() : file->Sync()).ok());
      // Nothing that was flushed is missing, and no more is there.
      ASSERT_EQ(ContentsByPageCache(path), expected);
    }
    ASSERT_TRUE(file->Close().ok());
    ASSERT_EQ(ContentsByPageCache(path), expected);
    EXPECT_FALSE(file->Append("more").ok());
  }
}

// From where they lie, where that is as far from a block's begin as in the file, and through the
// file's buffer, in turns.
TEST(PosixDirect, WritesLargeAppendsFromWhereTheyLie) {
  const TestFolder folder;
  const std::string path = folder.path() + "/table";
  std::mt19937_64 random(base::TestSeed(3));
  constexpr size_t kRoom = 4u << 20;
  const std::unique_ptr<char, void (*)(void*)> room(
      static_cast<char*>(std::aligned_alloc(kDirectAlign, kRoom)), std::free);
  for (int round = 0; round < 8; round++) {
    const auto file = Open(path);
    std::string expected;
    for (int i = 0; i < 20; i++) {
      const size_t sizes[] = {random() % 5000, random() % 200'000, random() % 3'000'000};
      const std::string data = RandomBytes(&random, sizes[random() % 3]);
      const size_t shift = random() % 4 == 0 ? random() % kDirectAlign : 0;
      char* const at = room.get() + (expected.size() + shift) % kDirectAlign;
      std::memcpy(at, data.data(), data.size());
      ASSERT_TRUE(file->Append({at, data.size()}).ok());
      std::memset(at, 'x', data.size());  // it is the caller's again
      expected += data;
      if (random() % 4 != 0) continue;
      ASSERT_TRUE(file->Flush().ok());
    }
    ASSERT_TRUE(file->Close().ok());
    ASSERT_TRUE(ContentsByPageCache(path) == expected);
  }
}

// As a device does: whole pages by the descriptor, between what is appended.
TEST(PosixDirect, OthersMayWriteBehindWhatWasAppended) {
  const TestFolder folder;
  const std::string path = folder.path() + "/table";
  std::mt19937_64 random(base::TestSeed(4));
  constexpr size_t kPages = 16;
  const std::unique_ptr<char, void (*)(void*)> room(
      static_cast<char*>(std::aligned_alloc(kDirectAlign, kPages * kDirectAlign)), std::free);
  const auto file = Open(path);
  std::string expected;
  size_t by_others = 0;
  for (int i = 0; i < 200; i++) {
    const size_t left = (kDirectAlign - expected.size() % kDirectAlign) % kDirectAlign;
    const size_t sizes[] = {left, left + kDirectAlign, random() % 5000, random() % 100'000};
    const std::string data = RandomBytes(&random, sizes[random() % 4]);
    ASSERT_TRUE(file->Append(data).ok());
    expected += data;
    if (random() % 8 == 0) {
      ASSERT_TRUE(file->Flush().ok());
    }
    Result<DirectPlace> end = file->DirectEnd();
    if (!end && by_others == 0 && expected.size() % kDirectAlign == 0)
      GTEST_SKIP() << "no direct I/O in " << folder.path();
    ASSERT_EQ(expected.size() % kDirectAlign == 0, end.has_value());
    if (!end) continue;
    ASSERT_EQ(expected.size(), end->offset);
    const std::string pages = RandomBytes(&random, (1 + random() % kPages) * kDirectAlign);
    std::memcpy(room.get(), pages.data(), pages.size());
    ASSERT_EQ(static_cast<ssize_t>(pages.size()),
              ::pwrite(end->descriptor, room.get(), pages.size(), static_cast<off_t>(end->offset)));
    expected += pages;
    if (random() % 4 == 0) {  // it failed, or so they say
      ASSERT_TRUE(file->Append(pages).ok());
      continue;
    }
    file->AppendedDirect(pages.size());
    by_others++;
  }
  ASSERT_TRUE(file->Close().ok());
  ASSERT_TRUE(ContentsByPageCache(path) == expected);
  EXPECT_LT(20u, by_others);
}

TEST(PosixDirect, KeepsNoCopyOfWhatItWritesFromWhereItLies) {
  const TestFolder folder;
  const std::string path = folder.path() + "/table";
  const auto file = Open(path);
  auto reader = PosixFileSystem()->Direct()->NewRandomAccessFile(path);
  ASSERT_TRUE(reader.has_value());
  if ((*reader)->ReadAlignment() == 1) GTEST_SKIP() << "no direct I/O in " << folder.path();
  constexpr size_t kBytes = 256u << 10;
  const std::unique_ptr<char, void (*)(void*)> room(
      static_cast<char*>(std::aligned_alloc(kDirectAlign, kBytes)), std::free);
  std::memset(room.get(), 'x', kBytes);
  ASSERT_TRUE(file->Append({room.get(), 100}).ok());
  ASSERT_TRUE(file->Append({room.get() + 100, kBytes - 100}).ok());
  EXPECT_EQ(*PosixFileSystem()->GetFileSize(path), kBytes) << "before anybody has said Flush";
  ASSERT_TRUE(file->Append({room.get() + 1, kBytes - 1}).ok());
  EXPECT_EQ(*PosixFileSystem()->GetFileSize(path), kBytes) << "it lies elsewhere";
}

TEST(PosixDirect, ReadsAnywhereIntoAnyMemory) {
  const TestFolder folder;
  const std::string path = folder.path() + "/table";
  std::mt19937_64 random(base::TestSeed(2));
  const std::string all = RandomBytes(&random, 5'000'123);
  const auto written = Open(path);
  ASSERT_TRUE(written->Append(all).ok());
  ASSERT_TRUE(written->Close().ok());
  auto file = PosixFileSystem()->Direct()->NewRandomAccessFile(path);
  ASSERT_TRUE(file.has_value());
  constexpr size_t kRoom = 4u << 20;
  const std::unique_ptr<char, void (*)(void*)> room(
      static_cast<char*>(std::aligned_alloc(kDirectAlign, kRoom)), std::free);
  for (int i = 0; i < 300; i++) {
    const bool is_aligned = random() % 2 == 0;
    const size_t unit = is_aligned ? kDirectAlign : 1;
    const uint64_t offset = random() % (all.size() + 10'000) / unit * unit;
    const size_t bytes =
        random() % (random() % 2 == 0 ? 10'000 : kRoom - kDirectAlign) / unit * unit;
    char* const to = room.get() + random() % kDirectAlign / unit * unit;
    std::string_view got;
    ASSERT_TRUE((*file)->Read(offset, bytes, &got, to).ok()) << offset << " " << bytes;
    const std::string_view expected =
        offset < all.size() ? std::string_view(all).substr(offset, bytes) : std::string_view();
    ASSERT_TRUE(got == expected) << offset << " " << bytes << ": " << got.size() << " bytes";
    const bool is_direct = (*file)->ReadAlignment() > 1;
    ASSERT_TRUE(!is_direct || got.data() == to);
  }
}

TEST(PosixDirect, AFileThatFailedStaysFailed) {
  const TestFolder folder;
  rlimit before;
  ASSERT_EQ(0, getrlimit(RLIMIT_FSIZE, &before));
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  rlimit little = before;
  little.rlim_cur = 2u << 20;
  const auto file = Open(folder.path() + "/table");
  ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &little));
  Status status;
  for (int i = 0; i < 10 && status.ok(); i++) status = file->Append(std::string(1 << 20, 'v'));
  ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &before));
  std::signal(SIGXFSZ, old);
  EXPECT_EQ(Code::kIoError, status.code());
  EXPECT_EQ(Code::kIoError, file->Sync().code());
  EXPECT_FALSE(file->Close().ok());
}

TEST(PosixDirect, SaysWhatIsMissing) {
  const TestFolder folder;
  FileSystem* const files = PosixFileSystem()->Direct();
  EXPECT_EQ(files, files->Direct());
  EXPECT_EQ(Code::kNotFound, files->NewRandomAccessFile(folder.path() + "/no").error().code());
  EXPECT_EQ(Code::kNotFound,
            files->NewWritableFile(folder.path() + "/no/no", FileUse::kTable).error().code());
}

// Where the folder is kept in memory alone there may be no direct I/O: then they are ordinary.
TEST(PosixDirect, WorksWhereThereIsNone) {
  std::string name = "/dev/shm/weft-direct-XXXXXX";
  const int fd = mkstemp(name.data());
  if (fd < 0) GTEST_SKIP() << "no /dev/shm";
  ::close(fd);
  const auto file = Open(name);
  EXPECT_TRUE(file->Append("some").ok());
  EXPECT_TRUE(file->Close().ok());
  auto read = OpenDirectRandomAccessFile(name);
  ASSERT_TRUE(read.has_value());
  char scratch[10];
  std::string_view got;
  EXPECT_TRUE((*read)->Read(1, 9, &got, scratch).ok());
  EXPECT_EQ(got, "ome");
  ::unlink(name.c_str());
}

}  // namespace
}  // namespace weft::base
