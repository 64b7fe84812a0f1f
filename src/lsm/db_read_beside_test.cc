// Opening a store for reading while somebody else writes to it: files go between any two looks.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/faulty_file_system.h"
#include "lsm/db_test_kit.h"
#include "lsm/log_writer.h"
#include "lsm/string_file_test_kit.h"
#include "lsm/write_batch_internal.h"

namespace weft {
namespace {

class DbReadBesideTest : public DbFixture {
 protected:
  static std::string LogOf(uint64_t first, const std::vector<std::string>& values) {
    std::string log;
    lsm::StringSink sink(&log);
    lsm::LogWriter writer(&sink);
    for (const std::string& value : values) {
      WriteBatch batch;
      batch.Put("key" + std::to_string(first), value);
      WriteBatchInternal::SetSequence(&batch, first++);
      EXPECT_TRUE(writer.AddRecord(batch.contents()).ok());
    }
    return log;
  }
  // An empty store, and what its log is called.
  std::string NewStore() {
    Open();
    Close();
    (void)files.RemoveFile("/db/CLOSED");
    for (const std::string& path : files.AllFiles()) {
      if (path.ends_with(".log")) return path;
    }
    return {};
  }
};

TEST_F(DbReadBesideTest, AFileThatGoesIsLookedForAnew) {
  const std::string path = NewStore();
  const std::string copy = LogOf(100, {"g", "g"});
  const std::string whole = LogOf(1, {"v", "v"});
  const std::string torn = LogOf(1, {"v", copy + std::string(300, 'x')});
  // Each makes the log be looked at again.
  const std::vector<std::string> logs = {
      whole,
      torn.substr(0, torn.size() - 100),
      whole + std::string(4096 - whole.size(), '\0') + LogOf(4, {"v"}),
      whole + std::string(32768 - whole.size(), '\0') + LogOf(3, {"v"}),
  };
  base::FaultyFileSystem faulty(&files);
  DbOptions reading = options;
  reading.create_if_missing = false;
  reading.file_system = &faulty;
  for (const std::string& log : logs) {
    ASSERT_TRUE(files.SetContents(path, log).ok());
    int calls = 0;
    for (int nth = 0; nth <= calls; nth++) {  // 0: none fails
      int call = 0;
      faulty.SetHook([&](const base::FileCall& made) {
        const bool looks = made.kind == base::FileCallKind::kNewSequentialFile ||
                           made.kind == base::FileCallKind::kGetFileSize ||
                           made.kind == base::FileCallKind::kNewRandomAccessFile;
        if (!looks || ++call != nth) return Status();
        return Status(Code::kNotFound, made.path + ": No such file or directory");
      });
      auto reader = Db::OpenReadOnly(reading, "/db");
      if (nth == 0) calls = call;
      EXPECT_TRUE(reader.has_value()) << nth << ": " << reader.error().ToString();
      if (!reader) continue;
      std::string value;
      EXPECT_TRUE((*reader)->Get({}, "key1", &value).ok()) << nth;
    }
    EXPECT_GT(calls, 3);
  }
}

}  // namespace
}  // namespace weft
