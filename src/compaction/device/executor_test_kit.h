// compaction/device/executor_test_kit.h: random jobs, done by the CPU's executor and by one that
// works as devices do; they must write the same.
//
// Threads   as each says; the rest one thread at a time.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/coding.h"
#include "base/flat_file_system.h"
#include "base/folder_test_kit.h"
#include "compaction/random_job_test_kit.h"

namespace weft::compaction::device {

// Makes an executor that takes pieces of about so many bytes.
using ExecutorMaker = std::function<std::unique_ptr<Executor>(uint64_t piece_bytes)>;

struct Both {
  JobResult cpu;
  JobResult device;
};

inline Both RunBoth(JobKit* kit, Executor* device) {
  Both both{.cpu = NewCpuExecutor()->Run(kit->job(), kit->host()), .device = {}};
  both.device = device->Run(kit->job(), kit->host());
  return both;
}

inline void ExpectSame(JobKit* kit, const Both& both) {
  ASSERT_TRUE(both.cpu.status.ok()) << both.cpu.status.ToString();
  ASSERT_TRUE(both.device.status.ok()) << both.device.status.ToString();
  ASSERT_EQ(both.cpu.outputs.size(), both.device.outputs.size());
  for (size_t i = 0; i < both.cpu.outputs.size(); i++) {
    const OutputTable& a = both.cpu.outputs[i];
    const OutputTable& b = both.device.outputs[i];
    ASSERT_EQ(a.entries, b.entries) << i;
    ASSERT_EQ(a.bytes, b.bytes) << i;
    ASSERT_EQ(a.smallest, b.smallest) << i;
    ASSERT_EQ(a.largest, b.largest) << i;
    ASSERT_TRUE(kit->Contents(a.path) == kit->Contents(b.path)) << i;
  }
  EXPECT_EQ(both.cpu.entries_read, both.device.entries_read);
  EXPECT_EQ(both.cpu.entries_dropped, both.device.entries_dropped);
  EXPECT_EQ(both.cpu.entries_ended, both.device.entries_ended);
  EXPECT_EQ(both.cpu.entries_unparsed, both.device.entries_unparsed);
  EXPECT_EQ(both.cpu.bytes_written, both.device.bytes_written);
}

// Both give the same files, and the device did it by itself.
inline void ExpectSameByDevice(JobKit* kit, Executor* device) {
  ASSERT_NE(nullptr, device);
  const Both both = RunBoth(kit, device);
  ExpectSame(kit, both);
  EXPECT_EQ("", both.device.left_to_cpu);
}

// Of few entries to many pieces, and of many to one.
inline uint64_t AnyPieceBytes(table::Strings* strings) {
  return 1 + strings->Below(strings->Below(2) == 0 ? 3000 : 300000);
}

// Jobs of every kind, with and without filters.
inline void ExpectRandomJobTheSame(const ExecutorMaker& make, uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomJob random(seed, BytewiseComparator());
  JobKit& kit = random.kit();
  table::Strings& strings = random.strings();
  const auto bloom = NewBloomFilterPolicy(static_cast<int>(1 + strings.Below(40)));
  const table::InternalFilterPolicy policy(bloom);
  if (strings.Below(2) == 0) kit.job().format.filter = &policy;
  if (strings.Below(4) == 0) kit.job().format.block_size = 1 + strings.Below(100);
  if (strings.Below(4) == 0) kit.job().format.block_size = 5000 + strings.Below(20000);
  if (strings.Below(8) == 0) kit.job().format.block_restart_interval = 1000;
  ExpectSameByDevice(&kit, make(AnyPieceBytes(&strings)).get());
}
// By so many threads, each with executors of its own. Of many it says how far it has come.
inline void ExpectRandomJobsTheSame(const ExecutorMaker& make, uint64_t jobs, int threads = 1) {
  std::atomic<uint64_t> begun = 0;
  const auto run = [&] {
    for (uint64_t i; (i = begun++) < jobs && !testing::Test::HasFailure();) {
      ExpectRandomJobTheSame(make, table::TestSeed() * 100000 + i);
      if ((i + 1) % 1000 == 0) std::cout << i + 1 << " of " << jobs << " jobs\n" << std::flush;
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; thread++) others.emplace_back(run);
  run();
  for (std::thread& other : others) other.join();
}

// A job whose tables lie on a disk, and are read and written by direct I/O, where it has that.
class JobOnDisk {
 public:
  explicit JobOnDisk(JobKit* kit) : job_(kit->job()) {
    job_.files = PosixFileSystem()->Direct();
    for (auto& run : job_.runs) {
      for (JobTable& table : run) {
        const std::string contents = kit->Contents(table.path);
        table.path = folder_.path() + table.path;
        auto file = std::move(*job_.files->NewWritableFile(table.path, FileUse::kTable));
        EXPECT_TRUE(file->Append(contents).ok());
        EXPECT_TRUE(file->Close().ok());
      }
    }
  }
  JobResult Run(Executor* executor, JobHost host) {
    host.new_output = [this, next = host.new_output] {
      JobHost::NewFile file = next();
      file.path = folder_.path() + file.path;
      return file;
    };
    return executor->Run(job_, host);
  }
  static std::string Contents(const std::string& path) {
    auto file = PosixFileSystem()->NewRandomAccessFile(path);
    EXPECT_TRUE(file.has_value());
    return file ? std::string((*file)->Mapped()) : "";
  }

 private:
  const base::TestFolder folder_;
  Job job_;
};

// On a disk the CPU and the device write what the CPU writes in memory.
inline void ExpectSameOnDisk(JobKit* kit, Executor* device) {
  const JobResult in_memory = kit->Run();
  ASSERT_TRUE(in_memory.status.ok()) << in_memory.status.ToString();
  JobOnDisk on_disk(kit);
  ASSERT_NE(nullptr, device);
  const auto cpu = NewCpuExecutor();
  for (Executor* const executor : {cpu.get(), device}) {
    const JobResult result = on_disk.Run(executor, kit->host());
    ASSERT_TRUE(result.status.ok()) << result.status.ToString();
    EXPECT_EQ("", result.left_to_cpu);
    ASSERT_EQ(in_memory.outputs.size(), result.outputs.size());
    for (size_t k = 0; k < result.outputs.size(); k++)
      ASSERT_TRUE(kit->Contents(in_memory.outputs[k].path) ==
                  JobOnDisk::Contents(result.outputs[k].path))
          << k;
  }
}
inline void ExpectRandomJobsOnDiskTheSame(const ExecutorMaker& make, uint64_t jobs) {
  for (uint64_t i = 0; i < jobs && !testing::Test::HasFailure(); i++) {
    const uint64_t seed = table::TestSeed() * 100000 + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomJob random(seed, BytewiseComparator());
    ExpectSameOnDisk(&random.kit(), make(AnyPieceBytes(&random.strings())).get());
  }
}

// A job whose tables lie where a device takes them from, and puts them.
class JobInPlace {
 public:
  // memory: of the files; null: any.
  JobInPlace(JobKit* kit, base::BufferMemory* memory, uint64_t file_bytes_max = 4u << 20)
      : files_(memory, file_bytes_max), job_(kit->job()) {
    job_.files = &files_;
    for (const auto& run : job_.runs) {
      for (const JobTable& table : run) {
        auto file = std::move(*files_.NewWritableFile(table.path, FileUse::kTable));
        EXPECT_TRUE(file->Append(kit->Contents(table.path)).ok());
        EXPECT_TRUE(file->Close().ok());
      }
    }
  }
  Job& job() { return job_; }
  base::FlatFileSystem& files() { return files_; }
  std::string Contents(const std::string& path) {
    auto file = files_.NewRandomAccessFile(path);
    EXPECT_TRUE(file.has_value());
    return file ? std::string((*file)->Mapped()) : "";
  }
  size_t FileCount() {
    std::vector<std::string> names;
    EXPECT_TRUE(files_.GetChildren("/", &names).ok());
    return names.size();
  }

 private:
  base::FlatFileSystem files_;
  Job job_;
};

// Of such jobs, too, a device makes what the CPU makes of others.
inline void ExpectJobsInPlaceTheSame(const ExecutorMaker& make, base::BufferMemory* memory,
                                     uint64_t jobs) {
  for (uint64_t i = 0; i < jobs && !testing::Test::HasFailure(); i++) {
    const uint64_t seed = table::TestSeed() * 100000 + 30000 + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomJob random(seed, BytewiseComparator());
    JobKit& kit = random.kit();
    const table::InternalFilterPolicy policy(NewBloomFilterPolicy(10));
    if (random.strings().Below(2) == 0) kit.job().format.filter = &policy;
    JobInPlace in_place(&kit, memory);
    const JobResult cpu = NewCpuExecutor()->Run(kit.job(), kit.host());
    const auto device = make(AnyPieceBytes(&random.strings()));
    ASSERT_NE(nullptr, device);
    const JobResult ours = device->Run(in_place.job(), kit.host());
    ASSERT_TRUE(ours.status.ok()) << ours.status.ToString();
    EXPECT_EQ("", ours.left_to_cpu);
    ASSERT_EQ(cpu.outputs.size(), ours.outputs.size());
    for (size_t output = 0; output < cpu.outputs.size(); output++) {
      ASSERT_TRUE(kit.Contents(cpu.outputs[output].path) ==
                  in_place.Contents(ours.outputs[output].path))
          << output;
    }
  }
}

// As SplitJob: without the tables that have no key of the range.
inline void KeepTablesOfRange(Job* job) {
  const auto is_outside = [job](const JobTable& table) {
    return (job->first_user_key && table::UserKey(table.largest) < *job->first_user_key) ||
           (job->end_user_key && table::UserKey(table.smallest) >= *job->end_user_key);
  };
  for (auto& run : job->runs) std::erase_if(run, is_outside);
  std::erase_if(job->runs, [](const auto& run) { return run.empty(); });
}

// Jobs of all tables are done by the device or the CPU: a device believes no table's ends where no
// other piece of the job would miss its keys.
inline void ExpectRandomRangesTheSame(const ExecutorMaker& make, uint64_t jobs) {
  for (uint64_t i = 0; i < jobs && !testing::Test::HasFailure(); i++) {
    const uint64_t seed = table::TestSeed() * 100000 + 50000 + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomJob random(seed, BytewiseComparator());
    const auto& keys = random.user_keys();
    table::Strings& strings = random.strings();
    auto any_key = [&] {
      return strings.Below(4) == 0 ? strings.Key() : keys[strings.Below(keys.size())];
    };
    if (strings.Below(3) != 0) random.kit().job().first_user_key = any_key();
    if (strings.Below(3) != 0) random.kit().job().end_user_key = any_key();
    const auto device = make(AnyPieceBytes(&strings));
    ASSERT_NE(nullptr, device);
    ExpectSame(&random.kit(), RunBoth(&random.kit(), device.get()));
    KeepTablesOfRange(&random.kit().job());
    ExpectSameByDevice(&random.kit(), device.get());
  }
}

// A run of keys whose values begin with expiry and generation, or are too short for that.
inline TestEntries EntriesThatEnd(table::Strings* strings, uint64_t sequence) {
  TestEntries entries;
  for (uint64_t key = 0; key < 300; key++) {
    if (strings->Below(2) == 0) continue;
    for (uint64_t version = 1 + strings->Below(3); version != 0; version--) {
      std::string value;
      base::PutFixed32(&value, static_cast<uint32_t>(strings->Below(4)));
      base::PutFixed32(&value, static_cast<uint32_t>(strings->Below(3)));
      value = value.substr(0, strings->Below(8) == 0 ? strings->Below(8) : 8);
      const std::string user_key = "key" + std::to_string(1000 + key);
      entries.push_back(strings->Below(6) == 0 ? Deletion(user_key, sequence + version)
                                               : Put(user_key, sequence + version, value));
    }
  }
  return entries;
}
inline constexpr LifetimeRule kTestLifetime = {
    .expiry_offset = 0, .generation_offset = 4, .now_s = 2, .generation_floor = 1};

inline void ExpectEndedValuesTheSame(const ExecutorMaker& make, uint64_t jobs) {
  uint64_t ended = 0;
  for (uint64_t i = 0; i < jobs && !testing::Test::HasFailure(); i++) {
    const uint64_t seed = table::TestSeed() * 100000 + 70000 + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    table::Strings strings(seed);
    JobKit kit;
    uint64_t sequence = 10000;
    for (uint64_t run = 1 + strings.Below(4); run != 0; run--, sequence -= 1000) {
      const TestEntries entries = EntriesThatEnd(&strings, sequence);
      if (!entries.empty()) kit.AddRun(entries, 1 + strings.Below(100));
    }
    kit.job().lifetime = kTestLifetime;
    if (strings.Below(2) == 0) kit.job().oldest_snapshot = 7000 + strings.Below(3100);
    if (strings.Below(2) == 0) kit.job().deeper = {{{"key1100", "key1200"}}};
    const auto device = make(AnyPieceBytes(&strings));
    ASSERT_NE(nullptr, device);
    const Both both = RunBoth(&kit, device.get());
    ExpectSame(&kit, both);
    EXPECT_EQ("", both.device.left_to_cpu);
    ended += both.device.entries_ended;
  }
  EXPECT_LT(5 * jobs, ended);
}

// Jobs of `threads` threads at once, by one executor: `jobs` of each.
inline void RunRandomJobsAtOnce(Executor* executor, int threads, uint64_t jobs) {
  std::vector<std::thread> all;
  for (int thread = 0; thread < threads; thread++) {
    all.emplace_back([=] {
      for (uint64_t i = 0; i < jobs; i++) {
        const uint64_t seed =
            table::TestSeed() * 100000 + 90000 + static_cast<uint64_t>(thread) * 1000 + i;
        RandomJob random(seed, BytewiseComparator());
        const Both both = RunBoth(&random.kit(), executor);
        ExpectSame(&random.kit(), both);
        EXPECT_EQ("", both.device.left_to_cpu) << "seed " << seed;
      }
    });
  }
  for (std::thread& thread : all) thread.join();
}

}  // namespace weft::compaction::device
