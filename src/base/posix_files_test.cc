#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/bytes_test_kit.h"
#include "base/folder_test_kit.h"
#include "base/posix_fd.h"
#include "base/posix_readers.h"
#include "base/seed_test_kit.h"
#include "weft/file_system.h"

namespace weft::base {
namespace {

constexpr FileUse kUses[] = {FileUse::kTable, FileUse::kLog, FileUse::kManifest, FileUse::kOther};

std::string Contents(const std::string& path) {
  auto file = PosixFileSystem()->NewSequentialFile(path);
  EXPECT_TRUE(file.has_value()) << path;
  std::string all, scratch(1 << 16, '\0');
  std::string_view got;
  do {
    EXPECT_TRUE((*file)->Read(scratch.size(), &got, scratch.data()).ok());
    all.append(got);
  } while (!got.empty());
  return all;
}

void Write(const std::string& path, std::string_view text, FileUse use = FileUse::kOther) {
  auto file = PosixFileSystem()->NewWritableFile(path, use);
  ASSERT_TRUE(file.has_value()) << file.error().ToString();
  EXPECT_TRUE((*file)->Append(text).ok());
  EXPECT_TRUE((*file)->Close().ok());
}

class PosixFiles : public ::testing::Test {
 protected:
  FileSystem* const files_ = PosixFileSystem();
  TestFolder folder_;
};

TEST_F(PosixFiles, WritesOfAllSizesAndUsesReadBack) {
  std::mt19937_64 random(base::TestSeed(1));
  for (FileUse use : kUses) {
    const std::string path = folder_ / "f";
    std::string expected;
    auto file = files_->NewWritableFile(path, use);
    ASSERT_TRUE(file.has_value());
    for (int i = 0; i < 300; i++) {
      const size_t bytes = i % 50 == 0 ? random() % 3000000 : random() % 3000;
      const std::string piece = RandomBytes(&random, bytes);
      ASSERT_TRUE((*file)->Append(piece).ok());
      expected += piece;
      if (i % 37 == 0) {
        ASSERT_TRUE((*file)->Flush().ok());
        // A log's file may be longer, filled with zeros, until it is closed.
        std::string so_far = Contents(path);
        ASSERT_GE(so_far.size(), expected.size());
        ASSERT_TRUE(std::string_view(so_far).substr(0, expected.size()) == expected);
        ASSERT_EQ(so_far.find_first_not_of('\0', expected.size()), std::string::npos);
      }
      if (i % 100 == 0) {
        ASSERT_TRUE((*file)->Sync().ok());
      }
    }
    ASSERT_TRUE((*file)->Close().ok());
    EXPECT_FALSE((*file)->Append("x").ok()) << "after Close";
    EXPECT_FALSE((*file)->Sync().ok()) << "after Close";
    EXPECT_TRUE(Contents(path) == expected);
    EXPECT_EQ(*files_->GetFileSize(path), expected.size());
  }
}

TEST_F(PosixFiles, NewWritableFileReplacesAndAppendableContinues) {
  for (FileUse use : kUses) {
    const std::string path = folder_ / "f";
    Write(path, "a long old text", use);
    Write(path, "new", use);
    EXPECT_EQ(Contents(path), "new");
    for (std::string_view more : {" and", " more"}) {
      auto file = files_->NewAppendableFile(path, use);
      ASSERT_TRUE(file.has_value());
      ASSERT_TRUE((*file)->Append(more).ok());
    }  // closed by its end
    EXPECT_EQ(Contents(path), "new and more");
    ASSERT_TRUE(files_->RemoveFile(path).ok());
    ASSERT_TRUE(files_->NewAppendableFile(path, use).has_value()) << "makes the file";
    EXPECT_EQ(*files_->GetFileSize(path), 0u);
  }
}

TEST_F(PosixFiles, SequentialReadsSkipAndEnd) {
  Write(folder_ / "f", "0123456789");
  auto file = files_->NewSequentialFile(folder_ / "f");
  ASSERT_TRUE(file.has_value());
  char scratch[16];
  std::string_view got;
  ASSERT_TRUE((*file)->Read(2, &got, scratch).ok());
  EXPECT_EQ(got, "01");
  ASSERT_TRUE((*file)->Skip(3).ok());
  ASSERT_TRUE((*file)->Read(16, &got, scratch).ok());
  EXPECT_EQ(got, "56789");
  ASSERT_TRUE((*file)->Read(16, &got, scratch).ok());
  EXPECT_EQ(got, "");
  ASSERT_TRUE((*file)->Skip(100).ok()) << "beyond the end is the end";
  ASSERT_TRUE((*file)->Read(16, &got, scratch).ok());
  EXPECT_EQ(got, "");
}

TEST_F(PosixFiles, RandomReadsAgreeMappedOrNot) {
  std::mt19937_64 random(base::TestSeed(2));
  const std::string text = RandomBytes(&random, 100000);
  Write(folder_ / "f", text);
  for (int64_t mapped_files_max : {kMappedFilesMax, int64_t{0}}) {
    auto file = OpenPosixRandomAccessFile(folder_ / "f", mapped_files_max);
    ASSERT_TRUE(file.has_value());
    EXPECT_TRUE((*file)->Mapped() == (mapped_files_max == 0 ? std::string_view() : text));
    std::string scratch(text.size(), '\0');
    for (int i = 0; i < 1000; i++) {
      const uint64_t offset = random() % (text.size() + 10);
      const size_t bytes = random() % 5000;
      std::string_view got;
      (*file)->WillNeed(offset, bytes);
      ASSERT_TRUE((*file)->Read(offset, bytes, &got, scratch.data()).ok());
      ASSERT_TRUE(got == (offset < text.size() ? text.substr(offset, bytes) : ""));
    }
  }
}

TEST_F(PosixFiles, FewerFilesAreMappedThanAllowed) {
  Write(folder_ / "f", "text");
  std::vector<std::unique_ptr<RandomAccessFile>> open;
  for (int i = 0; i < 5; i++) {
    open.push_back(std::move(*OpenPosixRandomAccessFile(folder_ / "f", 3)));
    EXPECT_EQ(open.back()->Mapped().empty(), i >= 3);
  }
  open.clear();
  EXPECT_EQ((*OpenPosixRandomAccessFile(folder_ / "f", 1))->Mapped(), "text")
      << "room is given back";
}

TEST_F(PosixFiles, EmptyFileReadsAsEmpty) {
  Write(folder_ / "f", "");
  char scratch[4];
  std::string_view got = "x";
  auto random_access = files_->NewRandomAccessFile(folder_ / "f");
  ASSERT_TRUE(random_access.has_value());
  ASSERT_TRUE((*random_access)->Read(0, 4, &got, scratch).ok());
  EXPECT_EQ(got, "");
  EXPECT_EQ((*random_access)->Mapped(), "");
  EXPECT_EQ(Contents(folder_ / "f"), "");
}

TEST_F(PosixFiles, MissingFilesAreNotFoundAndNamed) {
  const std::string path = folder_ / "none";
  const auto missing = [&](const Status& status) {
    EXPECT_EQ(status.code(), Code::kNotFound) << status.ToString();
    EXPECT_NE(status.message().find(path), std::string::npos) << status.ToString();
  };
  missing(files_->NewSequentialFile(path).error());
  missing(files_->NewRandomAccessFile(path).error());
  missing(files_->NewWritableFile(path + "/f", FileUse::kTable).error());
  missing(files_->NewAppendableFile(path + "/f", FileUse::kLog).error());
  missing(files_->GetFileSize(path).error());
  missing(files_->RemoveFile(path));
  missing(files_->RemoveDir(path));
  missing(files_->RenameFile(path, folder_ / "other"));
  missing(files_->LinkFile(path, folder_ / "other"));
  missing(files_->Truncate(path, 0));
  missing(files_->SyncDir(path));
  missing(files_->LockFile(path + "/LOCK").error());
  std::vector<std::string> names;
  missing(files_->GetChildren(path, &names));
  EXPECT_FALSE(files_->FileExists(path));
}

TEST_F(PosixFiles, FoldersAreMadeListedAndRemoved) {
  const std::string dir = folder_ / "d";
  ASSERT_TRUE(files_->CreateDir(dir).ok());
  EXPECT_TRUE(files_->CreateDir(dir).ok()) << "it may be there";
  Write(dir + "/b", "");
  Write(dir + "/a", "");
  std::vector<std::string> names = {"old"};
  ASSERT_TRUE(files_->GetChildren(dir, &names).ok());
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("a", "b"));
  EXPECT_TRUE(files_->SyncDir(dir).ok());
  EXPECT_EQ(files_->CreateDir(dir + "/a").code(), Code::kIoError) << "a file is no folder";
  EXPECT_EQ(files_->RemoveDir(dir).code(), Code::kIoError) << "not empty";
  EXPECT_EQ(files_->GetChildren(dir + "/a", &names).code(), Code::kIoError);
  EXPECT_TRUE(files_->RemoveFile(dir + "/a").ok());
  EXPECT_TRUE(files_->RemoveFile(dir + "/b").ok());
  EXPECT_TRUE(files_->RemoveDir(dir).ok());
  EXPECT_FALSE(files_->FileExists(dir));
}

TEST_F(PosixFiles, RenameReplacesLinkSharesTruncateCuts) {
  Write(folder_ / "a", "first");
  Write(folder_ / "b", "second");
  ASSERT_TRUE(files_->RenameFile(folder_ / "a", folder_ / "b").ok());
  EXPECT_FALSE(files_->FileExists(folder_ / "a"));
  EXPECT_EQ(Contents(folder_ / "b"), "first");
  ASSERT_TRUE(files_->LinkFile(folder_ / "b", folder_ / "c").ok());
  EXPECT_EQ(files_->LinkFile(folder_ / "b", folder_ / "c").code(), Code::kIoError) << "it is there";
  ASSERT_TRUE(files_->RemoveFile(folder_ / "b").ok());
  ASSERT_TRUE(files_->Truncate(folder_ / "c", 2).ok());
  EXPECT_EQ(Contents(folder_ / "c"), "fi");
}

TEST_F(PosixFiles, LinkAcrossFileSystemsIsUnsupported) {
  struct stat here, there;
  if (::stat("/dev/shm", &there) != 0 || ::stat(folder_.path().c_str(), &here) != 0 ||
      here.st_dev == there.st_dev || ::access("/dev/shm", W_OK) != 0) {
    GTEST_SKIP() << "one file system only";
  }
  TestFolder other("/dev/shm");
  Write(folder_ / "a", "text");
  EXPECT_EQ(files_->LinkFile(folder_ / "a", other / "a").code(), Code::kUnsupported);
}

TEST_F(PosixFiles, LockIsHeldOnceInThisProcess) {
  auto lock = files_->LockFile(folder_ / "LOCK");
  ASSERT_TRUE(lock.has_value()) << lock.error().ToString();
  auto second = files_->LockFile(folder_ / "LOCK");
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code(), Code::kRetryLater);
  EXPECT_NE(second.error().message().find("locked"), std::string::npos);
  ASSERT_TRUE(files_->LinkFile(folder_ / "LOCK", folder_ / "LOCK2").ok());
  EXPECT_FALSE(files_->LockFile(folder_ / "LOCK2").has_value()) << "the same file by another name";
  EXPECT_FALSE(files_->LockFile(folder_ / "LOCK").has_value()) << "a refusal frees nothing";
  lock->reset();
  EXPECT_TRUE(files_->LockFile(folder_ / "LOCK").has_value());
}

