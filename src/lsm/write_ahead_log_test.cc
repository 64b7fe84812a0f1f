#include "lsm/write_ahead_log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/faulty_file_system.h"
#include "base/memory_file_system.h"
#include "base/seed_test_kit.h"
#include "lsm/log_reader.h"
#include "lsm/log_writer.h"

namespace weft::lsm {
namespace {

class WriteAheadLogTest : public testing::Test {
 protected:
  WriteAheadLogTest() {
    EXPECT_TRUE(files.CreateDir("/d").ok());
    EXPECT_TRUE(files.SyncDir("/").ok());
  }
  std::unique_ptr<WritableFile> New(const std::string& path) {
    auto file = files.NewWritableFile(path, FileUse::kLog);
    EXPECT_TRUE(file.has_value());
    EXPECT_TRUE(files.SyncDir("/d").ok());
    return std::move(*file);
  }
  std::vector<std::string> RecordsOf(const std::string& path) {
    auto file = files.NewSequentialFile(path);
    if (!file) return {};
    LogReader reader(file->get(), nullptr, LogReader::Mode::kStop);
    std::vector<std::string> records;
    std::string_view record;
    while (reader.Read(&record)) records.emplace_back(record);
    return records;
  }
  void PowerCut() {
    std::mt19937_64 random(base::TestSeed(1));
    files.Crash(&random, base::CrashKind::kDropAll);
  }

