#include <gtest/gtest.h>

#include <atomic>

#include "base/coding.h"
#include "base/crc32c.h"
#include "base/faulty_file_system.h"
#include "compaction/device/device_executor.h"
#include "compaction/device/executor_test_kit.h"
#include "compaction/device/flipping_device_test_kit.h"
#include "compaction/device/plain_device.h"
#include "compaction/device/plain_executor.h"

namespace weft::compaction::device {
namespace {

#ifdef WEFT_SANITIZED
constexpr uint64_t kJobsInPieces = 60;
#else
constexpr uint64_t kJobsInPieces = 400;
#endif

const BackwardsComparator kBackwards;

const ExecutorMaker kMakePlain = [](uint64_t piece_bytes) { return NewPlainExecutor(piece_bytes); };

Both RunBothInPieces(JobKit* kit, uint64_t piece_bytes) {
  return RunBoth(kit, NewPlainExecutor(piece_bytes).get());
}
void ExpectSameInPieces(JobKit* kit, uint64_t piece_bytes) {
  ExpectSameByDevice(kit, NewPlainExecutor(piece_bytes).get());
}

TEST(DeviceExecutor, WritesWhatTheCpuWrites) { ExpectRandomJobsTheSame(kMakePlain, kJobsInPieces); }

TEST(DeviceExecutor, HeedsARangeOfUserKeys) {
  ExpectRandomRangesTheSame(kMakePlain, kJobsInPieces);
}

TEST(DeviceExecutor, EndsValuesAsTheCpuDoes) {
  ExpectEndedValuesTheSame(kMakePlain, kJobsInPieces / 2);
}

TEST(DeviceExecutor, JobsRunAtOnce) {
  RunRandomJobsAtOnce(NewPlainExecutor(100000).get(), 4, kJobsInPieces / 20);
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
  JobKit plain_bloom;
  const auto bloom = NewBloomFilterPolicy(10);
  plain_bloom.job().format.filter = bloom.get();  // over keys with their trailers
  plain_bloom.AddRun({Put("a", 1), Put("b", 1)});
  both = RunBothInPieces(&plain_bloom, 1000);
  ExpectSame(&plain_bloom, both);
  EXPECT_NE("", both.device.left_to_cpu);

  const auto many_bits = NewBloomFilterPolicy(2147483647);
  const table::InternalFilterPolicy many(many_bits);
  plain_bloom.job().format.filter = &many;
  EXPECT_FALSE(CanDo(plain_bloom.job()).ok());

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

// The ends that the job says a table has are too narrow, while another run divides the job there.
TEST(DeviceExecutor, LosesNoKeyWhereATableEndsLaterThanItSays) {
  TestEntries odd;
  TestEntries even;
  for (int i = 0; i < 100; i++) {
    odd.push_back(Put("key" + std::to_string(1000 + i), 9));
    even.push_back(Put("key" + std::to_string(1000 + i) + "x", 5));
  }
  for (const size_t block_size : {100, 100000}) {
    for (const auto& [smallest, largest] :
         {std::pair{0, 3}, std::pair{0, 60}, std::pair{80, 99}, std::pair{40, 60}}) {
      JobKit kit;
      kit.job().format.block_size = block_size;
      kit.AddRun(odd);
      kit.job().format.block_size = 100;
      kit.AddRun(even);
      kit.job().runs[0][0].smallest = odd[static_cast<size_t>(smallest)].key;
      kit.job().runs[0][0].largest = odd[static_cast<size_t>(largest)].key;
      for (const uint64_t piece_bytes : {300, 1000, 100000}) {
        for (const char* first : {"", "key1050"}) {
          for (const char* end : {"", "key1070"}) {
            kit.job().first_user_key.reset();
            kit.job().end_user_key.reset();
            if (*first != '\0') kit.job().first_user_key = first;
            if (*end != '\0') kit.job().end_user_key = end;
            ExpectSame(&kit, RunBothInPieces(&kit, piece_bytes));
            if (testing::Test::HasFailure()) return;
          }
        }
      }
    }
  }
}

TEST(DeviceExecutor, TakesTheNewerOfTwoEqualKeys) {
  JobKit kit;
  kit.job().oldest_snapshot = 0;
  kit.AddRun({Put("a", 5, "newer run")});
  kit.AddRun({Put("a", 5, "older run")});
  ExpectSameInPieces(&kit, 1000);
}

// A grandparent that ends with an entry's key: the entry as it came, not as the deletion it
// becomes.
TEST(DeviceExecutor, CutsByKeysAsTheyCame) {
  JobKit kit;
  kit.AddRun({Put("a", 9, "alive..."), Put("b", 8, std::string(8, '\0')), Put("c", 7, "alive...")});
  kit.job().lifetime = kTestLifetime;
  kit.job().oldest_snapshot = 1;
  kit.job().grandparents = {{.number = 1,
                             .bytes = 100,
                             .path = "",
                             .smallest = Put("a", 9).key,
                             .largest = Put("b", 8).key}};
  kit.job().grandparent_overlap_bytes_max = 10;
  const Both both = RunBothInPieces(&kit, 1000);
  ExpectSame(&kit, both);
  EXPECT_EQ(2u, both.device.outputs.size());
}

// Damage that a checksum does not tell: each byte of a table's blocks in turn, with the checksum of
// what there is then.
TEST(DeviceExecutor, EveryFlippedByteUnderItsChecksumIsFoundOrTakenAsTheCpuDoes) {
  JobKit kit;
  kit.job().format.block_size = 100;
  kit.job().format.block_restart_interval = 3;
  kit.job().verify_outputs = false;
  TestEntries entries;
  for (int i = 0; i < 24; i++) entries.push_back(Put("key" + std::to_string(1000 + i), 5, "val"));
  kit.AddRun(entries);
  kit.AddRun({Put("key1003", 2), Put("key1020x", 2)});
  const JobTable& victim = kit.job().runs[0][0];
  const std::string whole = kit.Contents(victim.path);
  std::vector<table::BlockHandle> handles(1);
  {
    Result<std::unique_ptr<TableInput>> input = TableInput::Open(kit.job(), victim, {});
    ASSERT_TRUE(input.has_value());
    while (*(*input)->NextHandle(&handles.back())) handles.emplace_back();
    handles.pop_back();
  }
  ASSERT_LT(3u, handles.size());
  uint64_t left_to_cpu = 0;
  for (const table::BlockHandle& handle : handles) {
    for (uint64_t at = handle.offset; at < handle.offset + handle.bytes; at++) {
      for (const uint8_t mask : {1, 0x80, 0xff}) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(static_cast<uint8_t>(damaged[at]) ^ mask);
        const uint32_t crc = base::Crc32c(damaged.data() + handle.offset, handle.bytes + 1);
        base::EncodeFixed32(damaged.data() + handle.offset + handle.bytes + 1,
                            base::MaskCrc32c(crc));
        ASSERT_TRUE(kit.files().SetContents(victim.path, damaged).ok());
        const Both both = RunBothInPieces(&kit, 200);
        ASSERT_EQ(both.cpu.status.message(), both.device.status.message()) << at;
        if (both.cpu.status.ok()) ExpectSame(&kit, both);
        if (!both.device.left_to_cpu.empty()) left_to_cpu++;
        for (const JobResult* result : {&both.cpu, &both.device}) {
          for (const OutputTable& output : result->outputs) {
            ASSERT_TRUE(kit.files().RemoveFile(output.path).ok());
          }
        }
        ASSERT_EQ(0u, kit.OutputFiles()) << at;
      }
    }
  }
  EXPECT_LT(100u, left_to_cpu);
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

// Of FillForFaults several pieces.
constexpr uint64_t kFaultsPieceBytes = 7000;

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

// A job's executor whose memory is not to be trusted, and with what flips in it.
std::unique_ptr<Executor> NewFlippingExecutor(const Flip& flip, FlipCounts* counts) {
  return std::make_unique<DeviceExecutor<FlippingDevice<PlainDevice>>>(
      "plain", kFaultsPieceBytes, [=]() -> Result<std::unique_ptr<FlippingDevice<PlainDevice>>> {
        return std::make_unique<FlippingDevice<PlainDevice>>(std::make_unique<PlainDevice>(), flip,
                                                             counts);
      });
}

// Wherever a bit flips: the files are those of the CPU.
TEST(DeviceExecutor, WhatFlipsInTheDevicesMemoryIsFound) {
  table::Strings strings(table::TestSeed());
  for (const Compression compression : {Compression::kNone, Compression::kSnappy}) {
    JobKit kit;
    FillForFaults(&kit);
    kit.job().format.compression = compression;
    const auto bloom = NewBloomFilterPolicy(10);
    const table::InternalFilterPolicy policy(bloom);
    kit.job().format.filter = &policy;
    FlipCounts whole;
    Both both = RunBoth(&kit, NewFlippingExecutor({}, &whole).get());
    ExpectSame(&kit, both);
    ASSERT_EQ("", both.device.left_to_cpu) << "what is computed twice is the same";
    ASSERT_EQ(0u, whole.flips);
    ASSERT_LT(100u, whole.runs);
    uint64_t flips = 0, found = 0;
    for (uint64_t i = 0; i < kJobsInPieces && !HasFailure(); i++) {
      const Flip flip{.before_run = strings.Below(whole.runs), .random = strings.Below(~0ull)};
      SCOPED_TRACE("run " + std::to_string(flip.before_run) + ", random " +
                   std::to_string(flip.random));
      FlipCounts counts;
      both = RunBoth(&kit, NewFlippingExecutor(flip, &counts).get());
      ExpectSame(&kit, both);
      flips += counts.flips;
      found += both.device.left_to_cpu.empty() ? 0 : 1;
    }
    EXPECT_LT(kJobsInPieces / 4, flips);
    EXPECT_LT(flips / 10, found) << "nothing that flipped mattered: this shows nothing";
  }
}

// More than are written at once, in one piece and with compressed blocks of several kinds.
TEST(DeviceExecutor, APieceMayHaveManyTables) {
  for (const Compression compression :
       {Compression::kNone, Compression::kSnappy, Compression::kZstd}) {
    JobKit kit;
    kit.job().format.compression = compression;
    kit.job().format.block_size = 256;
    kit.job().output_bytes_max = 1000;
    kit.host().threads = 4;
    table::Strings strings(table::TestSeed());
    TestEntries entries;
    for (int i = 0; i < 8000; i++) {
      // Some can't be compressed, and stay as they are between others.
      const std::string value = i / 100 % 3 == 0 ? strings.Bytes(40) : std::string(40, 'v');
      entries.push_back(Put("key" + std::to_string(100000 + i), 1, value));
    }
    kit.AddRun(entries, 3000);
    const auto executor = NewPlainExecutor(uint64_t{1} << 30);
    const Both both = RunBoth(&kit, executor.get());
    ExpectSame(&kit, both);
    EXPECT_EQ("", both.device.left_to_cpu);
    EXPECT_LT(150u, both.device.outputs.size());
  }
}

// Of a table several extents, of a file that is not in memory.
TEST(DeviceExecutor, SeveralThreadsReadOneTable) {
  JobKit kit;
  table::Strings strings(table::TestSeed());
  TestEntries entries;
  for (int i = 0; i < 8000; i++)
    entries.push_back(Put("key" + std::to_string(100000 + i), 1, strings.Bytes(1000)));
  kit.AddRun(entries, entries.size());
  kit.job().format.compression = Compression::kNone;
  kit.host().threads = 6;
  ASSERT_LT(4 * kExtentBytes, kit.job().runs[0][0].bytes);
  for (int i = 0; i < 5; i++) ExpectSameInPieces(&kit, uint64_t{1} << 30);
}

TEST(DeviceExecutor, TablesThatOverlapInARunAreFound) {
  JobKit kit;
  kit.job().verify_outputs = false;
  const TestEntries second = {Put("b", 1)};
  kit.AddRun({Put("a", 1), Put("c", 1)});
  kit.job().runs[0].push_back(kit.WriteTable(second));
  EXPECT_EQ(Code::kCorruption, NewPlainExecutor(1000)->Run(kit.job(), kit.host()).status.code());
  EXPECT_EQ(0u, kit.OutputFiles());
}

// By the job's own threads, and by a crew.
class DeviceExecutorFaults : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, DeviceExecutorFaults, testing::Values(1, 5));

// Once: the CPU does it then, where reading failed; twice: it fails, too.
TEST_P(DeviceExecutorFaults, LeavesNoFileWhereACallFails) {
  JobKit kit;
  FillForFaults(&kit);
  kit.host().threads = GetParam();
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

TEST_P(DeviceExecutorFaults, LeavesNoFileWhenTheDiskIsFull) {
  JobKit kit;
  FillForFaults(&kit);
  kit.host().threads = GetParam();
  base::FaultyFileSystem faulty(&kit.files());
  kit.job().files = &faulty;
  const auto executor = NewPlainExecutor(kFaultsPieceBytes);
  for (uint64_t bytes = 0; bytes < 40000; bytes += 1777) {
    faulty.FillDiskAfter(bytes);
    const JobResult result = executor->Run(kit.job(), kit.host());
    EXPECT_EQ(Code::kIoError, result.status.code());
    EXPECT_EQ("", result.left_to_cpu);  // the CPU would meet it, too
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
TEST_P(DeviceExecutorFaults, WhatWasWrittenWrongIsDoneAgainByTheCpu) {
  JobKit kit;
  FillForFaults(&kit);
  kit.host().threads = GetParam();
  base::FaultyFileSystem faulty(&kit.files());
  kit.job().files = &faulty;
  std::atomic<int> damaged{0};
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