// Runs `body` in a process of its own and gives what it returned.
template <typename Body>
int StatusOfChild(Body body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST_F(PosixFiles, LockOfAnotherProcessEndsWithIt) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto lock = files_->LockFile(folder_ / "LOCK");
    (void)!::write(ready[1], lock.has_value() ? "y" : "n", 1);
    while (true) ::pause();
  }
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  auto refused = files_->LockFile(folder_ / "LOCK");
  EXPECT_FALSE(refused.has_value());
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(files_->LockFile(folder_ / "LOCK").has_value());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(PosixFiles, FullDiskFailsAndStaysFailed) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  for (FileUse use : kUses) {
    auto file = files_->NewWritableFile("/dev/full", use);
    ASSERT_TRUE(file.has_value()) << file.error().ToString();
    Status status = (*file)->Append("text");
    if (status.ok()) status = (*file)->Flush();
    EXPECT_EQ(status.code(), Code::kIoError);
    EXPECT_NE(status.message().find("write /dev/full"), std::string::npos) << status.ToString();
    EXPECT_FALSE((*file)->Append("more").ok());
    EXPECT_FALSE((*file)->Sync().ok());
    EXPECT_FALSE((*file)->Close().ok());
    auto large = files_->NewWritableFile("/dev/full", use);
    EXPECT_FALSE((*large)->Append(std::string(8 << 20, 'x')).ok());
  }
}

