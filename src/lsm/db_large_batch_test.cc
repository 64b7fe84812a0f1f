// Batches that are larger than the write buffer: what memory they may take until they are in
// tables.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "base/faulty_file_system.h"
#include "lsm/db_test_kit.h"

namespace weft {
namespace {

class DbLargeBatchTest : public DbFixture {
 protected:
  DbLargeBatchTest() { options.file_system = &faulty; }
  ~DbLargeBatchTest() override { Close(); }  // while the file system is there

  base::FaultyFileSystem faulty{&files};
};

class Stops final : public EventListener {
 public:
  void OnWriteState(WriteState state) override {
    if (state == WriteState::kStopped) any = true;
  }
  std::atomic<bool> any{false};
};

// While no table is written, one memtable that is far above its size waits for its flush, and one
// takes writes: not a third.
TEST_F(DbLargeBatchTest, FewerMemTablesWaitWhereTheyAreLarge) {
  auto stops = std::make_shared<Stops>();
  options.listeners = {stops};
  Open();
  std::atomic<bool> held{true};
  faulty.SetHook([&](const base::FileCall& call) {
    const bool is_table =
        call.kind == base::FileCallKind::kNewWritableFile && call.path.ends_with(".ldb");
    while (is_table && held) std::this_thread::yield();
    return Status();
  });
  const std::string value(1 << 20, 'v');
  std::atomic<int> written{0};
  std::thread writer([&] {
    for (int i = 0; i < 6; i++) {
      EXPECT_TRUE(db->Put({}, std::to_string(i), value).ok());
      written++;
    }
  });
  while (!stops->any && written < 3) std::this_thread::yield();
  EXPECT_EQ(written, 2);
  held = false;
  writer.join();
  faulty.Heal();
  for (int i = 0; i < 6; i++) EXPECT_TRUE(Get(std::to_string(i)) == value) << i;
  Close();
  options.listeners.clear();
}

}  // namespace
}  // namespace weft
