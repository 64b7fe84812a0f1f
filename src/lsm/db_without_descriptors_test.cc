// Stores whose process finds no descriptor for a while, or for ever.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

#include "base/faulty_file_system.h"
#include "base/folder_test_kit.h"
#include "lsm/db_test_kit.h"

namespace weft {
namespace {

using base::FileCall;
using base::FileCallKind;

class DbWithoutDescriptorsTest : public DbFixture {
 protected:
  DbWithoutDescriptorsTest() { options.file_system = &faulty; }
  ~DbWithoutDescriptorsTest() override { Close(); }

  // Of a hook's caller.
  static bool IsOnThread(std::string_view name) {
    char thread[16] = "";
    pthread_getname_np(pthread_self(), thread, sizeof thread);
    return name == thread;
  }
  // With a level 0 that is soon full.
  void OpenSmall() {
    options.level0_compaction_trigger = 2;
    options.level0_slowdown_trigger = 3;
    options.level0_stop_trigger = 4;
    options.background_threads = 1;
    Open();
  }
  // Tables of level 0, until a write fails.
  Status Fill(int tables) {
    Status status;
    for (int i = 0; i < tables && status.ok(); i++) {
      for (const char* key : {"a", "z"})
        if (status.ok()) status = db->Put({}, key, std::to_string(i));
      if (status.ok()) status = db->Flush();
    }
    return status;
  }

