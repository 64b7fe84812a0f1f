#include "base/posix_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "base/folder_test_kit.h"
#include "base/posix_writers.h"
#include "base/seed_test_kit.h"

namespace weft::base {
namespace {

std::unique_ptr<MappedLogFile> OpenMapped(const std::string& path,
                                          uint64_t span_bytes = kLogSpanBytes) {
  Result<Fd> fd = OpenFd(path, O_RDWR | O_CREAT);
  if (!fd) return nullptr;
  const Result<uint64_t> bytes = SizeOfFd(*fd, path);
  return std::make_unique<MappedLogFile>(std::move(*fd), path, bytes.value(), kLogWindowBytesMax,
                                         span_bytes);
}

std::string ContentsByFd(const std::string& path) {
  Result<Fd> fd = OpenFd(path, O_RDONLY);
  EXPECT_TRUE(fd.has_value());
  std::string text(SizeOfFd(*fd, path).value(), '\0');
  EXPECT_EQ(ReadUpTo(*fd, path, text.data(), text.size()).value(), text.size());
  return text;
}

// The i-th record: its length and contents follow from i; no byte of it is zero.
std::string Record(uint64_t i) {
  std::mt19937_64 random(base::TestSeed(i));
  std::string text(1 + random() % (i % 100 == 0 ? 100000 : 600), '\0');
  for (char& c : text) c = static_cast<char>(1 + random() % 255);
  return text;
}

class PosixLog : public ::testing::Test {
 protected:
  TestFolder folder_;
  const std::string path_ = folder_ / "000001.log";
};

TEST_F(PosixLog, GrowsThroughWindowsAndEndsAtItsLength) {
  std::string expected;
  {
    auto log = OpenMapped(path_);
    for (uint64_t i = 0; expected.size() < 10 << 20; i++) {
      expected += Record(i);
      ASSERT_TRUE(log->Append(Record(i)).ok());
      ASSERT_TRUE(log->Flush().ok());
    }
    const uint64_t bytes = *PosixFileSystem()->GetFileSize(path_);
    EXPECT_EQ(bytes % kLogWindowBytesMin, 0u);
    EXPECT_LE(bytes, expected.size() + kLogWindowBytesMax);
    ASSERT_TRUE(log->Sync().ok());
    ASSERT_TRUE(log->Close().ok());
    EXPECT_FALSE(log->Append("x").ok());
    EXPECT_FALSE(log->Flush().ok());
    EXPECT_FALSE(log->Sync().ok());
  }
  EXPECT_TRUE(ContentsByFd(path_) == expected);
}

TEST_F(PosixLog, OneAppendMayBeLongerThanWindows) {
  std::string large;
  while (large.size() < 3 * kLogWindowBytesMax) large += Record(large.size());
  auto log = OpenMapped(path_);
  ASSERT_TRUE(log->Append("abc").ok());
  ASSERT_TRUE(log->Append(large).ok());
  ASSERT_TRUE(log->Append("").ok());
  ASSERT_TRUE(log->Close().ok());
  EXPECT_TRUE(ContentsByFd(path_) == "abc" + large);
}

// Spans of one and two windows, then longer ones; each opening goes on at an end that is no
// window's, and so begins a span in the middle of the last one's.
TEST_F(PosixLog, GoesOnThroughSpansAndOpenings) {
  std::string expected;
  uint64_t record = 0;
  for (const uint64_t windows : {1, 2, 1, 3}) {
    auto log = OpenMapped(path_, windows * kLogWindowBytesMin);
    const size_t until = expected.size() + 11 * kLogWindowBytesMin;
    for (; expected.size() < until; record++) {
      const std::string text = Record(record);
      expected += text;
      ASSERT_TRUE(log->Append(text.substr(0, text.size() / 2)).ok());
      ASSERT_TRUE(log->Append(text.substr(text.size() / 2)).ok());
      ASSERT_TRUE(log->Flush().ok());
    }
    ASSERT_TRUE(log->Close().ok());
    ASSERT_TRUE(ContentsByFd(path_) == expected);
  }
}

TEST_F(PosixLog, AppendsReachReadersWithFlushNotBefore) {
  auto log = OpenMapped(path_);
  ASSERT_TRUE(log->Append("head").ok());
  ASSERT_TRUE(log->Append("er, body").ok());
  EXPECT_EQ(ContentsByFd(path_).substr(0, 8), std::string(8, '\0')) << "a header comes last";
  ASSERT_TRUE(log->Flush().ok());
  EXPECT_EQ(ContentsByFd(path_).substr(0, 13), std::string("header, body\0", 13));
  ASSERT_TRUE(log->Append("xy").ok()) << "shorter than a header";
  ASSERT_TRUE(log->Flush().ok());
  EXPECT_EQ(ContentsByFd(path_).substr(0, 15), std::string("header, bodyxy\0", 15));
}

TEST_F(PosixLog, AppendingGoesOnAtTheEndAndBehindZerosOnAWindow) {
  OpenMapped(path_)->Append("first ").ok();
  {
    auto log = OpenMapped(path_);
    ASSERT_TRUE(log->Append("second").ok());
  }
  EXPECT_EQ(ContentsByFd(path_), "first second");
  // As a crash leaves it.
  ASSERT_TRUE(PosixFileSystem()->Truncate(path_, kLogWindowBytesMin).ok());
  ASSERT_TRUE(OpenMapped(path_)->Append("third").ok());
  const std::string text = ContentsByFd(path_);
  EXPECT_EQ(text.size(), kLogWindowBytesMin + 5);
  EXPECT_EQ(text.substr(kLogWindowBytesMin), "third");
}

// A child appends until it is killed. What it said was flushed must be there; behind it, a prefix
// of what it went on to append, cut where nothing or the first bytes of a record are missing.
// Appends records while another thread syncs all the time; they must come out as they went in.
void AppendBesideSyncs(WritableFile* file, const std::string& path) {
  std::atomic<bool> done = false;
  std::thread syncer([&] {
    while (!done) ASSERT_TRUE(file->SyncFlushed().ok());
  });
  std::string expected;
  for (uint64_t i = 0; i < 20000; i++) {
    const std::string record = Record(i);
    expected += record;
    ASSERT_TRUE(file->Append(record.substr(0, record.size() / 2)).ok());
    ASSERT_TRUE(file->Append(record.substr(record.size() / 2)).ok());
    ASSERT_TRUE(file->Flush().ok());
  }
  done = true;
  syncer.join();
  ASSERT_TRUE(file->Close().ok());
  EXPECT_TRUE(ContentsByFd(path) == expected);
}

TEST_F(PosixLog, AnotherThreadMaySyncWhatWasFlushed) {
  AppendBesideSyncs(OpenMapped(path_).get(), path_);
  auto plain = PosixFileSystem()->NewWritableFile(folder_ / "plain", FileUse::kOther);
  AppendBesideSyncs(plain->get(), folder_ / "plain");
}

TEST_F(PosixLog, KilledProcessLeavesAPrefixAndZeros) {
  void* shared = ::mmap(nullptr, sizeof(std::atomic<uint64_t>), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* const flushed = new (shared) std::atomic<uint64_t>(0);  // in the mapping: never freed
  std::mt19937_64 random(base::TestSeed(1));
  for (int round = 0; round < 20; round++) {
    ASSERT_TRUE(!PosixFileSystem()->FileExists(path_) || PosixFileSystem()->RemoveFile(path_).ok());
    flushed->store(0);
    const pid_t child = ::fork();
    if (child == 0) {
      auto log = OpenMapped(path_);
      for (uint64_t i = 0; log->Append(Record(i)).ok() && log->Flush().ok(); i++) {
        flushed->store(i + 1);
      }
      ::_exit(1);
    }
    while (flushed->load() == 0) ::usleep(100);
    ::usleep(static_cast<useconds_t>(random() % 5000));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);

    const std::string text = ContentsByFd(path_);
    size_t at = 0;
    for (uint64_t i = 0; i < flushed->load(); i++) {
      const std::string record = Record(i);
      ASSERT_TRUE(text.compare(at, record.size(), record) == 0) << i << " of " << flushed->load();
      at += record.size();
    }
    ASSERT_TRUE(at == text.size() || text[at] == '\0' || text[at] == Record(flushed->load())[0]);
  }
  ::munmap(shared, sizeof(std::atomic<uint64_t>));
}

// Fills a file system of a megabyte: 0 where it says that it is full, and keeps what it took.
int FillSmallDisk(const std::string& folder) {
  if (::unshare(CLONE_NEWNS) != 0) return 77;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
  if (::mount("weft", folder.c_str(), "tmpfs", 0, "size=1m") != 0) return 77;
  const std::string path = folder + "/log", record(290, 'r');
  auto log = OpenMapped(path);
  if (log == nullptr) return 6;
  uint64_t appended = 0;
  Status status;
  while (appended < 4 << 20) {
    status = log->Append(record);
    if (status.ok()) status = log->Flush();
    if (!status.ok()) break;
    appended += record.size();
  }
  if (status.message().find("No space left") == std::string_view::npos) return 2;
  if (appended < 900 << 10) return 3;
  if (log->Append(record).ok() || log->Sync().ok() || log->Close().ok()) return 4;
  const std::string text = ContentsByFd(path);
  return text.size() >= appended && text == std::string(text.size(), 'r') ? 0 : 5;
}

TEST_F(PosixLog, FullDiskIsAnErrorNotASignal) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(FillSmallDisk(folder_.path()));
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "may not mount";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

#ifndef WEFT_SANITIZED  // whose own memory has no such limit
// In a process of its own.
[[noreturn]] void CloseWithoutMemory(std::unique_ptr<WritableFile> file) {
  const rlimit none_left{0, RLIM_INFINITY};
  if (::setrlimit(RLIMIT_AS, &none_left) != 0) ::_exit(1);
  for (size_t bytes = 1 << 20; bytes >= 16; bytes /= 2)
    while (std::malloc(bytes) != nullptr) continue;
  file.reset();
  ::_exit(0);
}

TEST_F(PosixLog, AFileIsClosedAlsoWhereThereIsNoMemory) {
  for (const FileUse use : {FileUse::kLog, FileUse::kTable}) {
    auto file = OpenPosixWritableFile(path_, use, O_TRUNC);
    ASSERT_TRUE(file.has_value());
    ASSERT_TRUE((*file)->Append("some text that is longer than no text").ok());
    const pid_t child = ::fork();
    if (child == 0) CloseWithoutMemory(std::move(*file));
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
}
#endif

}  // namespace
}  // namespace weft::base