  base::MemoryFileSystem files;
  WriteAheadLog log;
  bool synced = false;
};

TEST_F(WriteAheadLogTest, WhatWasAppendedSurvivesTheProcess) {
  log.Begin(New("/d/1.log"), 1);
  ASSERT_TRUE(log.Append("one").ok());
  std::mt19937_64 random(base::TestSeed(1));
  files.Crash(&random, base::CrashKind::kProcessEnd);
  EXPECT_EQ(RecordsOf("/d/1.log"), std::vector<std::string>{"one"});
}

TEST_F(WriteAheadLogTest, ASyncCoversEarlierLogs) {
  log.Begin(New("/d/1.log"), 1);
  ASSERT_TRUE(log.Append("one").ok());
  log.Begin(New("/d/2.log"), 2);
  ASSERT_TRUE(log.Append("two").ok());
  ASSERT_TRUE(log.SyncUpTo(log.appended(), &synced).ok());
  EXPECT_TRUE(synced);
  PowerCut();
  EXPECT_EQ(RecordsOf("/d/1.log"), std::vector<std::string>{"one"});
  EXPECT_EQ(RecordsOf("/d/2.log"), std::vector<std::string>{"two"});
}

TEST_F(WriteAheadLogTest, WhatIsSyncedIsNotSyncedAgain) {
  log.Begin(New("/d/1.log"), 1);
  ASSERT_TRUE(log.Append("one").ok());
  const WriteAheadLog::Ticket ticket = log.appended();
  ASSERT_TRUE(log.SyncUpTo(ticket, &synced).ok());
  EXPECT_TRUE(synced);
  ASSERT_TRUE(log.SyncUpTo(ticket, &synced).ok());
  EXPECT_FALSE(synced);
}

// A process that ended may have left it without a sync.
TEST_F(WriteAheadLogTest, WhatALogHeldBeforeIsSyncedToo) {
  std::unique_ptr<WritableFile> file = New("/d/1.log");
  ASSERT_TRUE(LogWriter(file.get()).AddRecord("one").ok());
  ASSERT_TRUE(file->Flush().ok());
  const uint64_t bytes = *files.GetFileSize("/d/1.log");
  log.Begin(std::move(*files.NewAppendableFile("/d/1.log", FileUse::kLog)), 1, bytes);
  const Result<uint64_t> closed = log.Close();
  ASSERT_TRUE(closed.has_value());
  EXPECT_EQ(closed.value(), bytes);
  PowerCut();
  EXPECT_EQ(RecordsOf("/d/1.log"), std::vector<std::string>{"one"});
}

TEST_F(WriteAheadLogTest, ForgottenLogsNeedNoSync) {
  log.Begin(New("/d/1.log"), 1);
  ASSERT_TRUE(log.Append("one").ok());
  log.Begin(New("/d/2.log"), 2);
  (void)log.Forget(1);
  ASSERT_TRUE(log.Append("two").ok());
  ASSERT_TRUE(log.SyncUpTo(log.appended(), &synced).ok());
  PowerCut();
  EXPECT_TRUE(RecordsOf("/d/1.log").empty());
  EXPECT_EQ(RecordsOf("/d/2.log"), std::vector<std::string>{"two"});
}

TEST_F(WriteAheadLogTest, GoesOnInAFileThatHoldsRecords) {
  log.Begin(New("/d/1.log"), 1);
  ASSERT_TRUE(log.Append("one").ok());
  Result<uint64_t> bytes = log.Close();
  ASSERT_TRUE(bytes.has_value());
  WriteAheadLog next;
  auto file = files.NewAppendableFile("/d/1.log", FileUse::kLog);
  ASSERT_TRUE(file.has_value());
  next.Begin(std::move(*file), 1, *bytes);
  ASSERT_TRUE(next.Append("two").ok());
  EXPECT_EQ(RecordsOf("/d/1.log"), (std::vector<std::string>{"one", "two"}));
}

TEST_F(WriteAheadLogTest, AnErrorStays) {
  base::FaultyFileSystem faulty(&files);
  auto file = faulty.NewWritableFile("/d/1.log", FileUse::kLog);
  ASSERT_TRUE(file.has_value());
  log.Begin(std::move(*file), 1);
  ASSERT_TRUE(log.Append("one").ok());
  faulty.FailCall(1);
  EXPECT_EQ(log.SyncUpTo(log.appended(), &synced).code(), Code::kIoError);
  faulty.Heal();
  EXPECT_EQ(log.SyncUpTo(log.appended(), &synced).code(), Code::kIoError);
}

TEST_F(WriteAheadLogTest, WhatWasSyncedHasNoErrorOfWhatCameLater) {
  base::FaultyFileSystem faulty(&files);
  auto file = faulty.NewWritableFile("/d/1.log", FileUse::kLog);
  ASSERT_TRUE(file.has_value());
  log.Begin(std::move(*file), 1);
  ASSERT_TRUE(log.Append("one").ok());
  const WriteAheadLog::Ticket one = log.appended();
  ASSERT_TRUE(log.SyncUpTo(one, &synced).ok());
  ASSERT_TRUE(log.Append("two").ok());
  faulty.FailCall(1);
  EXPECT_EQ(log.SyncUpTo(log.appended(), &synced).code(), Code::kIoError);
  faulty.Heal();
  EXPECT_TRUE(log.SyncUpTo(one, &synced).ok());
  EXPECT_EQ(log.SyncUpTo(log.appended(), &synced).code(), Code::kIoError);
}

TEST_F(WriteAheadLogTest, OneWhoseAppendFailedIsNotClosedAsWhole) {
  base::FaultyFileSystem faulty(&files);
  auto file = faulty.NewWritableFile("/d/1.log", FileUse::kLog);
  ASSERT_TRUE(file.has_value());
  log.Begin(std::move(*file), 1);
  ASSERT_TRUE(log.Append("one").ok());
  ASSERT_TRUE(log.SyncUpTo(log.appended(), &synced).ok());
  faulty.FailCall(1);
  ASSERT_EQ(log.Append("two").code(), Code::kIoError);
  faulty.Heal();
  EXPECT_EQ(log.Close().error().code(), Code::kIoError);
}

// Each of several threads appends and syncs; whatever is acknowledged is on disk at a power cut.
TEST_F(WriteAheadLogTest, ManySyncersShareSyncs) {
  log.Begin(New("/d/1.log"), 1);
  base::Mutex appending;
  std::atomic<int> syncs{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; i++) {
        WriteAheadLog::Ticket ticket;
        {
          base::MutexLock lock(&appending);
          ASSERT_TRUE(log.Append("record").ok());
          ticket = log.appended();
        }
        bool mine;
        ASSERT_TRUE(log.SyncUpTo(ticket, &mine).ok());
        if (mine) syncs++;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(syncs, 800);
  PowerCut();
  EXPECT_EQ(RecordsOf("/d/1.log").size(), 800u);
}

}  // namespace
}  // namespace weft::lsm
