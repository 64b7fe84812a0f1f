#include <gtest/gtest.h>

#include <atomic>

#include "base/faulty_file_system.h"
#include "compaction/device/executor_test_kit.h"
#include "compaction/device/plain_executor.h"

namespace weft::compaction::device {
namespace {

#ifdef WEFT_SANITIZED
constexpr uint64_t kRandomJobs = 60;
#else
constexpr uint64_t kRandomJobs = 400;
#endif

const BackwardsComparator kBackwards;

const ExecutorMaker kMakePlain = [](uint64_t piece_bytes) { return NewPlainExecutor(piece_bytes); };

Both RunBothInPieces(JobKit* kit, uint64_t piece_bytes) {
  return RunBoth(kit, NewPlainExecutor(piece_bytes).get());
}
void ExpectSameInPieces(JobKit* kit, uint64_t piece_bytes) {
  ExpectSameByDevice(kit, NewPlainExecutor(piece_bytes).get());
}

TEST(DeviceExecutor, WritesWhatTheCpuWrites) { ExpectRandomJobsTheSame(kMakePlain, kRandomJobs); }

TEST(DeviceExecutor, HeedsARangeOfUserKeys) { ExpectRandomRangesTheSame(kMakePlain, kRandomJobs); }

TEST(DeviceExecutor, EndsValuesAsTheCpuDoes) {
  ExpectEndedValuesTheSame(kMakePlain, kRandomJobs / 2);
}

TEST(DeviceExecutor, JobsRunAtOnce) {
  RunRandomJobsAtOnce(NewPlainExecutor(100000).get(), 4, kRandomJobs / 20);
}

// What a value's end makes of one version decides about its twin: more than an entry and the one
// before it can tell.
TEST(DeviceExecutor, LeavesTwinsThatEndToTheCpu) {
  JobKit kit;
  const std::string value(8, '\0');
  kit.AddRun({Put("a", 5, value)});
  kit.AddRun({Put("a", 5, value), Put("a", 3, value)});
  kit.job().oldest_snapshot = 1;
  kit.job().lifetime = kTestLifetime;
  const Both both = RunBothInPieces(&kit, 1000);
  ExpectSame(&kit, both);
  EXPECT_NE("", both.device.left_to_cpu);
}

TEST(DeviceExecutor, KeepsMegabytes) {
  JobKit kit;
  table::Strings strings(table::TestSeed());
  const std::string key = strings.Bytes(1 << 20);
  kit.AddRun({Put("", 9), Put(key, 9, strings.Bytes(3 << 20)), Put(key + "!", 9)});
  kit.AddRun({Put("", 2, strings.Bytes(1 << 20)), Put(key, 2)});
  ExpectSameInPieces(&kit, 1);
  ExpectSameInPieces(&kit, 64 << 20);
}

TEST(DeviceExecutor, JobWithoutEntriesHasNoOutputs) {
  JobKit kit;
  ExpectSameInPieces(&kit, 1000);
  kit.AddRun({Put("b", 1)});
  kit.job().first_user_key = "c";
  ExpectSameInPieces(&kit, 1000);
  kit.job().first_user_key.reset();
  kit.job().runs.clear();
  kit.AddRun({Deletion("b", 1)});
  ExpectSameInPieces(&kit, 1000);
  EXPECT_EQ(0u, kit.OutputFiles());
}

TEST(DeviceExecutor, KeepsKeysThatAreNone) {
  for (const bool first_is_short : {false, true}) {
    JobKit kit;
    TestEntries entries;
    if (first_is_short) entries.push_back({"short", "value"});
    entries.push_back(Put("same", 9));
    entries.push_back({std::string("same") + std::string("\x20\x05\0\0\0\0\0\0", 8), "odd"});
    entries.push_back(Put("same", 4));
    entries.push_back(Put("same", 3));
    kit.AddRun(entries);
    ExpectSameInPieces(&kit, 1);
  }
}

TEST(DeviceExecutor, LeavesToTheCpuWhatItCannotDo) {
  JobKit backwards(&kBackwards);
  backwards.AddRun({Put("b", 1), Put("a", 1)});
  Both both = RunBothInPieces(&backwards, 1000);
  ExpectSame(&backwards, both);
  EXPECT_NE("", both.device.left_to_cpu);

  class OwnPolicy final : public FilterPolicy {
   public:
    const char* Name() const override { return "test.Own"; }
    void CreateFilter(std::span<const std::string_view>, std::string* filter) const override {
      filter->push_back('x');
    }
    bool KeyMayMatch(std::string_view, std::string_view) const override { return true; }
  };
  const OwnPolicy own;
  JobKit kit;
  kit.job().format.filter = &own;
  kit.AddRun({Put("a", 1), Put("b", 1)});
  both = RunBothInPieces(&kit, 1000);
  ExpectSame(&kit, both);
  EXPECT_NE("", both.device.left_to_cpu);
}

// Bounds that a repair made, and those of a manifest that lies.
TEST(DeviceExecutor, LosesNoKeyOutsideTheTablesBounds) {
  TestEntries entries;
  for (int i = 0; i < 200; i++) entries.push_back(Put("key" + std::to_string(1000 + i), 5));
  for (const size_t first : {0, 50, 199}) {
    for (const size_t last : {0, 100, 199}) {
      if (first > last) continue;
      JobKit kit;
      kit.job().format.block_size = 100;
      kit.AddRun(entries);
      kit.AddRun({Put("key1000", 2), Put("key11505", 2)});
      kit.job().runs[0][0].smallest = entries[first].key;
      kit.job().runs[0][0].largest = entries[last].key;
      for (const uint64_t piece_bytes : {300, 1000, 100000}) {
        const Both both = RunBothInPieces(&kit, piece_bytes);
        ExpectSame(&kit, both);
        EXPECT_EQ(201u, both.device.entries_read - both.device.entries_dropped);
      }
    }
  }
}

TEST(DeviceExecutor, LeavesToTheCpuWhatItHasNoRoomFor) {
  RandomJob random(table::TestSeed() + 17, BytewiseComparator());
  bool is_enough = false;
  uint64_t times_left = 0;
  for (uint64_t bytes = 1000; !is_enough; bytes += bytes / 8) {
    const auto executor = NewPlainExecutor(100000, bytes);
    const Both both = RunBoth(&random.kit(), executor.get());
    ExpectSame(&random.kit(), both);
    is_enough = both.device.left_to_cpu.empty();
    if (!is_enough) times_left++;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_LT(10u, times_left);
}

// A job of several outputs and pieces.
constexpr uint64_t kFaultsPieceBytes = 7000;
void FillForFaults(JobKit* kit) {
  TestEntries entries;
  for (int i = 0; i < 400; i++) {
    entries.push_back(Put("key" + std::to_string(1000 + i), 5, std::string(100, 'v')));
  }
  kit->AddRun(entries, 100);
  kit->AddRun({Put("key1010", 2), Put("key1399", 2)});
  kit->job().output_bytes_max = 15000;
}

TEST(DeviceExecutor, EveryFlippedByteIsFoundOrHarmless) {
  JobKit kit;
  kit.job().format.block_size = 200;
  TestEntries entries;
  for (int i = 0; i < 60; i++) entries.push_back(Put("key" + std::to_string(1000 + i), 5));
  kit.AddRun(entries, 20);
  kit.AddRun({Put("key1010", 2), Put("key1030", 2)});
  const JobTable& victim = kit.job().runs[0][1];
  for (uint64_t at = 0; at < victim.bytes; at++) {
    const auto mask = static_cast<uint8_t>(1u << (at % 8));
    ASSERT_TRUE(kit.files().FlipBits(victim.path, at, mask).ok());
    const Both both = RunBothInPieces(&kit, 300);
    EXPECT_EQ(both.cpu.status.code(), both.device.status.code()) << at;
    EXPECT_EQ(both.cpu.status.message(), both.device.status.message()) << at;
    if (both.cpu.status.ok()) ExpectSame(&kit, both);
    for (const JobResult* result : {&both.cpu, &both.device}) {
      for (const OutputTable& output : result->outputs) {
        ASSERT_TRUE(kit.files().RemoveFile(output.path).ok());
      }
    }
    ASSERT_EQ(0u, kit.OutputFiles()) << at;
    ASSERT_TRUE(kit.files().FlipBits(victim.path, at, mask).ok());
  }
}

TEST(DeviceExecutor, TablesThatOverlapInARunAreFound) {
  JobKit kit;
  const TestEntries second = {Put("b", 1)};
  kit.AddRun({Put("a", 1), Put("c", 1)});
  kit.job().runs[0].push_back(kit.WriteTable(second));
  EXPECT_EQ(Code::kCorruption, NewPlainExecutor(1000)->Run(kit.job(), kit.host()).status.code());
  EXPECT_EQ(0u, kit.OutputFiles());
}

// Once: the CPU does it then, where reading failed; twice: it fails, too.
TEST(DeviceExecutor, LeavesNoFileWhereACallFails) {
  JobKit kit;
  FillForFaults(&kit);
  base::FaultyFileSystem faulty(&kit.files());
  kit.job().files = &faulty;
  const auto executor = NewPlainExecutor(kFaultsPieceBytes);
  const JobResult whole = executor->Run(kit.job(), kit.host());
  ASSERT_TRUE(whole.status.ok());
  ASSERT_EQ("", whole.left_to_cpu);
  const uint64_t calls = faulty.calls();
  const size_t outputs = kit.OutputFiles();
  EXPECT_LT(2u, outputs);
  for (uint64_t n = 1; n <= calls; n++) {
    faulty.FailCall(n);
    const JobResult result = executor->Run(kit.job(), kit.host());
    faulty.Heal();
    if (result.status.ok()) {
      EXPECT_NE("", result.left_to_cpu) << "call " << n;
      ASSERT_TRUE(kit.Contents(whole.outputs) == kit.Contents(result.outputs)) << "call " << n;
    }
    for (const OutputTable& output : result.outputs) {
      ASSERT_TRUE(kit.files().RemoveFile(output.path).ok());
    }
    ASSERT_EQ(outputs, kit.OutputFiles()) << "call " << n;
  }
}

TEST(DeviceExecutor, LeavesNoFileWhenTheDiskIsFull) {
  JobKit kit;
  FillForFaults(&kit);
  base::FaultyFileSystem faulty(&kit.files());
  kit.job().files = &faulty;
  const auto executor = NewPlainExecutor(kFaultsPieceBytes);
  for (uint64_t bytes = 0; bytes < 40000; bytes += 1777) {
    faulty.FillDiskAfter(bytes);
    EXPECT_EQ(Code::kIoError, executor->Run(kit.job(), kit.host()).status.code());
    EXPECT_EQ(0u, kit.OutputFiles());
    faulty.Heal();
  }
}

TEST(DeviceExecutor, HeedsItsHost) {
  JobKit kit;
  FillForFaults(&kit);
  const auto executor = NewPlainExecutor(kFaultsPieceBytes);
  std::atomic<bool> cancelled{true};
  kit.host().cancelled = &cancelled;
  EXPECT_EQ(Code::kRetryLater, executor->Run(kit.job(), kit.host()).status.code());
  EXPECT_EQ(0u, kit.OutputFiles());
  cancelled = false;
  uint64_t asked = 0;
  int gave_way = 0;
  kit.host().before_write = [&](uint64_t bytes) { asked += bytes; };
  kit.host().give_way = [&] { gave_way++; };
  const JobResult result = executor->Run(kit.job(), kit.host());
  ASSERT_TRUE(result.status.ok());
  EXPECT_EQ(result.bytes_written, asked);
  EXPECT_LT(3, gave_way);
}

// A table that is not what was made is thrown away, and the CPU makes another.
TEST(DeviceExecutor, WhatWasWrittenWrongIsDoneAgainByTheCpu) {
  JobKit kit;
  FillForFaults(&kit);
  base::FaultyFileSystem faulty(&kit.files());
  kit.job().files = &faulty;
  int damaged = 0;
  faulty.SetHook([&](const base::FileCall& call) {
    if (call.kind == base::FileCallKind::kClose && damaged++ == 1) {
      EXPECT_TRUE(kit.files().FlipBits(call.path, 500, 1).ok());
    }
    return Status::Ok();
  });
  const JobResult result = NewPlainExecutor(kFaultsPieceBytes)->Run(kit.job(), kit.host());
  ASSERT_TRUE(result.status.ok()) << result.status.ToString();
  EXPECT_NE("", result.left_to_cpu);
  EXPECT_EQ(result.outputs.size(), kit.OutputFiles());
}

}  // namespace
}  // namespace weft::compaction::device