// Writes a file of at most `file_bytes_max` until that fails: 0 where it fails as it should.
int WriteUpToLimit(FileSystem* files, const std::string& path, FileUse use, size_t file_bytes_max) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit = {file_bytes_max, file_bytes_max};
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
  auto file = files->NewWritableFile(path, use);
  if (!file) return 3;
  const std::string piece(1000, 'x');
  for (size_t bytes = 0; bytes <= 2 * file_bytes_max; bytes += piece.size()) {
    Status status = (*file)->Append(piece);
    if (status.ok()) status = (*file)->Flush();
    if (status.ok()) continue;
    return bytes + piece.size() > file_bytes_max && bytes <= file_bytes_max ? 0 : 4;
  }
  return 5;
}

TEST_F(PosixFiles, FileOverTheSizeLimitFailsAtTheLimit) {
  for (FileUse use : kUses) {
    for (size_t limit : {100000, 300000, 3000000}) {
      const std::string path = folder_ / "f";
      EXPECT_EQ(StatusOfChild([&] { return WriteUpToLimit(files_, path, use, limit); }), 0)
          << limit;
      EXPECT_GE(Contents(path).size(), limit / 1000 * 1000);
    }
  }
}

TEST_F(PosixFiles, ForbiddenFilesAreIoErrors) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may do anything";
  Write(folder_ / "f", "text");
  ASSERT_EQ(::chmod((folder_ / "f").c_str(), 0), 0);
  EXPECT_EQ(files_->NewSequentialFile(folder_ / "f").error().code(), Code::kIoError);
  EXPECT_EQ(files_->NewRandomAccessFile(folder_ / "f").error().code(), Code::kIoError);
  EXPECT_EQ(files_->NewWritableFile(folder_ / "f", FileUse::kLog).error().code(), Code::kIoError);
}

