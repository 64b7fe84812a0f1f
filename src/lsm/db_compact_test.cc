// What the background does first: compactions that a program asks for, and those that are due.
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/faulty_file_system.h"
#include "lsm/db_test_kit.h"
#include "table/table.h"

namespace weft {
namespace {

class DbCompactTest : public DbFixture {
 protected:
  DbCompactTest() { options.file_system = &faulty; }
  ~DbCompactTest() override { Close(); }  // while the file system is there

  base::FaultyFileSystem faulty{&files};
};

// The levels that compactions had their upper inputs from, in order.
class Levels final : public EventListener {
 public:
  void OnCompactionEnd(const CompactionEvent& event) override { all.push_back(event.level); }
  std::vector<int> all;  // read once the store is closed
};

// Who did them, in order.
class Doers final : public EventListener {
 public:
  void OnCompactionEnd(const CompactionEvent& event) override { all.push_back(event.device); }
  std::vector<std::string> all;  // read once the store is closed
};

TEST_F(DbCompactTest, AnotherDeviceCompacts) {
  auto doers = std::make_shared<Doers>();
  options.listeners = {doers};
  options.compaction_device = "plain";
  options.filter_policy = NewBloomFilterPolicy(10);
  options.max_file_size = 1 << 20;
  Open();
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 3000; i++) {
      const std::string value(1000, static_cast<char>('a' + round));
      ASSERT_TRUE(db->Put({}, std::to_string(100000 + i * (round + 1)), value).ok());
    }
    ASSERT_TRUE(db->Delete({}, std::to_string(100000 + round)).ok());
    ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  }
  const DbStatistics statistics = db->Statistics();
  EXPECT_LT(2u, statistics.compactions_by_device);
  EXPECT_EQ(0u, statistics.compactions_left_to_cpu);
  std::string value;
  ASSERT_TRUE(db->Get({}, "100006", &value).ok());
  EXPECT_EQ(std::string(1000, 'c'), value);
  EXPECT_EQ(Code::kNotFound, db->Get({}, "100001", &value).code());
  Close();
  EXPECT_NE(doers->all.end(), std::find(doers->all.begin(), doers->all.end(), "plain"));
  options.listeners.clear();
}

// Opens files of the kind that Direct gives by these, and counts which.
class CountingFiles final : public base::FaultyFileSystem {
 public:
  using FaultyFileSystem::FaultyFileSystem;

  Result<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(const std::string& path) override {
    read++;
    return FaultyFileSystem::NewRandomAccessFile(path);
  }
  Result<std::unique_ptr<WritableFile>> NewWritableFile(const std::string& path,
                                                        FileUse use) override {
    if (use == FileUse::kTable) written++;
    return FaultyFileSystem::NewWritableFile(path, use);
  }
  FileSystem* Direct() override { return direct == nullptr ? this : direct; }

  std::atomic<int> read{0}, written{0};
  CountingFiles* direct = nullptr;
};

TEST_F(DbCompactTest, DirectIoIsForCompactionsAlone) {
  CountingFiles past(&files), plain(&files);
  plain.direct = &past;
  options.file_system = &plain;
  for (const bool direct : {false, true}) {
    past.read = past.written = 0;
    options.compaction_direct_io = direct;
    Open();
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < 500; i++)
        ASSERT_TRUE(db->Put({}, std::to_string(i), std::string(1000, 'v')).ok());
      ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
    }
    std::string value;
    ASSERT_TRUE(db->Get({}, "17", &value).ok());
    Close();
    EXPECT_EQ(direct, past.read > 0);
    EXPECT_EQ(direct, past.written > 0);
  }
  EXPECT_LT(2, plain.written) << "flushes";
  options.file_system = &faulty;
}

TEST_F(DbCompactTest, WhatADeviceCannotDoTheCpuDoes) {
  class Backwards final : public Comparator {
   public:
    int Compare(std::string_view a, std::string_view b) const override { return b.compare(a); }
    const char* Name() const override { return "test.Backwards"; }
    void FindShortestSeparator(std::string*, std::string_view) const override {}
    void FindShortSuccessor(std::string*) const override {}
  };
  const Backwards backwards;
  options.comparator = &backwards;
  options.compaction_device = "plain";
  Open();
  for (int i = 0; i < 100; i++) ASSERT_TRUE(db->Put({}, std::to_string(i), "value").ok());
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  for (int i = 0; i < 100; i++) ASSERT_TRUE(db->Put({}, std::to_string(i), "other").ok());
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  const DbStatistics statistics = db->Statistics();
  EXPECT_EQ(0u, statistics.compactions_by_device);
  EXPECT_LT(0u, statistics.compactions_left_to_cpu);
  Close();
}

TEST_F(DbCompactTest, NoStoreIsMadeForADeviceThatIsNotThere) {
  options.compaction_device = "tpu";
  EXPECT_EQ(Code::kInvalidArgument, Db::Open(options, "/db").error().code());
  setenv("WEFT_COMPACTION_CUDA_MODULE", "/nowhere/module.so", 1);
  options.compaction_device = "cuda:0";
  const Result<std::unique_ptr<Db>> opened = Db::Open(options, "/db");
  unsetenv("WEFT_COMPACTION_CUDA_MODULE");
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(Code::kUnsupported, opened.error().code());
  EXPECT_FALSE(files.FileExists("/db/CURRENT"));
  options.compaction_device = "cpu";
}

