// Jobs whose files a device reads by itself.
#include "compaction/device/device_storage.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/posix_fd.h"
#include "compaction/device/device_executor.h"
#include "compaction/device/executor_test_kit.h"
#include "compaction/device/flipping_device_test_kit.h"
#include "compaction/device/plain_device.h"
#include "compaction/device/plain_executor.h"

namespace weft::compaction::device {
namespace {

#ifdef WEFT_SANITIZED
constexpr uint64_t kJobsOnStorage = 10;
#else
constexpr uint64_t kJobsOnStorage = 60;
#endif

// Of the host; tells what was asked of it.
class PlainStorage final : public DeviceStorage {
 public:
  ~PlainStorage() override { EXPECT_TRUE(taken_.empty()) << "a range was not given back"; }

  char* Take(uint64_t bytes) override WEFT_EXCLUDES(mutex_) {
    if (has_no_room) return nullptr;
    auto range = std::make_unique<char[]>(bytes);
    char* const at = range.get();
    base::MutexLock lock(&mutex_);
    taken_.emplace(at, Range{bytes, std::move(range)});
    return at;
  }
  void GiveBack(char* range, uint64_t bytes) override WEFT_EXCLUDES(mutex_) {
    base::MutexLock lock(&mutex_);
    const auto found = taken_.find(range);
    ASSERT_TRUE(found != taken_.end());
    EXPECT_EQ(bytes, found->second.bytes);
    taken_.erase(found);
  }
  Status CopyOut(char* to, const char* from, uint64_t bytes) override {
    if (loses_what_it_made) return {Code::kDeviceLost, "a device is lost"};
    std::memcpy(to, from, bytes);
    copied_out++;
    return Status::Ok();
  }
  Result<std::unique_ptr<File>> Open(int descriptor) override {
    if (opens_none) return Status(Code::kUnsupported, "none is opened");
    opened++;
    return std::unique_ptr<File>(new PlainFile(this, descriptor));
  }

  bool has_no_room = false;
  bool opens_none = false;
  bool fails_writes = false;
  bool loses_what_it_made = false;
  uint64_t fails_every = 0;  // so many reads, and writes; 0: none
  std::atomic<uint64_t> opened{0};
  std::atomic<uint64_t> reads{0};
  std::atomic<uint64_t> writes{0};
  std::atomic<uint64_t> copied_out{0};

 private:
  class PlainFile final : public File {
   public:
    PlainFile(PlainStorage* storage, int descriptor) : storage_(*storage), fd_(descriptor) {}
    // Of a thread that may have been given what another has read: the range must still be taken.
    Result<uint64_t> Read(uint64_t offset, uint64_t bytes, char* range, uint64_t at) override {
      const uint64_t number = storage_.reads++;
      if (storage_.fails_every != 0 && number % storage_.fails_every == storage_.fails_every - 1)
        return Status(Code::kIoError, "a read that fails");
      EXPECT_TRUE(storage_.IsTaken(range, at + bytes));
      uint64_t done = 0;
      while (done < bytes) {
        // The descriptor's is direct I/O: from and to aligned places.
        alignas(4096) static thread_local char page[4096];
        const ssize_t got = ::pread(fd_, page, sizeof page, static_cast<off_t>(offset + done));
        if (got < 0) return base::PosixError("pread", "a file", errno);
        const uint64_t count = std::min<uint64_t>(static_cast<uint64_t>(got), bytes - done);
        std::memcpy(range + at + done, page, count);
        done += count;
        if (got < static_cast<ssize_t>(sizeof page)) break;
      }
      return done;
    }

    Status Write(uint64_t offset, uint64_t bytes, const char* range, uint64_t at) override {
      const uint64_t number = storage_.writes++;
      const bool is_due = storage_.fails_every != 0 && number % storage_.fails_every == 0;
      if (is_due || storage_.fails_writes) return {Code::kIoError, "a write that fails"};
      EXPECT_TRUE(storage_.IsTaken(range, at + bytes));
      EXPECT_EQ(0u, (offset | bytes | at) % 4096);
      for (uint64_t done = 0; done < bytes; done += 4096) {
        alignas(4096) static thread_local char page[4096];
        std::memcpy(page, range + at + done, sizeof page);
        if (::pwrite(fd_, page, sizeof page, static_cast<off_t>(offset + done)) != sizeof page)
          return base::PosixError("pwrite", "a file", errno);
      }
      return Status::Ok();
    }

