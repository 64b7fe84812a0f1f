// A store at its ends: of its own life, with listeners that go on using it, and of the numbers.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "lsm/db_test_kit.h"
#include "lsm/log_writer.h"
#include "lsm/string_file.h"
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

// As a manifest or log that somebody made up may have it.
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
