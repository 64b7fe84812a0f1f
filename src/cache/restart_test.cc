#include "cache/restart.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cache/restart_meta.h"
#include "cache/restart_test_kit.h"

namespace weft::cache {
namespace {

std::string Filled(uint64_t i, size_t bytes) {
  std::string value = "value " + std::to_string(i) + " ";
  while (value.size() < bytes) value += static_cast<char>('a' + value.size() % 26);
  value.resize(bytes);
  return value;
}

class RestartTest : public testing::Test {
 protected:
  // Starts and expects what was saved.
  Restored Warm(const CacheOptions& options = SmallRestartOptions()) {
    auto restored = stores_.Start(options);
    EXPECT_TRUE(restored) << restored.error().ToString();
    if (!restored) return {};
    EXPECT_EQ(restored->why_empty, "");
    EXPECT_EQ(restored->damaged_segments, 0u);
    EXPECT_EQ(restored->refused, 0u);
    return *restored;
  }
  std::string WhyEmpty(const CacheOptions& options = SmallRestartOptions(),
                       const RestartBelow& below = {}, uint64_t first_version = 0) {
    auto restored = stores_.Start(options, below, first_version);
    EXPECT_TRUE(restored) << restored.error().ToString();
    if (!restored) return "an error";
    EXPECT_EQ(stores_->Stats().items, 0u);
    return restored->why_empty;
  }
  void Save(const RestartBelow& below = {}) {
    const auto saved = stores_.Stop(below);
    ASSERT_TRUE(saved) << saved.error().ToString();
  }