TEST_F(PosixFiles, WithoutDescriptorsLaterIsTheTimeToTryAgain) {
  Write(folder_ / "old", "text");
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none = {0, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const Status made = files_->NewWritableFile(folder_ / "new", FileUse::kLog).error();
  const Status opened = files_->NewRandomAccessFile(folder_ / "old").error();
  const Status synced = files_->SyncDir(folder_.path());
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  for (const Status& status : {made, opened, synced}) {
    EXPECT_EQ(status.code(), Code::kRetryLater) << status.ToString();
    EXPECT_TRUE(IsWantOfDescriptors(status)) << status.ToString();
  }
  EXPECT_FALSE(IsWantOfDescriptors({Code::kRetryLater, "f: another process has it open"}));
  EXPECT_NE(made.ToString().find("/new: Too many open files"), std::string::npos);
}

TEST_F(PosixFiles, FolderIsNotAFile) {
  EXPECT_EQ(files_->NewWritableFile(folder_.path(), FileUse::kOther).error().code(),
            Code::kIoError);
  auto file = files_->NewSequentialFile(folder_.path());
  char scratch[4];
  std::string_view got;
  EXPECT_TRUE(!file || !(*file)->Read(4, &got, scratch).ok());
}

}  // namespace
}  // namespace weft::base
