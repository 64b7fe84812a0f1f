#include "tier/disk_tier.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <map>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/folder_test_kit.h"
#include "base/posix_fd.h"
#include "cache/cache_test_kit.h"
#include "tier/disk_files_test_kit.h"

namespace weft::tier {
namespace {

class DiskTierTest : public ::testing::Test {
 protected:
  Status Open() {
    tier_.reset();
    cache_ = cache::OpenStore();
    auto opened = DiskTier::Open(options_, cache_.get());
    if (!opened) return opened.error();
    tier_ = std::move(opened.value());
    return {};
  }
  void Kill() {
    files_.Crash(base::CrashKind::kProcessEnd, [this] { tier_.reset(); });
  }
  Status Put(std::string_view key, std::string_view value, uint32_t expiry = 0) {
    std::string bytes;
    EncodeItem({0, tier_->generation(), 0, expiry, cache_->log().NextVersion(), value}, &bytes);
    WriteBatch batch;
    batch.Put(key, bytes);
    return tier_->Write(&batch);
  }
  // What is in each file.
  std::map<std::string, std::string> All() {
    std::map<std::string, std::string> all;
    for (const std::string& path : files_.memory.AllFiles()) {
      all[path] = *files_.memory.Contents(path);
    }
    return all;
  }
  // The item's value, "(none)", "(ended)" or "(error)".
  std::string Value(std::string_view key) {
    Lookup lookup;
    lookup.Add(key, cache_->HashOf(key));
    tier_->Answer(&lookup);
    const Asked& asked = lookup.asked().front();
    Item item;
    if (asked.answered == Answered::kAbsent) return "(none)";
    if (asked.answered != Answered::kItem || !DecodeItem(asked.bytes, &item)) return "(error)";
    return tier_->IsEnded(item, base::NowSeconds()) ? "(ended)" : std::string(item.value);
  }