  RestartedStore stores_;
};

TEST_F(RestartTest, ValuesOfAllSizesComeBack) {
  EXPECT_EQ(WhyEmpty(), "no server has stopped cleanly with it");
  std::map<std::string, std::string> values;
  {
    Client client(stores_.store());
    for (uint64_t i = 0; i < 300; i++) {
      const std::string value = Filled(i, i % 50 == 0 ? 20000 + 100 * i : i * 3);
      ASSERT_EQ(client.Set(Key(i), value), Outcome::kStored);
      values[Key(i)] = value;
    }
    ASSERT_EQ(client.Delete(Key(7)), Outcome::kDeleted);
    ASSERT_EQ(client.Set(Key(8), "another"), Outcome::kStored);
    values.erase(Key(7));
    values[Key(8)] = "another";
  }
  Save();
  EXPECT_EQ(Warm().items, values.size());
  EXPECT_EQ(stores_->Stats().items, values.size());
  Client client(stores_.store());
  for (const auto& [key, value] : values) ASSERT_EQ(client.Value(key), value) << key;
  EXPECT_EQ(client.Value(Key(7)), "(none)") << "the log has it still";
}

TEST_F(RestartTest, FlagsAndExpiryComeBack) {
  WhyEmpty();
  const uint32_t now_s = base::NowSeconds();
  {
    Client client(stores_.store());
    Command command = Client::Of(Verb::kStore, "key");
    command.value = "value";
    command.client_flags = 12345;
    command.expiry = now_s + 1000;
    ASSERT_EQ(client.Run(command).reply.outcome, Outcome::kStored);
    ASSERT_EQ(client.Set("ends", "soon", now_s + 1), Outcome::kStored);
  }
  Save();
  while (base::NowSeconds() < now_s + 1) usleep(10000);
  EXPECT_EQ(Warm().items, 1u);
  Client client(stores_.store());
  Command command = Client::Of(Verb::kRead, "key");
  command.want_value = true;
  const Answer answer = client.Run(command);
  EXPECT_EQ(answer.reply.client_flags, 12345u);
  EXPECT_LE(answer.reply.ttl_s, 1000);
  EXPECT_GE(answer.reply.ttl_s, 900);
  EXPECT_EQ(client.Value("ends"), "(none)");
}

// The slot of the only entry.
uint64_t* OnlySlot(Store* store) {
  uint64_t* found = nullptr;
  const task::IndexRef& index = store->index().current();
  for (const task::TableRef& table : {index.older, index.newer})
    for (uint64_t i = 0; table.buckets != nullptr && i < table.bucket_count; i++)
      for (uint64_t& slot : table.buckets[i].slots)
        if (slot != kSlotEmpty) found = &slot;
  return found;
}

TEST_F(RestartTest, MarksRecencyAndTheTimeOfAccessComeBack) {
  WhyEmpty();
  Command command = Client::Of(Verb::kStore, "key");
  command.value = "value";
  command.binary_key = true;
  {
    Client client(stores_.store());
    ASSERT_EQ(client.Run(command).reply.outcome, Outcome::kStored);
    Command invalidation = Client::Of(Verb::kDelete, "key");
    invalidation.invalidate = true;
    ASSERT_EQ(client.Run(invalidation).reply.outcome, Outcome::kDeleted);
    ASSERT_EQ(client.Value("key"), "value");  // and so it was read
    uint64_t* const slot = OnlySlot(stores_.store());
    ASSERT_NE(slot, nullptr);
    task::Object* const object = task::ObjectAt(stores_->log().Ref(), task::SlotLocation(*slot));
    object->access = task::WithAccessTime(object->access, base::NowSeconds() - 100);
    *slot = task::WithRecency(*slot, 2);
  }
  Save();
  EXPECT_EQ(Warm().items, 1u);
  uint64_t* const slot = OnlySlot(stores_.store());
  ASSERT_NE(slot, nullptr);
  EXPECT_EQ(task::SlotRecency(*slot), 2u);
  Client client(stores_.store());
  EXPECT_EQ(task::ObjectAt(stores_->log().Ref(), task::SlotLocation(*slot))->access &
                (kAccessLive | kAccessRecencyMask | kAccessDead),
            0u);
  Command look = Client::Of(Verb::kRead, "key");
  look.want_access = true;
  look.quiet_access = true;
  const Answer answer = client.Run(look);
  EXPECT_EQ(answer.value, "value");
  EXPECT_TRUE(answer.reply.stale);
  EXPECT_TRUE(answer.reply.binary_key);
  EXPECT_TRUE(answer.reply.hit_before);
  EXPECT_GE(answer.reply.last_access_s, 99u);
  EXPECT_LE(answer.reply.last_access_s, 400u);
}

TEST_F(RestartTest, VersionsGoOnAndThoseThatWereShownHold) {
  WhyEmpty();
  uint64_t shown = 0;
  {
    Client client(stores_.store());
    client.Set("a", "1");
    shown = client.Gets("a").reply.cas;
  }
  Save();
  Warm();
  {
    Client client(stores_.store());
    EXPECT_EQ(client.Gets("a").reply.cas, shown);
    EXPECT_EQ(client.Cas("a", "2", shown), Outcome::kStored);
    const uint64_t next = client.Gets("a").reply.cas;
    EXPECT_GT(next, shown);
    client.Set("b", "1");
    EXPECT_GT(client.Gets("b").reply.cas, next);
    shown = client.Gets("b").reply.cas;
  }
  Save();
  Warm();
  Client client(stores_.store());
  client.Set("c", "1");
  EXPECT_GT(client.Gets("c").reply.cas, shown);
}

TEST_F(RestartTest, FlushedObjectsStayAwayAndAPendingFlushComes) {
  WhyEmpty();
  {
    Client client(stores_.store());
    client.Set("before", "1");
    client.Flush();
    client.Set("after", "1");
    client.Flush(base::NowSeconds() + 2);
  }
  Save();
  EXPECT_EQ(Warm().items, 1u);
  Client client(stores_.store());
  EXPECT_EQ(client.Value("before"), "(none)");
  EXPECT_EQ(client.Value("after"), "1");
  const uint32_t due_s = stores_->flush_at_s();
  ASSERT_NE(due_s, 0u);
  while (base::NowSeconds() < due_s) usleep(10000);
  EXPECT_EQ(client.Value("after"), "(none)");
}

TEST_F(RestartTest, AFileIsBelievedOnce) {
  WhyEmpty();
  Client(stores_.store()).Set("a", "1");
  Save();
  const std::string meta = FileBytes(stores_.meta_path());
  Warm();
  EXPECT_NE(access(stores_.meta_path().c_str(), F_OK), 0);
  Client(stores_.store()).Set("a", "2");
  stores_.Kill();
  EXPECT_EQ(WhyEmpty(), "no server has stopped cleanly with it");
  stores_.Kill();
  PutFileBytes(stores_.meta_path(), meta);
  EXPECT_EQ(WhyEmpty(), "FILE.meta belongs to another file");
}

TEST_F(RestartTest, WhatIsNotAsItWasBeginsEmpty) {
  const auto changed = [this](auto change, const char* why) {
    ASSERT_TRUE(stores_.Start());
    Client(stores_.store()).Set("a", "1");
    Save();
    CacheOptions options = SmallRestartOptions();
    change(&options);
    EXPECT_EQ(WhyEmpty(options), why);
  };
  changed([](CacheOptions* o) { o->memory_bytes *= 2; }, "-m was another one");
  changed([](CacheOptions* o) { o->memory_bytes /= 2; }, "-m was another one");
  changed([](CacheOptions* o) { o->object_bytes_max += 1024; }, "-I was another one");
  ASSERT_TRUE(stores_.Start());
  Client(stores_.store()).Set("a", "1");
  Save();
  EXPECT_EQ(WhyEmpty(SmallRestartOptions(), {}, 1), "versions were kept otherwise");
}

TEST_F(RestartTest, WithADurableStoreBelowBothMustAgree) {
  const CacheOptions options = SmallRestartOptions();
  const auto save = [&] {
    ASSERT_TRUE(stores_.Start(options, {1, 1}, 100));
    Client(stores_.store()).Set("a", "1");
    Save({17, 3});
  };
  save();
  EXPECT_EQ(WhyEmpty(options, {18, 3}, 200),
            "the durable store was changed since, or lost changes");
  save();
  EXPECT_EQ(WhyEmpty(options, {17, 4}, 200), "--data was another folder");
  save();
  EXPECT_EQ(WhyEmpty(), "--data was given to only one of the two servers");
  save();
  auto restored = stores_.Start(options, {17, 3}, 200);
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->items, 1u);
  EXPECT_GE(stores_->log().next_version(), 200u);
}

TEST_F(RestartTest, ADamagedTextIsAnErrorOnceAndThenTheStoreIsEmpty) {
  for (const char* text : {"", "\n", "weft-memory-file 1\n", "Tslabs\nKsize 1\n"}) {
    PutFileBytes(stores_.meta_path(), text);
    auto restored = stores_.Start();
    ASSERT_FALSE(restored) << text;
    EXPECT_EQ(restored.error().code(), Code::kCorruption);
    EXPECT_EQ(WhyEmpty(), "no server has stopped cleanly with it");
  }
  PutFileBytes(stores_.meta_path(), "weft-memory-file 2\nanything\n");
  EXPECT_EQ(WhyEmpty(), "it was written by a release with another layout");
}

TEST_F(RestartTest, AMetaIsReadAsItWasWritten) {
  RestartMeta meta;
  meta.stop_id = UINT64_MAX;
  meta.next_version = 17;
  meta.items = 5;
  const std::string text = EncodeRestartMeta(meta);
  auto parsed = ParseRestartMeta(text);
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(*parsed == meta);
  for (size_t i = 0; i < text.size(); i++) {
    std::string bad = text;
    bad[i] ^= 1;
    EXPECT_FALSE(ParseRestartMeta(bad)) << i;
    EXPECT_FALSE(ParseRestartMeta(text.substr(0, i))) << i;
  }
}

TEST_F(RestartTest, AFileThatIsNotOursStaysAsItIs) {
  PutFileBytes(stores_.path(), "a poem, or ten years of accounts");
  auto refused = stores_.Start();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("is no memory file"), std::string::npos);
  EXPECT_EQ(FileBytes(stores_.path()), "a poem, or ten years of accounts");
  unlink(stores_.path().c_str());
  ASSERT_EQ(symlink("/etc/passwd", stores_.path().c_str()), 0);
  EXPECT_FALSE(stores_.Start());
  unlink(stores_.path().c_str());
  ASSERT_EQ(mkdir(stores_.path().c_str(), 0700), 0);
  EXPECT_FALSE(stores_.Start());
}

