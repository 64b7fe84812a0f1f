// A store at its ends: of its own life, with listeners that go on using it, and of the numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/faulty_file_system.h"
#include "lsm/db_test_kit.h"
#include "lsm/log_writer.h"
#include "lsm/string_file_test_kit.h"
#include "lsm/write_batch_internal.h"

namespace weft {
namespace {

class DbEndsTest : public DbFixture {};

TEST_F(DbEndsTest, AListenerMayUseAStoreThatIsBeingClosed) {
  class User final : public EventListener {
   public:
    void OnFlush(const FlushEvent&) override {
      called = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // closing waits by then
      std::string text;
      EXPECT_TRUE(db->GetProperty("leveldb.stats", &text));
      for (int i = 0; i < 100; i++) (void)db->Put({}, "late", std::string(4096, 'v'));
      EXPECT_TRUE(db->Get({}, "key", &text).ok());
      done = true;
    }
    Db* db = nullptr;
    std::atomic<bool> called = false, done = false;
  };
  auto user = std::make_shared<User>();
  options.listeners = {user};
  Open();
  user->db = db.get();
  ASSERT_TRUE(db->Put({}, "key", "value").ok());
  ASSERT_TRUE(db->Flush().ok());
  while (!user->called) std::this_thread::yield();
  Close();
  EXPECT_TRUE(user->done);
  options.listeners.clear();
  Open();
  EXPECT_EQ(Get("key"), "value");
}

TEST_F(DbEndsTest, AStoreThatLostItsCurrentIsNotMadeAnew) {
  Open();
  ASSERT_TRUE(db->Put({}, "in a table", "1").ok());
  ASSERT_TRUE(db->Flush().ok());
  ASSERT_TRUE(db->Put({}, "in the log", "2").ok());
  Close();
  ASSERT_TRUE(files.RemoveFile("/db/CURRENT").ok());
  const std::vector<std::string> before = files.AllFiles();
  for (const bool read_only : {false, true}) {
    for (const bool create : {false, true}) {
      for (const bool all : {true, false}) {
        const auto whole = files.Copy();
        for (const std::string& path : before) {
          if (!all && path.find("MANIFEST") == path.npos) (void)files.RemoveFile(path);
        }
        options.create_if_missing = create;
        auto opened = read_only ? Db::OpenReadOnly(options, "/db") : Db::Open(options, "/db");
        ASSERT_FALSE(opened.has_value());
        EXPECT_EQ(opened.error().code(), Code::kCorruption);
        const std::string text = opened.error().ToString();
        EXPECT_NE(text.find("/db/CURRENT is missing"), text.npos) << text;
        EXPECT_NE(text.find("repair"), text.npos) << text;
        files.Restore(*whole);
      }
    }
  }
  ASSERT_TRUE(options.create_if_missing);
  for (const std::string& path : before) EXPECT_TRUE(files.FileExists(path)) << path;
  ASSERT_TRUE(RepairDb("/db", options).ok());
  Open();
  EXPECT_EQ(Get("in a table"), "1");
  EXPECT_EQ(Get("in the log"), "2");
}

TEST_F(DbEndsTest, ACurrentThatNobodyMayLookAtIsNotLost) {
  Open();
  ASSERT_TRUE(db->Put({}, "key", "value").ok());
  ASSERT_TRUE(db->Flush().ok());
  Close();
  base::FaultyFileSystem faulty(&files);
  faulty.SetHook([](const base::FileCall& call) {
    return call.path == "/db/CURRENT" ? Status(Code::kIoError, "open /db/CURRENT: not permitted")
                                      : Status();
  });
  options.file_system = &faulty;
  for (const bool read_only : {false, true}) {
    for (const bool create : {false, true}) {
      options.create_if_missing = create;
      auto opened = read_only ? Db::OpenReadOnly(options, "/db") : Db::Open(options, "/db");
      ASSERT_FALSE(opened.has_value());
      EXPECT_EQ(opened.error().code(), Code::kIoError);
      EXPECT_EQ(opened.error().message(), "open /db/CURRENT: not permitted");
    }
  }
  faulty.Heal();
  Open();
  EXPECT_EQ(Get("key"), "value");
  Close();
  options.file_system = &files;
}

TEST_F(DbEndsTest, ACreationThatWasCutShortIsBegunAgain) {
  Open();
  ASSERT_TRUE(db->Put({}, "key", std::string(1000, 'v')).ok());
  Close();
  for (const std::string& path : files.AllFiles()) {
    if (path == "/db/CLOSED") continue;
    if (path.find("MANIFEST") == std::string::npos) (void)files.RemoveFile(path);
  }
  for (const std::string& path : files.AllFiles()) {
    if (path == "/db/CLOSED") continue;
    ASSERT_TRUE(files.RenameFile(path, "/db/MANIFEST-000001").ok());
  }
  Open();
  ASSERT_TRUE(db->Put({}, "key", "short").ok());
  // As kill -9 leaves it. The mark of the store that was here says that a log of this one's number
  // was longer.
  const auto left = files.Copy();
  Close();
  files.Restore(*left);
  Open();
  EXPECT_EQ(Get("key"), "short");
}

// Also where files cannot be linked.
TEST_F(DbEndsTest, ADamagedLogIsKept) {
  base::FaultyFileSystem faulty(&files);
  faulty.SetHook([](const base::FileCall& call) {
    return call.kind == base::FileCallKind::kLinkFile ? Status(Code::kUnsupported, "test")
                                                      : Status();
  });
  options.file_system = &faulty;
  options.ignore_damaged_logs = true;
  Open();
  for (int i = 0; i < 100; i++) ASSERT_TRUE(db->Put({}, std::to_string(i), "value").ok());
  Close();
  ASSERT_TRUE(files.RemoveFile("/db/CLOSED").ok());
  std::string log;
  for (const std::string& path : files.AllFiles()) {
    if (path.ends_with(".log")) log = path;
  }
  std::string contents = *files.Contents(log);
  contents[contents.size() / 2] ^= 1;
  ASSERT_TRUE(files.SetContents(log, contents).ok());
  // One that was kept before stays.
  const std::string kept = "/db/lost" + log.substr(log.rfind('/'));
  ASSERT_TRUE(files.CreateDir("/db/lost").ok());
  ASSERT_TRUE(files.SetContents(kept, "another").ok());
  Open();
  EXPECT_EQ(Get("0"), "value");
  EXPECT_EQ(Get("99"), "(none)");
  ASSERT_TRUE(db->Flush().ok());
  EXPECT_EQ(*files.Contents(kept), "another");
  std::vector<std::string> names;
  ASSERT_TRUE(files.GetChildren("/db/lost", &names).ok());
  EXPECT_EQ(std::ranges::count_if(names,
                                  [&](const std::string& name) {
                                    return *files.Contents("/db/lost/" + name) == contents;
                                  }),
            1);
  Close();
  options.file_system = &files;
}

// As a manifest or log that somebody made up may have it.
// Beside a writer: the store is healthy.
TEST_F(DbEndsTest, AReaderIsToldToOpenAgainWhereAWriterTookATable) {
  for (int i = 0; i < 3; i++) {
    Open();
    ASSERT_TRUE(db->Put({}, "key", std::to_string(i)).ok());
    ASSERT_TRUE(db->Flush().ok());
  }
  auto reader = Db::OpenReadOnly(options, "/db");
  ASSERT_TRUE(reader.has_value());
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  std::string value;
  const Status status = (*reader)->Get({}, "key", &value);
  EXPECT_EQ(status.code(), Code::kRetryLater) << status.ToString();
  const auto entries = (*reader)->NewIterator({});
  entries->SeekToFirst();
  EXPECT_FALSE(entries->Valid());
  EXPECT_EQ(entries->status().code(), Code::kRetryLater) << entries->status().ToString();
  reader = Db::OpenReadOnly(options, "/db");
  ASSERT_TRUE((*reader)->Get({}, "key", &value).ok());
  EXPECT_EQ(value, "2");
}

TEST_F(DbEndsTest, WithoutASequenceNumberLeftWritesAreErrors) {
  Open();
  Close();
  WriteBatch last;
  last.Put("key", "value");
  WriteBatchInternal::SetSequence(&last, table::kSequenceMax - 2);
  std::string log;
  lsm::StringSink sink(&log);
  ASSERT_TRUE(lsm::LogWriter(&sink).AddRecord(last.contents()).ok());
  ASSERT_TRUE(files.RemoveFile("/db/CLOSED").ok());
  std::vector<std::string> names;
  ASSERT_TRUE(files.GetChildren("/db", &names).ok());
  for (const std::string& name : names) {
    if (!name.ends_with(".log")) continue;
    ASSERT_TRUE(files.SetContents("/db/" + name, log).ok());
  }
  Open();
  EXPECT_EQ(Get("key"), "value");
  WriteBatch two;
  two.Delete("a");
  two.Delete("b");
  EXPECT_EQ(db->Write({}, &two).code(), Code::kNoMemory);
  EXPECT_TRUE(db->Put({}, "key", "newest").ok());
  EXPECT_EQ(db->Put({}, "key", "one too many").code(), Code::kNoMemory);
  EXPECT_EQ(Get("key"), "newest");
  Open();
  EXPECT_EQ(Get("key"), "newest");
}

}  // namespace
}  // namespace weft