  base::FaultyFileSystem faulty{&files};
};

// Wherever in a flush it is: the new log, the table, the folder's syncs of both and of the
// manifest.
TEST_F(DbWithoutDescriptorsTest, AFlushIsTriedAgainAtEachCallThatNeedsADescriptor) {
  std::atomic<int> before = 1'000'000;  // calls of these kinds that go well
  faulty.SetHook([&](const FileCall& call) {
    const bool needs_one = call.kind == FileCallKind::kNewWritableFile ||
                           call.kind == FileCallKind::kSyncDir ||
                           call.kind == FileCallKind::kNewRandomAccessFile;
    return needs_one && before-- == 0 ? Status(Code::kRetryLater, "test") : Status();
  });
  Open();
  for (int i = 0; i < 12; i++) {
    ASSERT_TRUE(db->Put({}, std::to_string(i), "value").ok());
    before = i % 6;
    EXPECT_TRUE(db->Flush().ok()) << i;
  }
  before = 1'000'000;
  Open();
  for (int i = 0; i < 12; i++) EXPECT_EQ(Get(std::to_string(i)), "value");
  Close();
  faulty.SetHook(nullptr);
}

// As where connections hold all descriptors for a moment.
TEST_F(DbWithoutDescriptorsTest, WhatFoundNoDescriptorIsTriedAgain) {
  std::atomic<int> left = 0;
  faulty.SetHook([&](const FileCall& call) {
    const bool is_made = call.kind == FileCallKind::kNewWritableFile &&
                         (call.path.ends_with(".log") || call.path.ends_with(".ldb"));
    return is_made && left-- > 0 ? Status(Code::kRetryLater, "test") : Status();
  });
  Open();
  for (int i = 0; i < 3; i++) {
    left = 2;
    ASSERT_TRUE(db->Put({}, std::to_string(i), "value").ok());
    EXPECT_TRUE(db->Flush().ok());
  }
  for (int i = 0; i < 3; i++) EXPECT_EQ(Get(std::to_string(i)), "value");
  left = 1'000'000;
  ASSERT_TRUE(db->Put({}, "last", "value").ok());
  std::thread flush([this] { EXPECT_FALSE(db->Flush().ok()); });
  while (left == 1'000'000) std::this_thread::yield();
  EXPECT_EQ(Get("last"), "value");
  flush.join();  // after a second
  EXPECT_EQ(db->Put({}, "more", "value").code(), Code::kIoError);
  left = 0;
  Open();
  EXPECT_EQ(Get("last"), "value");
  // Whoever closes the store meanwhile need not wait for it.
  left = 1'000'000;
  ASSERT_TRUE(db->Put({}, "again", "value").ok());
  Close();
  left = 0;
  Open();
  EXPECT_EQ(Get("again"), "value");
  Close();
  faulty.SetHook(nullptr);
}

// The log that is made ahead. Who tries again must not hold what it needs.
TEST_F(DbWithoutDescriptorsTest, ALogWhoseNameCouldNotBeSyncedIsNotKeptOpen) {
  const base::TestFolder folder;
  base::FaultyFileSystem system(PosixFileSystem());
  std::atomic<int> left = 0;  // syncs of such names that fail
  std::atomic<int> open = 0;  // logs that were open when they were removed
  std::atomic<bool> is_of_log = false;
  system.SetHook([&](const FileCall& call) {
    if (!IsOnThread("weft-flush")) return Status();
    if (call.kind == FileCallKind::kNewWritableFile) is_of_log = call.path.ends_with(".log");
    if (call.kind == FileCallKind::kSyncDir && is_of_log && left-- > 0)
      return Status(Code::kRetryLater, "test");
    if (call.kind != FileCallKind::kRemoveFile) return Status();
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      if (std::filesystem::read_symlink(entry.path(), gone) == call.path) open++;
    }
    return Status();
  });
  options.file_system = &system;
  auto opened = Db::Open(options, folder.path() + "/db");
  ASSERT_TRUE(opened.has_value()) << opened.error().ToString();
  left = 3;
  for (int i = 0; i < 3; i++) {
    ASSERT_TRUE((*opened)->Put({}, "key", "value").ok());
    EXPECT_TRUE((*opened)->Flush().ok());
  }
  EXPECT_LE(left, 0);
  EXPECT_EQ(open, 0);
  opened->reset();
  system.SetHook(nullptr);
}

// Flushes find one. Level 0 fills up, and writers that wait for it are told.
TEST_F(DbWithoutDescriptorsTest, CompactionsKeepNoWriterForEver) {
  faulty.SetHook([](const FileCall& call) {
    const bool is_output = call.kind == FileCallKind::kNewWritableFile &&
                           call.path.ends_with(".ldb") && !IsOnThread("weft-flush");
    return is_output ? Status(Code::kRetryLater, "test") : Status();
  });
  OpenSmall();
  const Status status = Fill(100);
  EXPECT_EQ(status.code(), Code::kIoError) << status.ToString();
  EXPECT_NE(Get("a"), "(none)");
}

// However many fail: it is the time that counts. No patience of a file's is in it.
TEST_F(DbWithoutDescriptorsTest, ManyCompactionsThatFailForAMomentEndNothing) {
  constexpr uint64_t kFails = 12;
  std::atomic<uint64_t> failed = 0;
  faulty.SetHook([&](const FileCall& call) {
    const bool is_output = call.kind == FileCallKind::kAppend && call.path.ends_with(".ldb") &&
                           IsOnThread("weft-compact");
    return is_output && failed++ < kFails ? Status(Code::kRetryLater, "test") : Status();
  });
  OpenSmall();
  const Status status = Fill(20);
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(Get("a"), "19");
  EXPECT_EQ(db->Statistics().compaction_failures, kFails);
  Close();
  faulty.SetHook(nullptr);
}

TEST_F(DbWithoutDescriptorsTest, ACompactionGoesOnWhereItFoundNone) {
  std::atomic<uint64_t> asked = 0;
  faulty.SetHook([&](const FileCall& call) {
    const bool opens = (call.kind == FileCallKind::kNewWritableFile ||
                        call.kind == FileCallKind::kNewRandomAccessFile) &&
                       call.path.ends_with(".ldb") && IsOnThread("weft-compact");
    return opens && asked++ % 2 == 0 ? Status(Code::kRetryLater, "test") : Status();
  });
  OpenSmall();
  EXPECT_TRUE(Fill(8).ok());
  EXPECT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  EXPECT_GT(asked, 6u);
  EXPECT_EQ(db->Statistics().compaction_failures, 0u);
  EXPECT_EQ(Get("a"), "7");
  Close();
  faulty.SetHook(nullptr);
}

}  // namespace
}  // namespace weft