TEST_F(RestartTest, OneServerAtATimeHasIt) {
  WhyEmpty();
  const auto second = MemoryFile::Open({stores_.path(), 0, true});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Code::kRetryLater);
}

TEST_F(RestartTest, ADiskIsRefusedUnlessItIsAskedFor) {
  const base::TestFolder folder("/var/tmp");
  const auto file = MemoryFile::Open({folder / "memory", 0, false});
  if (file) GTEST_SKIP() << "/var/tmp lies in memory here";
  EXPECT_EQ(file.error().code(), Code::kUnsupported);
}

TEST_F(RestartTest, AFileSystemWithoutRoomIsRefused) {
  const auto file = MemoryFile::Open({stores_.path(), uint64_t{1} << 60, true});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code(), Code::kNoMemory);
}

TEST_F(RestartTest, ABatchThatHasNotEndedSavesNothing) {
  WhyEmpty();
  {
    Client client(stores_.store());
    client.session().Begin();
    const auto saved = SaveStore(stores_.store(), stores_.file(), {});
    EXPECT_FALSE(saved);
    client.session().End();
  }
  EXPECT_EQ(WhyEmpty(), "no server has stopped cleanly with it");
}

// --- clocks ---

class RestartClockTest : public RestartTest {
 protected:
  // Seconds that are left of 1000 if the last server's clocks showed that much more at its stop.
  int32_t LeftOf1000(int64_t store_s, int64_t date_s, const RestartBelow& below = {}) {
    EXPECT_TRUE(stores_.Start(SmallRestartOptions(), below, below.sequence));
    Client(stores_.store()).Set("key", "value", base::NowSeconds() + 1000);
    Save(below);
    auto meta = ParseRestartMeta(FileBytes(stores_.meta_path()));
    EXPECT_TRUE(meta);
    meta->stopped_at_s += static_cast<uint64_t>(store_s);
    meta->date_s += static_cast<uint64_t>(date_s);
    if (meta->flush_at_s != 0) meta->flush_at_s += static_cast<uint64_t>(store_s);
    PutFileBytes(stores_.meta_path(), EncodeRestartMeta(*meta));
    EXPECT_TRUE(stores_.Start(SmallRestartOptions(), below, below.sequence));
    Client client(stores_.store());
    const Answer answer = client.Get("key");
    return answer.reply.outcome == Outcome::kHit ? answer.reply.ttl_s : 0;
  }
};

