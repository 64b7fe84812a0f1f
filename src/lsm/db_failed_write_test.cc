// What a store says, and shows, once a write, or a file under it, has failed.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <fstream>
#include <functional>
#include <latch>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/faulty_file_system.h"
#include "base/folder_test_kit.h"
#include "lsm/db_test_kit.h"

namespace weft {
namespace {

using base::FileCall;
using base::FileCallKind;

class DbFailedWriteTest : public DbFixture {
 protected:
  DbFailedWriteTest() { options.file_system = &faulty; }
  ~DbFailedWriteTest() override { Close(); }

  // Calls of this kind on files whose names end so fail from now on.
  void Fail(FileCallKind kind, const std::string& end, Code code) {
    faulty.SetHook([=](const FileCall& call) {
      return call.kind == kind && call.path.ends_with(end) ? Status(code, call.path + ": test")
                                                           : Status();
    });
  }
  std::string Find(std::string_view end) {
    for (const std::string& path : files.AllFiles()) {
      if (path.ends_with(end)) return path;
    }
    return "";
  }

  base::FaultyFileSystem faulty{&files};
};

TEST_F(DbFailedWriteTest, AWriteWhoseSyncFailedIsNotSeen) {
  Open();
  ASSERT_TRUE(db->Put({.sync = true}, "a", "synced").ok());
  ASSERT_TRUE(db->Put({}, "b", "acknowledged").ok());
  Fail(FileCallKind::kSync, ".log", Code::kIoError);
  const Status first = db->Put({.sync = true}, "a", "not synced");
  EXPECT_EQ(first.code(), Code::kIoError);
  EXPECT_EQ(db->Put({.sync = true}, "c", "later").ToString(), first.ToString());
  EXPECT_EQ(db->Put({}, "d", "later").ToString(), first.ToString());
  EXPECT_EQ(Get("a"), "synced");
  EXPECT_EQ(Get("b"), "acknowledged");
  EXPECT_EQ(Get("c"), "(none)");
  std::vector<DbLookup> lookups(2);
  lookups[0].key = "a";
  lookups[1].key = "c";
  db->MultiGet({}, lookups);
  EXPECT_EQ(lookups[0].value, "synced");
  EXPECT_EQ(lookups[1].status.code(), Code::kNotFound);
  std::string seen;
  const auto entries = db->NewIterator({});
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) seen += entries->value();
  EXPECT_EQ(seen, "syncedacknowledged");
  EXPECT_EQ(db->Flush().ToString(), first.ToString()) << "nor does it become a table";
}

TEST_F(DbFailedWriteTest, OfManyWritersEachSeesWhatWasAcknowledgedAndNoMore) {
  constexpr int kWriters = 4;
  for (int round = 0; round < 10; round++) {
    std::atomic<int> syncs = 0;
    faulty.SetHook([&](const FileCall& call) {
      if (call.kind != FileCallKind::kSync || !call.path.ends_with(".log")) return Status();
      return syncs++ < 10 + round ? Status() : Status(Code::kIoError, "test");
    });
    Open();
    std::vector<int> acknowledged(kWriters, -1);
    std::vector<std::thread> threads;
    for (int writer = 0; writer < kWriters; writer++) {
      threads.emplace_back([&, writer] {
        for (int i = 0; i < 100'000; i++) {
          const bool sync = (i + writer) % 3 == 0;
          if (!db->Put({.sync = sync}, std::to_string(writer), std::to_string(i)).ok()) return;
          acknowledged[static_cast<size_t>(writer)] = i;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (int writer = 0; writer < kWriters; writer++) {
      const int last = acknowledged[static_cast<size_t>(writer)];
      EXPECT_EQ(Get(std::to_string(writer)), last < 0 ? "(none)" : std::to_string(last));
    }
    Close();
    for (const std::string& path : files.AllFiles()) ASSERT_TRUE(files.RemoveFile(path).ok());
  }
}

TEST_F(DbFailedWriteTest, AMissingTableIsDamageToWhoeverWrites) {
  Open();
  for (int i = 0; i < 3; i++) {
    ASSERT_TRUE(db->Put({}, "a", std::to_string(i)).ok());
    ASSERT_TRUE(db->Put({}, "z", std::to_string(i)).ok());
    ASSERT_TRUE(db->Flush().ok());
  }
  const std::string table = Find(".ldb");
  ASSERT_TRUE(files.RemoveFile(table).ok());
  const Status status = db->CompactRange(nullptr, nullptr);
  EXPECT_EQ(status.code(), Code::kCorruption) << status.ToString();
  EXPECT_NE(status.ToString().find(table + " is missing"), std::string::npos) << status.ToString();
  EXPECT_EQ(db->Put({}, "b", "value").ToString(), status.ToString());
}

// As where the folder went away under the store.
TEST_F(DbFailedWriteTest, NoWriteIsToldThatSomethingWasNotFound) {
  for (const char* end : {".log", ".ldb"}) {
    Open();
    Fail(FileCallKind::kNewWritableFile, end, Code::kNotFound);
    Status status;
    for (int i = 0; i < 1000 && status.ok(); i++) {
      status = db->Put({}, std::to_string(i), std::string(4096, 'v'));
    }
    EXPECT_EQ(status.code(), Code::kIoError) << status.ToString();
    EXPECT_EQ(db->Flush().code(), Code::kIoError);
    faulty.SetHook(nullptr);
  }
  Open();
  ASSERT_TRUE(db->Put({}, "a", "value").ok());
  Fail(FileCallKind::kSync, ".log", Code::kNotFound);
  EXPECT_EQ(db->Put({.sync = true}, "a", "value").code(), Code::kIoError);
}

TEST_F(DbFailedWriteTest, NoReadTakesAFileThatIsMissingForAKeyThatIs) {
  Open();
  ASSERT_TRUE(db->Put({}, "a", "value").ok());
  ASSERT_TRUE(db->Flush().ok());
  for (const FileCallKind kind :
       {FileCallKind::kNewRandomAccessFile, FileCallKind::kGetFileSize, FileCallKind::kReadAt}) {
    Open();
    Fail(kind, ".ldb", Code::kNotFound);
    std::string value;
    const Status status = db->Get({}, "a", &value);
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.code(), Code::kNotFound) << status.ToString();
    std::vector<DbLookup> lookups(1);
    lookups[0].key = "a";
    db->MultiGet({}, lookups);
    EXPECT_FALSE(lookups[0].status.ok());
    EXPECT_NE(lookups[0].status.code(), Code::kNotFound) << lookups[0].status.ToString();
    faulty.SetHook(nullptr);
  }
}

class DbReaderBesideAWriterTest : public DbFixture {
 protected:
  // Opens for reading; `meanwhile(n)` is called before the n-th try reads CURRENT, from 0.
  Result<std::unique_ptr<Db>> OpenBeside(const std::function<void(int)>& meanwhile) {
    int tries = 0;
    reader.SetHook([&, tries](const FileCall& call) mutable {
      if (call.kind == FileCallKind::kNewSequentialFile && call.path.ends_with("/CURRENT")) {
        meanwhile(tries++);
      }
      return Status();
    });
    DbOptions how = options;
    how.file_system = &reader;
    how.listeners = {told};
    auto opened = Db::OpenReadOnly(how, "/db");
    reader.SetHook(nullptr);
    return opened;
  }
  class Listener final : public EventListener {
   public:
    void OnDamage(const std::string&, uint64_t, const Status&) override { damages++; }
    std::atomic<int> damages = 0;
  };

  base::FaultyFileSystem reader{&files};
  std::shared_ptr<Listener> told = std::make_shared<Listener>();
};

TEST_F(DbReaderBesideAWriterTest, FilesThatGoMeanwhileAreNoDamage) {
  Open();
  ASSERT_TRUE(db->Put({}, "key", "value").ok());
  int flushes = 0;
  reader.SetHook([&](const FileCall& call) {
    // Between the listing of the folder and the reading of the log that was listed.
    if (call.kind == FileCallKind::kNewSequentialFile && call.path.ends_with(".log") &&
        flushes++ < 20) {
      EXPECT_TRUE(db->Put({}, "key", std::to_string(flushes)).ok());
      EXPECT_TRUE(db->Flush().ok());
      while (files.FileExists(call.path)) std::this_thread::yield();
    }
    return Status();
  });
  DbOptions how = options;
  how.file_system = &reader;
  auto opened = Db::OpenReadOnly(how, "/db");
  ASSERT_TRUE(opened.has_value()) << opened.error().ToString();
  EXPECT_GT(flushes, 20);
}

// As a record that is half copied into the log while it is read.
TEST_F(DbReaderBesideAWriterTest, ARecordThatIsBeingWrittenIsNoDamage) {
  Open();
  for (int i = 10; i < 40; i++) ASSERT_TRUE(db->Put({}, std::to_string(i), "value").ok());
  std::string log;
  for (const std::string& path : files.AllFiles()) {
    if (path.ends_with(".log") && *files.GetFileSize(path) > 0) log = path;
  }
  for (const bool ignore : {false, true}) {
    options.ignore_damaged_logs = ignore;
    auto opened = OpenBeside([&](int tries) {
      if (tries < 2) (void)files.FlipBits(log, 50, 1);  // wrong, and whole again
    });
    ASSERT_TRUE(opened.has_value()) << opened.error().ToString();
    std::string value;
    EXPECT_TRUE((*opened)->Get({}, "39", &value).ok());
    opened->reset();
    EXPECT_EQ(told->damages, 0);
  }
  // What stays is damage.
  ASSERT_TRUE(files.FlipBits(log, 50, 1).ok());
  options.ignore_damaged_logs = false;
  EXPECT_FALSE(OpenBeside([](int) {}).has_value());
  ASSERT_TRUE(files.FlipBits(log, 50, 1).ok());
}

TEST_F(DbFailedWriteTest, ALogThatFindsNoMemoryEndsWritesAndHoldsNobodyUp) {
  Open();
  ASSERT_TRUE(db->Put({}, "a", "1").ok());
  faulty.SetHook([](const FileCall& call) -> Status {
    if (call.kind == FileCallKind::kAppend && call.path.ends_with(".log")) throw std::bad_alloc();
    return {};
  });
  const Status first = db->Put({}, "b", "2");
  EXPECT_EQ(first.ToString(), "i/o error: no memory for a write");
  faulty.Heal();
  EXPECT_EQ(db->Put({}, "c", "3").ToString(), first.ToString()) << "nobody knows the log's end";
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("b"), "(none)");
}

#ifndef WEFT_SANITIZED  // whose own memory has no such limit
uint64_t AddressSpaceBytes() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

// The tests of memory run in a process that is started afresh: one that is forked holds whatever
// earlier tests have freed, which may be gigabytes, and its limit is reached only behind them.

// In a process of its own: how far it came without what is promised.
int WriteMoreThanMemoryHolds(const std::string& dir) {
  ::alarm(300);  // where a write waits for one that is gone
  DbOptions options;
  options.create_if_missing = true;
  auto db = Db::Open(options, dir);
  if (!db || !(*db)->Put({}, "a", "1").ok()) return 1;
  const size_t bytes = 64 << 20;
  WriteBatch large;
  large.Put("large", std::string(bytes, 'v'));
  const rlimit limit{AddressSpaceBytes() + (32 << 20), RLIM_INFINITY};
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
  if (::setrlimit(RLIMIT_AS, &limit) != 0) return 2;
  const Status status = (*db)->Write({}, &large);
  (void)::setrlimit(RLIMIT_AS, &none);
  if (status.ToString() != "i/o error: no memory for a write") return 3;
  if ((*db)->Put({}, "b", "2").ToString() != status.ToString()) return 4;
  std::string value;
  if ((*db)->Get({}, "large", &value).code() != Code::kNotFound) return 5;
  return (*db)->Get({}, "a", &value).ok() && value == "1" ? 0 : 6;
}

TEST_F(DbFailedWriteTest, AWriteThatFindsNoMemoryEndsWritesAndHoldsNobodyUp) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // not forked from this process
  const base::TestFolder folder;
  EXPECT_EXIT(::_exit(WriteMoreThanMemoryHolds(folder.path() + "/db")),
              ::testing::ExitedWithCode(0), "");
}

// The name of a thread's entry, which takes no memory of its own.
std::string_view KeyOf(int thread, uint64_t entry, std::array<char, 32>& room) {
  char* const end = std::to_chars(room.begin(), room.end(), entry * 0x9e3779b97f4a7c15u).ptr;
  *end = static_cast<char>('a' + thread);
  return {room.begin(), end + 1};
}

// In a process of its own: threads write until memory is refused, wherever that is: an entry, a
// node that is split, a log, a sync. How far it came without what is promised.
int WriteUntilNoMemoryIsLeft(const std::string& dir, size_t value_bytes, bool sync) {
  ::alarm(300);  // where a write, or a read, waits for one that is gone
  // Large blocks are the system's, and no thread has address space of its own.
  if (::mallopt(M_MMAP_THRESHOLD, 128 << 10) != 1 || ::mallopt(M_ARENA_MAX, 1) != 1) return 8;
  constexpr int kThreads = 4;
  DbOptions options;
  options.create_if_missing = true;
  options.write_buffer_size = size_t{1} << 30;  // no flush, which would end the process
  auto db = Db::Open(options, dir);
  if (!db) return 1;
  std::vector<uint64_t> acknowledged(kThreads);
  std::vector<Status> ends(kThreads);
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
  {
    // A thread's first write makes what is its own.
    std::latch begun(kThreads + 1);
    std::latch limited(1);
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; t++) {
      threads.emplace_back([&, t] {
        // All memory is the store's but for the batch, which keeps its own between writes.
        const std::string value(value_bytes, 'v');
        WriteOptions how;
        WriteBatch batch;
        const auto write = [&] {
          std::array<char, 32> key;
          batch.Clear();
          batch.Put(KeyOf(t, acknowledged[t], key), value);
          how.sync = sync && acknowledged[t] % 4096 == 1;
          ends[t] = (*db)->Write(how, &batch);
          if (ends[t].ok()) acknowledged[t]++;
        };
        write();
        begun.arrive_and_wait();
        limited.wait();
        while (ends[t].ok()) write();
      });
    }
    begun.arrive_and_wait();
    const rlimit limit{AddressSpaceBytes() + (12 << 20), RLIM_INFINITY};
    const int error = ::setrlimit(RLIMIT_AS, &limit);
    limited.count_down();
    if (error != 0) return 2;
  }
  (void)::setrlimit(RLIMIT_AS, &none);
  std::array<char, 32> key;
  for (int t = 0; t < kThreads; t++) {
    if (ends[t].ToString() != "i/o error: no memory for a write") return 3;
    std::string value;
    for (uint64_t i = 0; i < acknowledged[t]; i++) {
      if (!(*db)->Get({}, KeyOf(t, i, key), &value).ok()) return 4;
    }
  }
  if ((*db)->Put({}, "b", "2").ToString() != "i/o error: no memory for a write") return 5;
  db->reset();
  // What was acknowledged is in the log as well.
  auto again = Db::Open(options, dir);
  if (!again) return 6;
  std::string value;
  for (int t = 0; t < kThreads; t++) {
    for (uint64_t i = 0; i < acknowledged[t]; i += 97) {
      if (!(*again)->Get({}, KeyOf(t, i, key), &value).ok()) return 7;
    }
  }
  return 0;
}

TEST_F(DbFailedWriteTest, WritersThatFindNoMemoryHoldNoneOfTheOthersUp) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const bool sync : {false, true}) {
    const base::TestFolder folder;
    EXPECT_EXIT(::_exit(WriteUntilNoMemoryIsLeft(folder.path() + "/db", sync ? 100 : 0, sync)),
                ::testing::ExitedWithCode(0), "")
        << sync;
  }
}
#endif

}  // namespace
}  // namespace weft