  DiskTestFiles files_;
  TierOptions options_{.dir = "/data", .file_system = &files_.faulty};
  std::unique_ptr<cache::Store> cache_;
  std::unique_ptr<DiskTier> tier_;
};

TEST_F(DiskTierTest, WhatWasWrittenSurvivesTheEndOfTheProcess) {
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(Put("key", "value").ok());
  EXPECT_EQ(Value("key"), "value");
  Kill();
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(Value("key"), "value");
  EXPECT_EQ(Value("other"), "(none)");
}

TEST_F(DiskTierTest, VersionsOnlyGrow) {
  uint64_t last = 0;
  for (int life = 0; life < 5; life++) {
    ASSERT_TRUE(Open().ok());
    for (int i = 0; i < 10; i++) {
      const uint64_t version = cache_->log().NextVersion();
      EXPECT_GT(version, last);
      last = version;
    }
    Kill();
  }
}

TEST_F(DiskTierTest, TheNextOneIsOpenedAtWhatEndReturned) {
  uint64_t last = 0;
  for (int life = 0; life < 3; life++) {
    ASSERT_TRUE(Open().ok());
    if (life != 0) {
      EXPECT_EQ(tier_->opened_at(), last);
    }
    ASSERT_TRUE(Put("key" + std::to_string(life), "value").ok());
    auto ended = tier_->End();
    ASSERT_TRUE(ended) << ended.error().ToString();
    EXPECT_GT(*ended, last);
    last = *ended;
    EXPECT_FALSE(tier_->End()) << "once";
  }
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(Put("key", "value").ok());
  Kill();
  ASSERT_TRUE(Open().ok());
  EXPECT_GT(tier_->opened_at(), last) << "a change that no End has seen";
}

// Clients that keep 32 bits of a version are to last.
TEST_F(DiskTierTest, VersionsGoOnWhereTheyEnded) {
  uint64_t last = 0;
  for (int life = 0; life < 10; life++) {
    ASSERT_TRUE(Open().ok());
    ASSERT_TRUE(Put("key", "value").ok());
    const uint64_t version = cache_->log().NextVersion();
    EXPECT_EQ(version, last + 2);
    last = version;
  }
  Kill();
  ASSERT_TRUE(Open().ok());
  const uint64_t version = cache_->log().NextVersion();
  EXPECT_GT(version, last);
  EXPECT_LE(version, last + (1u << 17));
}

TEST_F(DiskTierTest, NoVersionIsWrittenThatMayComeAgain) {
  uint64_t last = 0;
  for (const uint32_t count : {1u, 20'000u, 40'000u, 66'000u, 300'000u, 1u, 5'000'000u, 3u}) {
    ASSERT_TRUE(Open().ok());
    // Given out to other threads, say, that have not come to their writes.
    for (uint32_t i = 0; i < count; i++) {
      const uint64_t version = cache_->log().NextVersion();
      ASSERT_GT(version, last);
      last = version;
    }
    ASSERT_TRUE(Put("key", "value").ok());
    last = cache_->log().NextVersion() - 1;
    Kill();
  }
}

TEST_F(DiskTierTest, WhatComesFromDiskTakesNoVersions) {
  ASSERT_TRUE(Open().ok());
  const auto session = cache_->NewSession();
  const std::string value(20'000, 'v');
  const uint64_t before = cache_->log().next_version();
  for (int i = 0; i < 1000; i++) {
    const std::string key = "key" + std::to_string(i);
    cache::ObjectSpec spec;
    spec.key = key;
    spec.head = value;
    spec.has_cas = true;
    spec.cas = 7;
    session->Begin();
    ASSERT_NE(cache_->Load(*session, spec, cache_->HashOf(key)), 0u);
    session->End();
  }
  EXPECT_LT(cache_->log().next_version() - before, 1000u) << "a segment takes one";
}

TEST_F(DiskTierTest, FlushTakesWhatCameBeforeAndHoldsAfterAKill) {
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(Put("old", "x").ok());
  ASSERT_TRUE(tier_->Flush(0, base::NowSeconds()).ok());
  ASSERT_TRUE(Put("new", "y").ok());
  EXPECT_EQ(Value("old"), "(ended)");
  EXPECT_EQ(Value("new"), "y");
  Kill();
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(Value("old"), "(ended)");
  EXPECT_EQ(Value("new"), "y");
}

TEST_F(DiskTierTest, DelayedFlushIsDoneOnceAndRememberedOverAKill) {
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(Put("key", "x").ok());
  const uint32_t now_s = base::NowSeconds();
  ASSERT_TRUE(tier_->Flush(now_s + 100, now_s).ok());
  EXPECT_EQ(Value("key"), "x");
  EXPECT_FALSE(tier_->FlushIsDue(now_s + 99));
  Kill();
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(Value("key"), "x");
  EXPECT_TRUE(tier_->FlushIsDue(now_s + 100));
  tier_->FlushDue(now_s + 100);
  EXPECT_EQ(Value("key"), "(ended)");
  ASSERT_TRUE(Put("key", "y").ok());
  tier_->FlushDue(now_s + 100);  // a second worker, a moment later
  EXPECT_EQ(Value("key"), "y");
}

// What was acknowledged is carried out once, in memory, and by the next process on disk.
TEST_F(DiskTierTest, AFlushThatFallsDueOnceTheDiskHasFailedIsDoneOnce) {
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(Put("key", "x").ok());
  const uint32_t now_s = base::NowSeconds();
  ASSERT_TRUE(tier_->Flush(now_s + 100, now_s).ok());
  files_.faulty.FillDiskAfter(0);
  tier_->FlushDue(now_s + 100);
  EXPECT_TRUE(tier_->failed());
  EXPECT_FALSE(tier_->FlushIsDue(now_s + 100)) << "no batch tries it again";
  EXPECT_EQ(Value("key"), "(ended)");
  const uint64_t errors = tier_->Stats().write_errors;
  EXPECT_FALSE(tier_->Flush(0, now_s).ok());
  EXPECT_EQ(tier_->Stats().write_errors, errors) << "nor was it asked";
  Kill();
  ASSERT_TRUE(Open().ok());
  EXPECT_TRUE(tier_->FlushIsDue(now_s + 100));
  tier_->FlushDue(now_s + 100);
  EXPECT_EQ(Value("key"), "(ended)");
}

TEST_F(DiskTierTest, SyncModesKeepTheirPromiseOverAPowerCut) {
  for (const uint32_t sync_ms : {0u, 5u}) {
    options_.sync_ms = sync_ms;
    options_.dir = "/data" + std::to_string(sync_ms);
    ASSERT_TRUE(Open().ok());
    const uint64_t syncs = tier_->Stats().db.log_syncs;
    ASSERT_TRUE(Put("key", "value").ok());
    if (sync_ms == 0) {
      ASSERT_TRUE(tier_->Sync().ok());
    }
    while (tier_->Stats().db.log_syncs == syncs) std::this_thread::yield();
    files_.Crash(base::CrashKind::kDropAll, [this] { tier_.reset(); });
    ASSERT_TRUE(Open().ok());
    EXPECT_EQ(Value("key"), "value") << sync_ms;
    tier_.reset();
  }
}

TEST_F(DiskTierTest, FirstFailedWriteIsTheLast) {
  std::atomic<int> told{0};
  options_.on_failure = [&](const Status& status) { told += status.ok() ? 100 : 1; };
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(Put("old", "x").ok());
  files_.faulty.FillDiskAfter(0);
  EXPECT_FALSE(Put("new", "y").ok());
  EXPECT_TRUE(tier_->failed());
  while (told == 0) std::this_thread::yield();  // by whoever met it first
  files_.faulty.Heal();
  EXPECT_FALSE(Put("new", "y").ok());
  EXPECT_EQ(Value("old"), "x");
  EXPECT_EQ(Value("new"), "(none)");
  EXPECT_EQ(tier_->Stats().write_errors, 2u);
  tier_.reset();
  EXPECT_EQ(told, 1);
}

TEST_F(DiskTierTest, UnreadableIsNoMiss) {
  options_.block_cache_bytes = 0;
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(Put("key", "value").ok());
  ASSERT_TRUE(Open().ok());  // the first one flushed when it was closed
  files_.faulty.SetHook([](const base::FileCall& call) {
    const bool is_read = call.kind == base::FileCallKind::kReadAt ||
                         call.kind == base::FileCallKind::kNewRandomAccessFile;
    return is_read ? Status(Code::kIoError, "injected") : Status();
  });
  EXPECT_EQ(Value("key"), "(error)");
  EXPECT_EQ(tier_->Stats().lookup_errors, 1u);
  files_.faulty.Heal();
  EXPECT_EQ(Value("key"), "value");
}

TEST_F(DiskTierTest, LookupEndsWhereItHasFoundMuch) {
  ASSERT_TRUE(Open().ok());
  const std::string large(size_t{1} << 20, 'v');
  Lookup lookup;
  for (int i = 0; i < 40; i++) {
    const std::string key = "key" + std::to_string(i);
    ASSERT_TRUE(Put(key, large).ok());
    lookup.Add(key, cache_->HashOf(key));
  }
  tier_->Answer(&lookup);
  EXPECT_EQ(lookup.asked().front().answered, Answered::kItem);
  EXPECT_EQ(lookup.asked().back().answered, Answered::kNot);
  EXPECT_EQ(lookup.Find("key39", cache_->HashOf("key39")), nullptr);
  EXPECT_NE(lookup.Find("key0", cache_->HashOf("key0")), nullptr);
}

// Values are read as far as there is room for them, in the order in which they are wanted.
TEST_F(DiskTierTest, LookupReadsNoMoreThanIsWanted) {
  ASSERT_TRUE(Open().ok());
  const std::string large(size_t{1} << 20, 'v');
  for (int i = 0; i < 12; i++) ASSERT_TRUE(Put("table" + std::to_string(i), large).ok());
  ASSERT_TRUE(Open().ok());
  for (int i = 0; i < 4; i++) ASSERT_TRUE(Put("memory" + std::to_string(i), large).ok());
  for (const std::string first : {"table", "memory"}) {
    const uint64_t before = tier_->Stats().lookups;
    Lookup lookup(size_t{3} << 19);  // a value and a half
    for (int i = 0; i < 4; i++)
      lookup.Add(first + std::to_string(i), cache_->HashOf(first + std::to_string(i)));
    for (int i = 4; i < 8; i++)
      lookup.Add("table" + std::to_string(i), cache_->HashOf("table" + std::to_string(i)));
    tier_->Answer(&lookup);
    for (size_t i = 0; i < 8; i++)
      EXPECT_EQ(lookup.asked()[i].answered, i < 2 ? Answered::kItem : Answered::kNot) << first << i;
    EXPECT_EQ(tier_->Stats().lookups - before, 2u);
  }
  // Where the first one is found last it is answered all the same.
  Lookup lookup(1);
  lookup.Add("table0", cache_->HashOf("table0"));
  lookup.Add("memory0", cache_->HashOf("memory0"));
  tier_->Answer(&lookup);
  EXPECT_EQ(lookup.asked()[0].answered, Answered::kItem);
}

TEST_F(DiskTierTest, CompactionsDropWhatHasEndedAndKeepTheState) {
  options_.write_buffer_bytes = 64 << 10;
  ASSERT_TRUE(Open().ok());
  const std::string value(100, 'v');
  const uint32_t past_s = base::NowSeconds() - 10;
  for (int i = 0; i < 2000; i++) ASSERT_TRUE(Put("e" + std::to_string(i), value, past_s).ok());
  ASSERT_TRUE(Put("e7", "alive").ok());
  ASSERT_TRUE(Put("flushed", value).ok());
  ASSERT_TRUE(tier_->Flush(0, base::NowSeconds()).ok());
  ASSERT_TRUE(Put("e7", "alive").ok());
  // What is written over the same keys, again and again, makes the store compact them.
  for (int round = 0; tier_->Stats().db.compaction_keys_ended < 500 && round < 200; round++) {
    for (int i = 2000; i < 4000; i++)
      ASSERT_TRUE(Put("e" + std::to_string(i * 7 % 2000 + 2000), value).ok());
  }
  EXPECT_GE(tier_->Stats().db.compaction_keys_ended, 500u);
  EXPECT_EQ(Value("e7"), "alive");
  EXPECT_EQ(Value("e3000"), value);
  EXPECT_TRUE(Value("e8") == "(none)" || Value("e8") == "(ended)");
  const uint64_t version = cache_->log().NextVersion();
  Kill();
  ASSERT_TRUE(Open().ok());
  EXPECT_GT(cache_->log().NextVersion(), version);
  EXPECT_EQ(Value("e7"), "alive");
  EXPECT_TRUE(Value("flushed") == "(none)" || Value("flushed") == "(ended)");
}

// A flush of an older server raised the generation before the floor, and what was stored between
// the two had the new one. If the process ended there, the next flush takes those items too.
TEST_F(DiskTierTest, AFlushTakesWhatFlushesThatWereCutShortHaveLeft) {
  ASSERT_TRUE(Open().ok());
  for (const char* key : {"first", "second", "third"}) {
    std::string bytes;
    EncodeItem({0, tier_->generation() + 1, 0, 0, cache_->log().NextVersion(), "v"}, &bytes);
    WriteBatch batch;
    batch.Put(key, bytes);
    ASSERT_TRUE(tier_->Write(&batch).ok());
    Kill();
    ASSERT_TRUE(Open().ok());
    EXPECT_EQ(Value(key), "v");
  }
  ASSERT_TRUE(tier_->Flush(0, base::NowSeconds()).ok());
  ASSERT_TRUE(Put("later", "v").ok());
  for (const char* key : {"first", "second", "third"}) EXPECT_EQ(Value(key), "(ended)");
  EXPECT_EQ(Value("later"), "v");
}

TEST_F(DiskTierTest, AnotherOnesStoreIsRefused) {
  DbOptions options;
  options.create_if_missing = true;
  options.file_system = &files_.faulty;
  {
    auto db = Db::Open(options, options_.dir);
    ASSERT_TRUE(db);
    ASSERT_TRUE((*db)->Put({}, "key", "value").ok());
  }
  const auto before = All();
  const Status status = Open();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("--data /data: the folder holds a store that is not a cache's"),
            std::string::npos);
  EXPECT_EQ(All(), before) << "it is left as it is";
}

TEST_F(DiskTierTest, AnotherOnesStoreIsLeftAloneWhereADescriptorIsMissing) {
  DbOptions options;
  options.create_if_missing = true;
  options.file_system = &files_.faulty;
  {
    auto db = Db::Open(options, options_.dir);
    ASSERT_TRUE(db);
    ASSERT_TRUE((*db)->Put({}, "key", "value").ok());
    ASSERT_TRUE((*db)->Flush().ok());
    ASSERT_TRUE((*db)->Put({}, "more", "value").ok());
  }
  const auto before = All();
  bool was_missing = true;
  for (int calls = 0; was_missing; calls++) {
    was_missing = false;
    int left = calls;
    files_.faulty.SetHook([&](const base::FileCall& call) {
      if (call.kind != base::FileCallKind::kGetChildren &&
          call.kind != base::FileCallKind::kNewSequentialFile &&
          call.kind != base::FileCallKind::kNewRandomAccessFile) {
        return Status();
      }
      if (left-- != 0) return Status();
      was_missing = true;
      return base::PosixError("open", call.path, EMFILE);
    });
    const Status status = Open();
    const bool is_refused =
        status.code() == Code::kInvalidArgument || status.code() == Code::kRetryLater;
    EXPECT_TRUE(is_refused) << calls << ": " << status.ToString();
    EXPECT_EQ(All(), before) << calls;
    files_.faulty.SetHook(nullptr);
  }
}

// The words are the opening's, not those of a reader beside a writer.
TEST_F(DiskTierTest, ATableThatIsMissingIsDamage) {
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(Put("key", "value").ok());
  tier_.reset();
  for (const auto& [path, contents] : All()) {
    if (path.ends_with(".ldb")) (void)files_.memory.RemoveFile(path);
  }
  const Status status = Open();
  EXPECT_EQ(status.code(), Code::kCorruption) << status.ToString();
}

TEST_F(DiskTierTest, TwoAtOnceAreRefused) {
  ASSERT_TRUE(Open().ok());
  const auto other = cache::OpenStore();
  const auto second = DiskTier::Open(options_, other.get());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Code::kRetryLater);
}

}  // namespace
}  // namespace weft::tier