TEST_F(RestartClockTest, TheTimeAwayIsTakenOff) {
  // The server stopped 600 s ago, when 1600 were left.
  EXPECT_NEAR(LeftOf1000(-600, -600), 1000, 60);
}

TEST_F(RestartClockTest, OfADateThatWentBackNothingAges) {
  // It stopped at a date that is 5000 s ahead: its clock was as far ahead, or as today's.
  EXPECT_NEAR(LeftOf1000(0, 5000), 1000, 60);
  EXPECT_EQ(LeftOf1000(5000, 5000), 0) << "it had ended by that clock";
  EXPECT_NEAR(LeftOf1000(500, 5000), 500, 60);
}

TEST_F(RestartClockTest, AClockThatDifferedFromTheDateMovesTheEnds) {
  // The date was put 300 s ahead while it ran, and its clock did not follow.
  EXPECT_NEAR(LeftOf1000(-300, 0), 1300, 60);
  EXPECT_NEAR(LeftOf1000(300, 0), 700, 60);
  // On disk items end by the date alone.
  EXPECT_NEAR(LeftOf1000(-300, 0, {7, 7}), 1000, 60);
}

// --- crashes ---

// Runs `work` in a process of its own, which is expected to be killed.
template <typename Work>
void Killed(const Work& work) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST_F(RestartTest, AServerThatIsKilledWhileItStopsLeavesNothingOrAll) {
  for (const SaveStep last : {SaveStep::kBegun, SaveStep::kMarked, SaveStep::kSummed,
                              SaveStep::kTableWritten, SaveStep::kSealed, SaveStep::kDone}) {
    // Twice: upon what an earlier stop has left, too.
    for (int round = 0; round < 2; round++) {
      Killed([&] {
        auto started = stores_.Start();
        if (!started) _exit(1);
        Client(stores_.store()).Set("a", "1");
        (void)SaveStore(stores_.store(), stores_.file(), {}, [last](SaveStep step) {
          if (step == last) raise(SIGKILL);
        });
      });
      auto restored = stores_.Start();
      ASSERT_TRUE(restored);
      EXPECT_EQ(restored->items, last == SaveStep::kDone ? 1u : 0u);
      {
        Client client(stores_.store());
        EXPECT_EQ(client.Value("a"), last == SaveStep::kDone ? "1" : "(none)");
        client.Set("a", "2");
      }
      stores_.Kill();
    }
  }
}

}  // namespace
}  // namespace weft::cache
