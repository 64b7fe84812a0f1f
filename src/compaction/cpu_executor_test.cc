#include <gtest/gtest.h>

#include "base/faulty_file_system.h"
#include "compaction/job.h"
#include "compaction/random_job_test_kit.h"

namespace weft::compaction {
namespace {

#ifdef WEFT_SANITIZED
constexpr uint64_t kRandomJobs = 60;
#else
constexpr uint64_t kRandomJobs = 400;
#endif

const BackwardsComparator kBackwards;

const Comparator* ComparatorFor(uint64_t seed) {
  return seed % 4 == 3 ? static_cast<const Comparator*>(&kBackwards) : BytewiseComparator();
}

void ExpectOutputsSay(JobKit* kit, const JobResult& result, const TestEntries& kept) {
  uint64_t entries = 0;
  uint64_t bytes = 0;
  for (const OutputTable& output : result.outputs) {
    ASSERT_LT(entries + output.entries, kept.size() + 1);
    EXPECT_EQ(kept[entries].key, output.smallest);
    entries += output.entries;
    EXPECT_EQ(kept[entries - 1].key, output.largest);
    EXPECT_EQ(kit->Contents(output.path).size(), output.bytes);
    bytes += output.bytes;
    EXPECT_TRUE(VerifyTable(kit->job(), output).ok());
  }
  EXPECT_EQ(kept.size(), entries);
  EXPECT_EQ(bytes, result.bytes_written);
  EXPECT_EQ(result.entries_read - result.entries_dropped, entries);
  EXPECT_EQ(kit->OutputFiles(), result.outputs.size());
}

TEST(CpuExecutor, WritesWhatThePlainRulesSay) {
  for (uint64_t i = 0; i < kRandomJobs; i++) {
    const uint64_t seed = table::TestSeed() * 100000 + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomJob random(seed, ComparatorFor(seed));
    JobKit& kit = random.kit();
    PlainCompaction plain = random.Plain(kit.job());
    const std::vector<std::string> expected = plain.Outputs();
    const JobResult result = kit.Run();
    ASSERT_TRUE(result.status.ok()) << result.status.ToString();
    ASSERT_TRUE(expected == kit.Contents(result.outputs));
    ExpectOutputsSay(&kit, result, plain.kept());
  }
}

TEST(CpuExecutor, HeedsARangeOfUserKeys) {
  for (uint64_t i = 0; i < kRandomJobs; i++) {
    const uint64_t seed = table::TestSeed() * 100000 + 50000 + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomJob random(seed, ComparatorFor(seed));
    JobKit& kit = random.kit();
    const auto& keys = random.user_keys();
    auto any_key = [&] {
      return random.strings().Below(4) == 0 ? random.strings().Key()
                                            : keys[random.strings().Below(keys.size())];
    };
    if (random.strings().Below(3) != 0) kit.job().first_user_key = any_key();
    if (random.strings().Below(3) != 0) kit.job().end_user_key = any_key();
    PlainCompaction plain = random.Plain(kit.job());
    const std::vector<std::string> expected = plain.Outputs();
    const JobResult result = kit.Run();
    ASSERT_TRUE(result.status.ok()) << result.status.ToString();
    ASSERT_TRUE(expected == kit.Contents(result.outputs));
    ExpectOutputsSay(&kit, result, plain.kept());
  }
}

TEST(CpuExecutor, JobWithoutEntriesHasNoOutputs) {
  JobKit kit;
  EXPECT_TRUE(kit.Run().status.ok());
  kit.AddRun({Put("b", 1)});
  kit.job().first_user_key = "c";
  JobResult result = kit.Run();
  EXPECT_TRUE(result.status.ok());
  EXPECT_TRUE(result.outputs.empty());
  kit.job().first_user_key.reset();
  kit.job().runs.clear();
  kit.AddRun({Deletion("b", 1)});
  result = kit.Run();
  EXPECT_TRUE(result.status.ok());
  EXPECT_TRUE(result.outputs.empty());
  EXPECT_EQ(1u, result.entries_dropped);
}

TEST(CpuExecutor, KeepsMegabytes) {
  JobKit kit;
  table::Strings strings(table::TestSeed());
  const std::string key = strings.Bytes(1 << 20);
  const TestEntries newer = {Put("", 9), Put(key, 9, strings.Bytes(3 << 20)), Put(key + "!", 9)};
  const TestEntries older = {Put("", 2, strings.Bytes(1 << 20)), Put(key, 2)};
  kit.AddRun(newer);
  kit.AddRun(older);
  PlainCompaction plain(kit.job());
  plain.AddAll(newer);
  plain.AddAll(older);
  const JobResult result = kit.Run();
  ASSERT_TRUE(result.status.ok()) << result.status.ToString();
  EXPECT_TRUE(plain.Outputs() == kit.Contents(result.outputs));
}

TEST(CpuExecutor, GivesWayEveryThousandEntriesOrSo) {
  JobKit kit;
  TestEntries entries;
  for (int i = 0; i < 10000; i++) entries.push_back(Put("key" + std::to_string(10000 + i), 1));
  kit.AddRun(entries);
  int times = 0;
  kit.host().give_way = [&times] { times++; };
  ASSERT_TRUE(kit.Run().status.ok());
  EXPECT_GE(times, 5);
  EXPECT_LE(times, 20);
}

TEST(CpuExecutor, KeepsKeysThatAreNone) {
  for (const bool first_is_short : {false, true}) {
    JobKit kit;
    TestEntries entries;
    if (first_is_short) entries.push_back({"short", "value"});
    entries.push_back(Put("same", 9));
    entries.push_back({std::string("same") + std::string("\x20\x05\0\0\0\0\0\0", 8), "odd"});
    entries.push_back(Put("same", 4));  // not hidden: the odd one begins anew
    entries.push_back(Put("same", 3));
    kit.AddRun(entries);
    const JobResult result = kit.Run();
    ASSERT_TRUE(result.status.ok()) << result.status.ToString();
    ASSERT_EQ(1u, result.outputs.size());
    EXPECT_EQ(entries.size() - 1, result.outputs[0].entries);
    EXPECT_EQ(first_is_short ? 2u : 1u, result.entries_unparsed);
  }
}

// A repair leaves keys that are none out of a table's bounds.
TEST(CpuExecutor, ReadsKeysOutsideTheTablesBounds) {
  JobKit kit;
  TestEntries entries = {Put("aaa", 1), Put("keya", 1), Put("keyb", 1), Put("zzz", 1)};
  kit.AddRun(entries);
  kit.AddRun({Put("keyaa", 1)});
  kit.job().runs[0][0].smallest = entries[1].key;
  kit.job().runs[0][0].largest = entries[2].key;
  const JobResult result = kit.Run();
  ASSERT_TRUE(result.status.ok()) << result.status.ToString();
  ASSERT_EQ(1u, result.outputs.size());
  EXPECT_EQ(5u, result.outputs[0].entries);
  EXPECT_EQ(1u, kit.OutputFiles());
}

TEST(CpuExecutor, TakesTheNewerOfTwoEqualKeys) {
  JobKit kit;
  kit.job().oldest_snapshot = 0;
  kit.AddRun({Put("a", 5, "newer run")});
  kit.AddRun({Put("a", 5, "older run")});
  const JobResult result = kit.Run();
  ASSERT_TRUE(result.status.ok()) << result.status.ToString();
  ASSERT_EQ(1u, result.outputs.size());
  EXPECT_EQ(1u, result.outputs[0].entries);
  EXPECT_NE(std::string::npos, kit.Contents(result.outputs[0].path).find("newer run"));
}

TEST(CpuExecutor, EveryFlippedByteIsFoundOrHarmless) {
  JobKit kit;
  const auto bloom = NewBloomFilterPolicy(10);
  const table::InternalFilterPolicy policy(bloom);
  kit.job().format.filter = &policy;
  kit.job().format.block_size = 200;
  TestEntries entries;
  for (int i = 0; i < 60; i++) entries.push_back(Put("key" + std::to_string(1000 + i), 5));
  kit.AddRun(entries, 20);
  kit.AddRun({Put("key1010", 2), Put("key1030", 2)});
  const JobResult whole = kit.Run();
  ASSERT_TRUE(whole.status.ok());
  const std::vector<std::string> expected = kit.Contents(whole.outputs);
  const JobTable& victim = kit.job().runs[0][1];
  uint64_t harmless = 0;
  for (uint64_t at = 0; at < victim.bytes; at++) {
    const auto mask = static_cast<uint8_t>(1u << (at % 8));
    ASSERT_TRUE(kit.files().FlipBits(victim.path, at, mask).ok());
    const JobResult result = kit.Run();
    if (result.status.ok()) {
      harmless++;
      EXPECT_TRUE(expected == kit.Contents(result.outputs)) << "byte " << at;
      for (const OutputTable& output : result.outputs) {
        ASSERT_TRUE(kit.files().RemoveFile(output.path).ok());
      }
    } else {
      EXPECT_EQ(Code::kCorruption, result.status.code());
      EXPECT_NE(std::string::npos, result.status.message().find(victim.path));
    }
    EXPECT_EQ(whole.outputs.size(), kit.OutputFiles());
    ASSERT_TRUE(kit.files().FlipBits(victim.path, at, mask).ok());
  }
  // The filter, the metaindex and the footer's padding are not read.
  EXPECT_LT(harmless, victim.bytes / 2);
}

TEST(CpuExecutor, ATableCutShortIsFound) {
  JobKit kit;
  kit.AddRun({Put("a", 1), Put("b", 1)});
  const std::string contents = kit.Contents(kit.job().runs[0][0].path);
  for (size_t bytes = 0; bytes < contents.size(); bytes++) {
    ASSERT_TRUE(kit.files().SetContents(kit.job().runs[0][0].path, contents.substr(0, bytes)).ok());
    EXPECT_EQ(Code::kCorruption, kit.Run().status.code());
    kit.job().runs[0][0].bytes = bytes;  // as if the manifest agreed
    EXPECT_EQ(Code::kCorruption, kit.Run().status.code());
    kit.job().runs[0][0].bytes = contents.size();
  }
  EXPECT_EQ(0u, kit.OutputFiles());
}

TEST(CpuExecutor, TablesThatOverlapInARunAreFound) {
  JobKit kit;
  const TestEntries second = {Put("b", 1)};
  kit.AddRun({Put("a", 1), Put("c", 1)});
  kit.job().runs[0].push_back(kit.WriteTable(second));
  const JobResult result = kit.Run();
  EXPECT_EQ(Code::kCorruption, result.status.code());
  EXPECT_EQ(0u, kit.OutputFiles());
}

TEST(CpuExecutor, LeavesNoFileWhereverACallFails) {
  JobKit kit;
  FillForFaults(&kit);
  base::FaultyFileSystem faulty(&kit.files());
  kit.job().files = &faulty;
  ASSERT_TRUE(kit.Run().status.ok());
  const uint64_t calls = faulty.calls();
  ASSERT_LT(10u, calls);
  const size_t outputs = kit.OutputFiles();
  EXPECT_LT(2u, outputs);
  for (uint64_t n = 1; n <= calls; n++) {
    faulty.FailCall(n);
    const JobResult result = kit.Run();
    EXPECT_FALSE(result.status.ok()) << "call " << n;
    EXPECT_TRUE(result.outputs.empty());
    EXPECT_EQ(outputs, kit.OutputFiles()) << "call " << n;
    faulty.Heal();
  }
}

TEST(CpuExecutor, LeavesNoFileWhenTheDiskIsFull) {
  JobKit kit;
  FillForFaults(&kit);
  base::FaultyFileSystem faulty(&kit.files());
  kit.job().files = &faulty;
  for (uint64_t bytes = 0; bytes < 40000; bytes += 1777) {
    faulty.FillDiskAfter(bytes);
    EXPECT_EQ(Code::kIoError, kit.Run().status.code());
    EXPECT_EQ(0u, kit.OutputFiles());
    faulty.Heal();
  }
}

TEST(CpuExecutor, GivesUpWhenCancelled) {
  JobKit kit;
  FillForFaults(&kit);
  std::atomic<bool> cancelled{true};
  kit.host().cancelled = &cancelled;
  EXPECT_EQ(Code::kRetryLater, kit.Run().status.code());
  EXPECT_EQ(0u, kit.OutputFiles());
  cancelled = false;
  EXPECT_TRUE(kit.Run().status.ok());
}

TEST(CpuExecutor, AsksBeforeEveryWrite) {
  JobKit kit;
  FillForFaults(&kit);
  uint64_t asked = 0;
  kit.host().before_write = [&](uint64_t bytes) { asked += bytes; };
  const JobResult result = kit.Run();
  ASSERT_TRUE(result.status.ok());
  EXPECT_EQ(result.bytes_written, asked);
  EXPECT_LT(40000u, asked);
}

// Damages each table as it is closed.
TEST(CpuExecutor, FindsWhatWasWrittenWrong) {
  JobKit kit;
  FillForFaults(&kit);
  base::FaultyFileSystem faulty(&kit.files());
  kit.job().files = &faulty;
  faulty.SetHook([&](const base::FileCall& call) {
    if (call.kind == base::FileCallKind::kClose) {
      EXPECT_TRUE(kit.files().FlipBits(call.path, 500, 1).ok());
    }
    return Status::Ok();
  });
  const JobResult result = kit.Run();
  EXPECT_EQ(Code::kCorruption, result.status.code());
  EXPECT_NE(std::string::npos, result.status.message().find("out"));
  EXPECT_EQ(0u, kit.OutputFiles());
  kit.job().verify_outputs = false;
  EXPECT_TRUE(kit.Run().status.ok());
}

}  // namespace
}  // namespace weft::compaction