   private:
    PlainStorage& storage_;
    const int fd_;
  };
  struct Range {
    uint64_t bytes;
    std::unique_ptr<char[]> at;
  };

  bool IsTaken(const char* range, uint64_t bytes) WEFT_EXCLUDES(mutex_) {
    base::MutexLock lock(&mutex_);
    const auto found = taken_.find(range);
    return found != taken_.end() && bytes <= found->second.bytes;
  }

  base::Mutex mutex_;
  std::map<const char*, Range> taken_ WEFT_GUARDED_BY(mutex_);
};

ExecutorMaker MakerWith(DeviceStorage* storage) {
  return [storage](uint64_t piece_bytes) {
    return NewPlainExecutor(piece_bytes, ~uint64_t{0}, storage);
  };
}

bool HasDirectFiles() {
  const base::TestFolder folder;
  FileSystem* const files = PosixFileSystem()->Direct();
  const std::string path = folder.path() + "/probe";
  EXPECT_TRUE((*files->NewWritableFile(path, FileUse::kTable))->Close().ok());
  return (*files->NewRandomAccessFile(path))->DirectDescriptor() >= 0;
}

class DeviceStorageTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasDirectFiles()) GTEST_SKIP() << "the file system of tests has no direct I/O";
  }
};

// A run of 4,000 entries, whose first values can't be compressed where `mixed`.
void FillForStorage(JobKit* kit, Compression compression, bool mixed) {
  table::Strings strings(table::TestSeed());
  kit->job().format.compression = compression;
  TestEntries entries;
  for (uint64_t key = 0; key < 4000; key++) {
    const bool is_random = !mixed || key < 200;
    entries.push_back(Put("key" + std::to_string(10000 + key), 1 + key,
                          is_random ? strings.Bytes(200) : std::string(200, 'v')));
  }
  kit->AddRun(entries, 2000);
}

TEST_F(DeviceStorageTest, JobsAreTheCpus) {
  PlainStorage storage;
  ExpectRandomJobsOnDiskTheSame(MakerWith(&storage), kJobsOnStorage);
  JobKit kit;
  FillForStorage(&kit, Compression::kNone, false);
  ExpectSameOnDisk(&kit, MakerWith(&storage)(50000).get());
  EXPECT_LT(10u, storage.reads);
  EXPECT_LT(10u, storage.writes);
  EXPECT_EQ(0u, storage.copied_out);
}

TEST_F(DeviceStorageTest, TheHostReadsAndWritesWhatTheDeviceCannot) {
  PlainStorage failing;
  failing.fails_every = 7;
  ExpectRandomJobsOnDiskTheSame(MakerWith(&failing), kJobsOnStorage / 3);
  JobKit kit;
  FillForStorage(&kit, Compression::kNone, false);
  ExpectSameOnDisk(&kit, MakerWith(&failing)(50000).get());
  EXPECT_LT(10u, failing.reads);
  EXPECT_LT(0u, failing.copied_out);
  EXPECT_LT(failing.copied_out, failing.writes);
  PlainStorage full;
  full.has_no_room = true;
  ExpectSameOnDisk(&kit, MakerWith(&full)(50000).get());
  EXPECT_EQ(0u, full.reads);
  PlainStorage shut;
  shut.opens_none = true;
  ExpectSameOnDisk(&kit, MakerWith(&shut)(50000).get());
  EXPECT_EQ(0u, shut.reads);
}

JobResult RunOnDisk(JobKit* kit, DeviceStorage* storage) {
  const auto device = NewPlainExecutor(50000, ~uint64_t{0}, storage);
  return JobOnDisk(kit).Run(device.get(), kit->host());
}

TEST_F(DeviceStorageTest, ADeviceReadsAndWritesAllButTheEndsOfTables) {
  PlainStorage storage;
  JobKit kit;
  FillForStorage(&kit, Compression::kNone, false);
  const JobResult result = RunOnDisk(&kit, &storage);
  ASSERT_TRUE(result.status.ok()) << result.status.ToString();
  EXPECT_EQ("", result.left_to_cpu);
  EXPECT_EQ(2u + storage.writes, storage.opened);  // of what is read each once
  EXPECT_LT(4000u * 200, result.bytes_read_by_device);
  EXPECT_LT(result.bytes_read_by_device, result.bytes_read);  // the host has read the indexes
  EXPECT_LT(4000u * 170, result.bytes_written_by_device);
  EXPECT_LT(result.bytes_written_by_device, result.bytes_written);
}