// While CompactRange writes level 2 anew, 25 tables at a time, level 0 fills to where writers are
// slowed. With one thread they would be stopped soon if all of CompactRange came first.
TEST_F(DbCompactTest, CompactRangeDoesNotKeepLevel0Waiting) {
  auto levels = std::make_shared<Levels>();
  options.background_threads = 1;
  options.compression = Compression::kNone;
  options.max_file_size = 1 << 20;
  options.level1_bytes_max = 100 << 20;
  options.write_buffer_size = 1 << 20;
  Open();
  for (int i = 0; i < 40000; i++) {
    ASSERT_TRUE(db->Put({}, std::to_string(100000 + i), std::string(1000, 'v')).ok());
  }
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  std::string tables;
  ASSERT_TRUE(db->GetProperty("leveldb.num-files-at-level2", &tables));
  ASSERT_GE(std::stoi(tables), 30);
  options.listeners = {levels};
  Open();
  std::atomic<bool> first{true};
  faulty.SetHook([&](const base::FileCall& call) {
    const bool output =
        call.kind == base::FileCallKind::kNewWritableFile && call.path.ends_with(".ldb");
    if (!output || !first.exchange(false)) return Status();
    // On the compaction's thread, which holds no lock here.
    for (int i = 0; i < options.level0_slowdown_trigger; i++) {
      EXPECT_TRUE(db->Put({}, std::to_string(100000 + i), "new").ok());
      EXPECT_TRUE(db->Put({}, std::to_string(139999), "new").ok());
      EXPECT_TRUE(db->Flush().ok());
    }
    return Status();
  });
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  faulty.Heal();
  Close();
  // Level 2, level 0 as soon as it may, and level 2 again.
  const std::vector<int>& all = levels->all;
  ASSERT_GE(all.size(), 3u);
  EXPECT_EQ(all[0], 2);
  EXPECT_EQ(all[1], 0);
  EXPECT_EQ(all[2], 2);
  options.listeners.clear();
}

// One is at work and keeps what a snapshot sees; the snapshot goes; another one is asked for.
TEST_F(DbCompactTest, CompactRangeDropsWhatACompactionThatRanAlreadyHadToKeep) {
  Open();
  ASSERT_TRUE(db->Put({}, "key", "old").ok());
  const Snapshot* const snapshot = db->GetSnapshot();
  ASSERT_TRUE(db->Put({}, "key", "new").ok());
  ASSERT_TRUE(db->Flush().ok());
  std::atomic<bool> at_work{false};
  std::atomic<bool> go_on{false};
  faulty.SetHook([&](const base::FileCall& call) {  // before its outputs have numbers
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    const bool input = call.kind == base::FileCallKind::kNewRandomAccessFile &&
                       std::string(name) == "weft-compact";
    if (!input || at_work.exchange(true)) return Status();
    while (!go_on) std::this_thread::yield();
    return Status();
  });
  std::thread first([&] { EXPECT_TRUE(db->CompactRange(nullptr, nullptr).ok()); });
  while (!at_work) std::this_thread::yield();
  db->ReleaseSnapshot(snapshot);
  std::thread second([&] { EXPECT_TRUE(db->CompactRange(nullptr, nullptr).ok()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // time to begin, and to wait
  go_on = true;
  first.join();
  second.join();
  faulty.Heal();
  EXPECT_EQ(Get("key"), "new");
  Close();
  const table::InternalComparator comparator(BytewiseComparator());
  uint64_t entries = 0;
  for (const std::string& path : files.AllFiles()) {
    if (!path.ends_with(".ldb")) continue;
    auto file = files.NewRandomAccessFile(path);
    ASSERT_TRUE(file.has_value());
    auto table = table::Table::Open({.order = &comparator}, std::move(*file),
                                    *files.GetFileSize(path), path);
    ASSERT_TRUE(table.has_value());
    uint64_t more = 0;
    ASSERT_TRUE((*table)->Verify(&more).ok());
    entries += more;
  }
  EXPECT_EQ(entries, 1u);
}

// The code of a file's error says nothing of the store: it is counted and told as any other.
TEST_F(DbCompactTest, AFileThatAsksToTryLaterFailsACompaction) {
  Open();
  for (int i = 0; i < 100; i++) ASSERT_TRUE(db->Put({}, std::to_string(i), "value").ok());
  ASSERT_TRUE(db->Flush().ok());
  faulty.SetHook([](const base::FileCall& call) {
    const bool fails =
        call.kind == base::FileCallKind::kNewWritableFile && call.path.ends_with(".ldb");
    return fails ? Status(Code::kRetryLater, "injected") : Status();
  });
  EXPECT_FALSE(db->CompactRange(nullptr, nullptr).ok());
  EXPECT_EQ(db->Statistics().compaction_failures, 1u);
  faulty.Heal();
  EXPECT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  EXPECT_EQ(Get("7"), "value");
}

}  // namespace
}  // namespace weft
