// Jobs whose tables lie elsewhere than in ordinary files, or do not open.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "base/faulty_file_system.h"
#include "base/mutex.h"
#include "base/posix_direct.h"
#include "compaction/device/executor_test_kit.h"
#include "compaction/device/plain_executor.h"

namespace weft::compaction::device {
namespace {

#ifdef WEFT_SANITIZED
constexpr uint64_t kJobsInPlace = 30;
#else
constexpr uint64_t kJobsInPlace = 200;
#endif

TEST(DeviceInPlace, WritesFilesInPlace) {
  ExpectJobsInPlaceTheSame([](uint64_t piece_bytes) { return NewPlainExecutor(piece_bytes); },
                           nullptr, kJobsInPlace);
}

TEST(DeviceDirectIo, WritesWhatTheCpuWrites) {
  ExpectRandomJobsOnDiskTheSame([](uint64_t piece_bytes) { return NewPlainExecutor(piece_bytes); },
                                kJobsInPlace / 5);
}

// So what is written past the page cache is written from there.
TEST(DeviceDirectIo, WhatIsWrittenLiesAsInItsFile) {
  JobKit kit;
  FillForFaults(&kit);
  struct Appended {
    uintptr_t from;
    uint64_t offset;
  };
  std::map<std::string, std::vector<Appended>> files;
  std::map<std::string, uint64_t> bytes;
  base::Mutex mutex;
  base::FaultyFileSystem faulty(kit.job().files);
  faulty.SetHook([&](const base::FileCall& call) {
    if (call.kind != base::FileCallKind::kAppend) return Status::Ok();
    base::MutexLock lock(&mutex);
    files[call.path].push_back({reinterpret_cast<uintptr_t>(call.from), bytes[call.path]});
    bytes[call.path] += call.bytes;
    return Status::Ok();
  });
  kit.job().files = &faulty;
  const JobResult result = NewPlainExecutor(7000)->Run(kit.job(), kit.host());
  ASSERT_TRUE(result.status.ok()) << result.status.ToString();
  ASSERT_EQ(files.size(), result.outputs.size());
  size_t continued = 0;
  for (auto& [path, appended] : files) {
    appended.pop_back();  // the table's end, which is put together on the host
    ASSERT_FALSE(appended.empty());
    continued += appended.size() - 1;
    for (const Appended& part : appended)
      EXPECT_EQ(part.from % base::kDirectAlign, part.offset % base::kDirectAlign) << path;
  }
  EXPECT_GT(continued, 0u) << "each table is of one piece";
}

// Where files are too short for the job's tables: for a part of one, or for all but its end.
TEST(DeviceInPlace, LeavesNoFileWhereThereIsNoRoom) {
  JobKit kit;
  FillForFaults(&kit);
  for (const uint64_t file_bytes : {14000u, 15500u}) {
    JobInPlace in_place(&kit, nullptr, file_bytes);
    const size_t before = in_place.FileCount();
    const JobResult result = NewPlainExecutor(7000)->Run(in_place.job(), kit.host());
    EXPECT_EQ(Code::kIoError, result.status.code()) << result.status.ToString();
    EXPECT_TRUE(result.outputs.empty());
    EXPECT_EQ(before, in_place.FileCount());
  }
}

// Whatever fails while pieces are on their way, in any order of threads.
TEST(DeviceInPlace, LeavesNoFileWhereACallFails) {
  JobKit kit;
  FillForFaults(&kit);
  for (const auto kind : {base::FileCallKind::kNewWritableFile, base::FileCallKind::kAppend,
                          base::FileCallKind::kSync, base::FileCallKind::kClose}) {
    for (uint64_t number = 0;; number++) {
      SCOPED_TRACE(static_cast<int>(kind) * 1000 + static_cast<int>(number));
      JobInPlace in_place(&kit, nullptr);
      const size_t before = in_place.FileCount();
      base::FaultyFileSystem faulty(&in_place.files());
      std::atomic<uint64_t> calls{0};
      faulty.SetHook([&](const base::FileCall& call) {
        const bool fails = call.kind == kind && calls++ == number;
        return fails ? Status(Code::kIoError, "as the test wants it") : Status::Ok();
      });
      in_place.job().files = &faulty;
      const JobResult result = NewPlainExecutor(7000)->Run(in_place.job(), kit.host());
      if (calls <= number) break;
      EXPECT_EQ(Code::kIoError, result.status.code()) << result.status.ToString();
      EXPECT_EQ(before, in_place.FileCount());
    }
  }
}

// Before a device is asked for room in a file, too.
TEST(DeviceInPlace, AsksBeforeItWritesInPlace) {
  JobKit kit;
  FillForFaults(&kit);
  std::atomic<uint64_t> asked{0};
  kit.host().before_write = [&](uint64_t bytes) { asked += bytes; };
  JobInPlace in_place(&kit, nullptr);
  const JobResult result = NewPlainExecutor(7000)->Run(in_place.job(), kit.host());
  ASSERT_TRUE(result.status.ok());
  EXPECT_EQ(result.bytes_written, asked);
}

// That passes, and says nothing of the device: whoever wants the job tries again.
TEST(DeviceFiles, ThatFindNoDescriptorLeaveNothingToTheCpu) {
  JobKit kit;
  FillForFaults(&kit);
  base::FaultyFileSystem faulty(&kit.files());
  kit.job().files = &faulty;
  const auto executor = NewPlainExecutor(7000);
  for (const base::FileCallKind kind :
       {base::FileCallKind::kNewRandomAccessFile, base::FileCallKind::kReadAt,
        base::FileCallKind::kNewWritableFile}) {
    bool failed = true;
    for (int before = 0; failed; before++) {
      std::atomic<int> left = before;
      faulty.SetHook([&](const base::FileCall& call) {
        return call.kind == kind && left-- == 0 ? Status(Code::kRetryLater, "test") : Status();
      });
      const JobResult result = executor->Run(kit.job(), kit.host());
      failed = left < 0;
      EXPECT_EQ(result.status.code(), failed ? Code::kRetryLater : Code::kOk) << before;
      EXPECT_EQ(result.left_to_cpu, "") << before;
      EXPECT_EQ(kit.OutputFiles() > 0, !failed) << before;
      faulty.SetHook(nullptr);
    }
    for (const std::string& path : kit.files().AllFiles()) {
      if (path.starts_with("/out")) (void)kit.files().RemoveFile(path);
    }
  }
}

}  // namespace
}  // namespace weft::compaction::device