TEST_F(DeviceStorageTest, TheCpuDoesTheJobWhereWhatWasMadeIsLost) {
  PlainStorage storage;
  storage.loses_what_it_made = true;
  storage.fails_writes = true;
  JobKit kit;
  FillForStorage(&kit, Compression::kNone, false);
  const JobResult result = RunOnDisk(&kit, &storage);
  ASSERT_TRUE(result.status.ok()) << result.status.ToString();
  EXPECT_LT(0u, storage.writes);
  EXPECT_NE(std::string::npos, result.left_to_cpu.find("a device is lost")) << result.left_to_cpu;
  EXPECT_EQ(0u, result.bytes_read_by_device);
  EXPECT_EQ(4000u, result.entries_read);
}

// As on a device whose memory has no error correction.
TEST_F(DeviceStorageTest, PiecesThatAreComputedTwiceAreReadAndWrittenOnce) {
  PlainStorage storage;
  FlipCounts counts;
  using Flipping = FlippingDevice<PlainDevice>;
  DeviceExecutor<Flipping> executor("twice", 50000, [&]() -> Result<std::unique_ptr<Flipping>> {
    return std::make_unique<Flipping>(std::make_unique<PlainDevice>(~uint64_t{0}, &storage), Flip(),
                                      &counts);
  });
  JobKit kit;
  FillForStorage(&kit, Compression::kNone, false);
  kit.job().verify_outputs = true;
  ExpectSameOnDisk(&kit, &executor);
  const uint64_t reads = storage.reads, writes = storage.writes;
  EXPECT_LT(10u, reads);
  EXPECT_LT(10u, writes);
  const auto once = MakerWith(&storage)(50000);
  ExpectSameOnDisk(&kit, once.get());
  EXPECT_EQ(2 * reads, storage.reads);
  EXPECT_EQ(2 * writes, storage.writes);
}

TEST_F(DeviceStorageTest, JobsShareAStorage) {
  PlainStorage storage;
  const auto executor = MakerWith(&storage)(50000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) {
    threads.emplace_back([&] {
      JobKit kit;
      FillForStorage(&kit, Compression::kNone, false);
      ExpectSameOnDisk(&kit, executor.get());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LT(30u, storage.writes);
}

// Nobody has looked at a block's type before the device does.
TEST_F(DeviceStorageTest, FilesThatAreCompressedAfterAllAreReadByTheHost) {
  PlainStorage storage;
  JobKit kit;
  FillForStorage(&kit, Compression::kSnappy, true);
  PlainStorage unused;
  EXPECT_EQ("", RunOnDisk(&kit, &unused).left_to_cpu);
  EXPECT_EQ(0u, unused.reads) << "outputs are compressed";
  kit.job().format.compression = Compression::kNone;
  const JobResult result = RunOnDisk(&kit, &storage);
  ASSERT_TRUE(result.status.ok()) << result.status.ToString();
  EXPECT_EQ("", result.left_to_cpu);
  EXPECT_LT(0u, storage.reads);
  EXPECT_EQ(0u, result.bytes_read_by_device);
  EXPECT_EQ(4000u, result.entries_read);
}

TEST_F(DeviceStorageTest, DamageIsFoundInWhatOnlyTheDeviceHasRead) {
  PlainStorage storage;
  JobKit kit;
  FillForStorage(&kit, Compression::kNone, false);
  std::string contents = kit.Contents(kit.job().runs[0][1].path);
  contents[contents.size() / 2] ^= 1;
  ASSERT_TRUE(kit.files().SetContents(kit.job().runs[0][1].path, contents).ok());
  const JobResult result = RunOnDisk(&kit, &storage);
  EXPECT_EQ(Code::kCorruption, result.status.code());
  EXPECT_LT(0u, storage.reads);
  EXPECT_TRUE(result.outputs.empty());
}

}  // namespace
}  // namespace weft::compaction::device
