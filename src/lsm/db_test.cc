#include "weft/db.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/faulty_file_system.h"
#include "base/mutex.h"
#include "base/seed_test_kit.h"
#include "lsm/db_test_kit.h"
#include "lsm/file_names.h"
#include "lsm/manifest.h"

namespace weft {
namespace {

std::string Key(int i) {
  std::string text = std::to_string(i);
  return std::string(8 - text.size(), '0') + text;
}

class DbTest : public DbFixture {
 protected:
  DbTest() { options.max_file_size = 1 << 20; }

  std::map<std::string, std::string> All() {
    std::map<std::string, std::string> all;
    auto iterator = db->NewIterator({});
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      all.emplace(iterator->key(), iterator->value());
    }
    EXPECT_TRUE(iterator->status().ok()) << iterator->status().ToString();
    return all;
  }
  int FilesAt(int level) {
    std::string text;
    EXPECT_TRUE(db->GetProperty("weft.num-files-at-level" + std::to_string(level), &text));
    return std::stoi(text);
  }
  // Random puts and deletes of few keys, kept in a model too.
  void Churn(int changes, std::mt19937_64* random, std::map<std::string, std::string>* model) {
    for (int i = 0; i < changes; i++) {
      const std::string key = Key(static_cast<int>((*random)() % 2000));
      if ((*random)() % 4 == 0) {
        ASSERT_TRUE(db->Delete({}, key).ok());
        model->erase(key);
      } else {
        const std::string value((*random)() % 300, static_cast<char>('a' + (*random)() % 26));
        ASSERT_TRUE(db->Put({}, key, value).ok());
        (*model)[key] = value;
      }
    }
  }
};

TEST_F(DbTest, WhatIsPutIsThereAlsoAfterReopening) {
  Open();
  ASSERT_TRUE(db->Put({}, "a", "1").ok());
  ASSERT_TRUE(db->Put({}, "b", "2").ok());
  ASSERT_TRUE(db->Delete({}, "a").ok());
  ASSERT_TRUE(db->Delete({}, "never there").ok());
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(Get("a"), "(none)");
    EXPECT_EQ(Get("b"), "2");
    Open();
  }
}

TEST_F(DbTest, EmptyKeysAndValuesAreKeysAndValues) {
  Open();
  ASSERT_TRUE(db->Put({}, "", "empty key").ok());
  ASSERT_TRUE(db->Put({}, "empty value", "").ok());
  ASSERT_TRUE(db->Flush().ok());
  EXPECT_EQ(Get(""), "empty key");
  EXPECT_EQ(Get("empty value"), "");
}

TEST_F(DbTest, ABatchTakesEffectInOrderAndWhole) {
  Open();
  WriteBatch batch;
  batch.Put("k", "1");
  batch.Delete("k");
  batch.Put("k", "2");
  batch.Put("l", "3");
  ASSERT_TRUE(db->Write({}, &batch).ok());
  EXPECT_EQ(Get("k"), "2");
  EXPECT_EQ(Get("l"), "3");
  WriteBatch empty;
  ASSERT_TRUE(db->Write({.sync = true}, &empty).ok());
}

TEST_F(DbTest, OpenSaysWhyNot) {
  options.create_if_missing = false;
  auto missing = Db::Open(options, "/db");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code(), Code::kInvalidArgument);
  EXPECT_FALSE(files.FileExists("/db"));
  options.create_if_missing = true;
  Open();
  auto held = Db::Open(options, "/db");
  ASSERT_FALSE(held.has_value());
  EXPECT_EQ(held.error().code(), Code::kRetryLater);
  Close();
  options.error_if_exists = true;
  auto exists = Db::Open(options, "/db");
  ASSERT_FALSE(exists.has_value());
  EXPECT_EQ(exists.error().code(), Code::kInvalidArgument);
}

TEST_F(DbTest, RandomChangesGiveWhatAMapGivesAfterFlushesAndReopening) {
  std::mt19937_64 random(base::TestSeed(301));
  std::map<std::string, std::string> model;
  for (int round = 0; round < 6; round++) {
    Open();
    Churn(3000, &random, &model);
    EXPECT_EQ(All(), model) << round;
    if (round == 3) {
      ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
      EXPECT_EQ(All(), model);
      EXPECT_EQ(FilesAt(0), 0);
    }
    for (int i = 0; i < 2000; i += 7) {
      const auto found = model.find(Key(i));
      EXPECT_EQ(Get(Key(i)), found == model.end() ? "(none)" : found->second);
    }
  }
}

TEST_F(DbTest, SnapshotsSeeTheirMomentThroughCompactions) {
  Open();
  std::mt19937_64 random(base::TestSeed(17));
  std::map<std::string, std::string> model;
  std::vector<std::pair<const Snapshot*, std::map<std::string, std::string>>> moments;
  for (int i = 0; i < 4; i++) {
    Churn(1500, &random, &model);
    moments.emplace_back(db->GetSnapshot(), model);
  }
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  for (const auto& [snapshot, then] : moments) {
    for (int i = 0; i < 2000; i += 13) {
      const auto found = then.find(Key(i));
      EXPECT_EQ(Get(Key(i), snapshot), found == then.end() ? "(none)" : found->second);
    }
    ReadOptions read;
    read.snapshot = snapshot;
    auto iterator = db->NewIterator(read);
    size_t entries = 0;
    for (iterator->SeekToLast(); iterator->Valid(); iterator->Prev()) {
      EXPECT_EQ(then.at(std::string(iterator->key())), iterator->value());
      entries++;
    }
    EXPECT_EQ(entries, then.size());
  }
  for (const auto& [snapshot, then] : moments) db->ReleaseSnapshot(snapshot);
}

TEST_F(DbTest, MultiGetFindsNoMoreThanItIsToldTo) {
  Open();
  const std::string value(1000, 'v');
  for (int i = 0; i < 100; i++) ASSERT_TRUE(db->Put({}, Key(i), value).ok());
  ASSERT_TRUE(db->Flush().ok());
  for (int i = 100; i < 110; i++) ASSERT_TRUE(db->Put({}, Key(i), value).ok());
  for (const int first : {0, 105, 200}) {  // in a table, in memory, absent
    std::vector<std::string> keys = {Key(first)};
    for (int i = 60; i < 110; i++) keys.push_back(Key(i));
    std::vector<DbLookup> lookups(keys.size());
    for (size_t i = 0; i < keys.size(); i++) lookups[i].key = keys[i];
    db->MultiGet({.value_bytes_max = 2500}, lookups);
    EXPECT_EQ(lookups.front().status.code(), first == 200 ? Code::kNotFound : Code::kOk);
    size_t found = 0;
    for (const DbLookup& lookup : lookups) {
      found += lookup.status.ok() ? 1 : 0;
      if (lookup.status.code() == Code::kRetryLater) {
        EXPECT_TRUE(lookup.value.empty());
      }
    }
    EXPECT_GE(found, 3u);
    EXPECT_LE(found, 4u) << "the first one comes beside those that there is room for";
  }
}

TEST_F(DbTest, MultiGetAnswersAsGetDoes) {
  Open();
  std::mt19937_64 random(base::TestSeed(23));
  std::map<std::string, std::string> model;
  Churn(6000, &random, &model);
  for (const size_t count : {0u, 1u, 5u, 32u, 33u, 500u}) {
    std::vector<std::string> keys;
    for (size_t i = 0; i < count; i++) keys.push_back(Key(static_cast<int>(random() % 2500)));
    std::vector<DbLookup> lookups(count);
    for (size_t i = 0; i < count; i++) lookups[i].key = keys[i];
    db->MultiGet({}, lookups);
    for (const DbLookup& lookup : lookups) {
      const auto found = model.find(std::string(lookup.key));
      if (found == model.end()) {
        EXPECT_EQ(lookup.status.code(), Code::kNotFound);
      } else {
        EXPECT_TRUE(lookup.status.ok());
        EXPECT_EQ(lookup.value, found->second);
      }
    }
  }
}

TEST_F(DbTest, BoundsHideKeysOutside) {
  Open();
  for (int i = 0; i < 100; i++) ASSERT_TRUE(db->Put({}, Key(i), "v").ok());
  ReadOptions read;
  const std::string lower = Key(20);
  const std::string upper = Key(30);
  read.lower_bound = lower;
  read.upper_bound = upper;
  auto iterator = db->NewIterator(read);
  iterator->SeekToFirst();
  ASSERT_TRUE(iterator->Valid());
  EXPECT_EQ(iterator->key(), Key(20));
  iterator->SeekToLast();
  ASSERT_TRUE(iterator->Valid());
  EXPECT_EQ(iterator->key(), Key(29));
  iterator->Seek(Key(50));
  EXPECT_FALSE(iterator->Valid());
}

TEST_F(DbTest, AReadOnlyStoreSeesTheLogAndChangesNothing) {
  Open();
  ASSERT_TRUE(db->Put({}, "k", "in the log").ok());
  Close();
  const std::vector<std::string> before = files.AllFiles();
  options.create_if_missing = false;
  auto reader = Db::OpenReadOnly(options, "/db");
  ASSERT_TRUE(reader.has_value()) << reader.error().ToString();
  std::string value;
  EXPECT_TRUE((*reader)->Get({}, "k", &value).ok());
  EXPECT_EQ(value, "in the log");
  EXPECT_EQ((*reader)->Put({}, "k", "v").code(), Code::kInvalidArgument);
  EXPECT_EQ((*reader)->CompactRange(nullptr, nullptr).code(), Code::kInvalidArgument);
  reader->reset();
  EXPECT_EQ(files.AllFiles(), before);
}

TEST_F(DbTest, ReusedLogsGoOn) {
  options.reuse_logs = true;
  for (int i = 0; i < 5; i++) {
    Open();
    for (int k = 0; k < i; k++) EXPECT_EQ(Get(Key(k)), "v");
    ASSERT_TRUE(db->Put({}, Key(i), "v").ok());
    EXPECT_EQ(FilesAt(0), 0);
  }
}

TEST_F(DbTest, ManyWritersLoseNothing) {
  Open();
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; t++) {
    writers.emplace_back([this, t] {
      for (int i = 0; i < 1500; i++) {
        const std::string key = Key(t * 10000 + i);
        ASSERT_TRUE(db->Put({.sync = i % 100 == 0}, key, std::string(100, 'v')).ok());
        std::string value;
        ASSERT_TRUE(db->Get({}, key, &value).ok());  // a thread reads its own write
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(All().size(), 6000u);
  Open();
  EXPECT_EQ(All().size(), 6000u);
  EXPECT_EQ(db->Statistics().stops, 0u);
}

TEST_F(DbTest, AFailedLogStopsWritesAndKeepsReads) {
  base::FaultyFileSystem faulty(&files);
  options.file_system = &faulty;
  Open();
  ASSERT_TRUE(db->Put({}, "k", "v").ok());
  faulty.SetHook([](const base::FileCall& call) {
    return call.kind == base::FileCallKind::kAppend ? Status(Code::kIoError, "no luck") : Status();
  });
  const Status first = db->Put({}, "k", "lost");
  EXPECT_EQ(first.code(), Code::kIoError);
  faulty.Heal();
  EXPECT_EQ(db->Put({}, "k", "refused").ToString(), first.ToString());
  EXPECT_EQ(Get("k"), "v");
  Open();
  EXPECT_EQ(Get("k"), "v");
  Close();
}

TEST_F(DbTest, AFolderThatAFailedOpeningLeftIsSyncedByTheNext) {
  base::FaultyFileSystem faulty(&files);
  faulty.SetHook([](const base::FileCall& call) {
    return call.kind == base::FileCallKind::kSyncDir ? Status(Code::kIoError, "no luck") : Status();
  });
  options.file_system = &faulty;
  ASSERT_FALSE(Db::Open(options, "/db").has_value());
  faulty.Heal();
  faulty.SetHook(nullptr);
  Open();
  ASSERT_TRUE(db->Put({.sync = true}, "k", "v").ok());
  std::mt19937_64 random(base::TestSeed(1));
  auto copy = files.Copy();
  copy->Crash(&random, base::CrashKind::kDropAll);
  Close();
  options.file_system = copy.get();
  options.create_if_missing = false;
  Open();
  EXPECT_EQ(Get("k"), "v");
  Close();
}

// What a compaction into a level could not drop: a flushed table that lies there as it came, and
// what a snapshot kept.
TEST_F(DbTest, CompactRangeLeavesNothingThatIsDeletedOrSuperseded) {
  Open();
  const auto tables = [&] {
    return std::ranges::count_if(files.AllFiles(),
                                 [](const std::string& path) { return path.ends_with(".ldb"); });
  };
  for (int i = 0; i < 100; i++) {
    ASSERT_TRUE(db->Put({}, Key(i), "old").ok());
    ASSERT_TRUE(db->Delete({}, Key(i)).ok());
  }
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  EXPECT_EQ(tables(), 0) << "of a table that was flushed to level 2";
  ASSERT_TRUE(db->Put({}, Key(1), "old").ok());
  const Snapshot* const snapshot = db->GetSnapshot();
  for (int i = 0; i < 10; i++) ASSERT_TRUE(db->Put({}, Key(1), "new").ok());
  ASSERT_TRUE(db->Delete({}, Key(1)).ok());
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  EXPECT_EQ(Get(Key(1), snapshot), "old");
  EXPECT_EQ(Get(Key(1)), "(none)");
  EXPECT_EQ(tables(), 1);
  db->ReleaseSnapshot(snapshot);
  const std::string begin = Key(2);
  const std::string_view from = begin;
  ASSERT_TRUE(db->CompactRange(&from, nullptr).ok());
  EXPECT_EQ(tables(), 1) << "outside the range";
  ASSERT_TRUE(db->CompactRange({.rewrite_deepest = false}, nullptr, nullptr).ok());
  EXPECT_EQ(tables(), 1) << "on the deepest level already";
  ASSERT_TRUE(db->CompactRange(nullptr, &from).ok());
  EXPECT_EQ(tables(), 0);
}

// A compaction ends while newer writes are in logs only. Would the manifest record their numbers, a
// power cut that takes one of those logs and leaves the next could not be told from a whole store.
TEST_F(DbTest, TheManifestRecordsNoWriteThatIsOnlyInALog) {
  base::FaultyFileSystem faulty(&files);
  base::Mutex mutex;
  base::CondVar turned;
  bool holding = false;
  int tables = 0;
  faulty.SetHook([&](const base::FileCall& call) {
    if (call.kind != base::FileCallKind::kNewWritableFile || !call.path.ends_with(".ldb")) {
      return Status();
    }
    base::MutexLock lock(&mutex);
    if (++tables <= 4) return Status();
    holding = true;  // four flushes, to levels 2, 1 and 0 twice: this is the compaction
    turned.NotifyAll();
    while (holding) turned.Wait(&mutex);
    return Status();
  });
  options.file_system = &faulty;
  options.level0_compaction_trigger = 2;
  options.background_threads = 1;
  Open();
  for (int i = 0; i < 4; i++) {
    ASSERT_TRUE(db->Put({}, "a", "1").ok());
    ASSERT_TRUE(db->Put({}, "b", "2").ok());
    ASSERT_TRUE(db->Flush().ok());
  }
  {
    base::MutexLock lock(&mutex);
    while (!holding) turned.Wait(&mutex);
  }
  for (int i = 0; i < 5; i++) ASSERT_TRUE(db->Put({}, "a", "3").ok());
  {
    base::MutexLock lock(&mutex);
    holding = false;
    turned.NotifyAll();
  }
  while (db->Statistics().compactions == 0) std::this_thread::yield();
  auto number = lsm::ReadCurrentFile(&files, "/db");
  ASSERT_TRUE(number.has_value());
  const std::string path = lsm::ManifestFileName("/db", *number);
  auto file = files.NewSequentialFile(path);
  ASSERT_TRUE(file.has_value());
  auto state = lsm::ReadManifest(file->get(), path);
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(state->edit.last_sequence, 8u);
  Close();
}

TEST_F(DbTest, ADamagedClosedLogIsAnErrorThatNamesIt) {
  Open();
  ASSERT_TRUE(db->Put({}, "k", "v").ok());
  Close();
  for (const std::string& path : files.AllFiles()) {
    if (!path.ends_with(".log")) continue;
    ASSERT_TRUE(files.FlipBits(path, 9, 1).ok());
    auto opened = Db::Open(options, "/db");
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code(), Code::kCorruption);
    EXPECT_NE(opened.error().message().find(path.substr(path.rfind('/') + 1)), std::string::npos)
        << opened.error().ToString();
  }
}

TEST_F(DbTest, EventsTellOfFlushesAndCompactions) {
  class Recorder final : public EventListener {
   public:
    void OnFlush(const FlushEvent& event) override { flushes += event.status.ok() ? 1 : 0; }
    void OnCompactionEnd(const CompactionEvent& event) override {
      compactions += event.status.ok() ? 1 : 0;
      bytes_read += event.bytes_read;
    }
    void OnTableCreated(const std::string& path, uint64_t) override { tables.insert(path); }
    void OnTableDeleted(const std::string& path) override { tables.erase(path); }
    uint64_t flushes = 0, compactions = 0, bytes_read = 0;
    std::set<std::string> tables;
  };
  auto recorder = std::make_shared<Recorder>();
  options.listeners.push_back(recorder);
  Open();
  std::mt19937_64 random(base::TestSeed(5));
  std::map<std::string, std::string> model;
  Churn(5000, &random, &model);
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  const DbStatistics statistics = db->Statistics();
  Close();
  EXPECT_EQ(recorder->flushes, statistics.flushes);
  EXPECT_GE(recorder->compactions, 1u);
  EXPECT_EQ(recorder->bytes_read, statistics.compaction_bytes_read);
  std::set<std::string> tables;
  for (const std::string& path : files.AllFiles()) {
    if (path.ends_with(".ldb")) tables.insert(path);
  }
  EXPECT_EQ(recorder->tables, tables);
}

// A hundred keys in one table behind a filter, looked up there and not there.
TEST_F(DbTest, StatisticsTellHowTablesWereRead) {
  options.filter_policy = NewBloomFilterPolicy(10);
  Open();
  for (int i = 0; i < 100; i++) ASSERT_TRUE(db->Put({}, "k" + std::to_string(i), "v").ok());
  ASSERT_TRUE(db->Flush().ok());
  const DbStatistics before = db->Statistics();
  std::string value;
  for (int i = 0; i < 100; i++) {
    const std::string number = std::to_string(i);
    ASSERT_TRUE(db->Get({}, "k" + number, &value).ok());
    ASSERT_EQ(db->Get({}, "k" + number + "x", &value).code(), Code::kNotFound);
  }
  const DbStatistics after = db->Statistics();
  const uint64_t asked = after.filters_asked - before.filters_asked;
  const uint64_t useful = after.filters_useful - before.filters_useful;
  EXPECT_EQ(asked, 198u);  // "k9x" and "k99x" lie behind the table's last key
  EXPECT_GE(useful, 85u);  // of 98 keys that are not there; about one is let through
  EXPECT_LE(useful, 98u);
  EXPECT_EQ(after.blocks_read - before.blocks_read, asked - useful);
  // The test's files cannot be mapped, so that every block comes through the cache.
  const uint64_t hits = after.block_cache_hits - before.block_cache_hits;
  const uint64_t misses = after.block_cache_misses - before.block_cache_misses;
  EXPECT_EQ(hits + misses, asked - useful);
  EXPECT_GE(misses, 1u);
  EXPECT_GT(hits, misses);
}

TEST_F(DbTest, PropertiesHaveLevelDbsNames) {
  Open();
  ASSERT_TRUE(db->Put({}, "k", "v").ok());
  ASSERT_TRUE(db->Flush().ok());
  std::string text;
  EXPECT_TRUE(db->GetProperty("leveldb.stats", &text));
  EXPECT_NE(text.find("Compactions"), std::string::npos);
  EXPECT_TRUE(db->GetProperty("leveldb.sstables", &text));
  EXPECT_NE(text.find("--- level 0 ---\n"), std::string::npos);
  EXPECT_NE(text.find("['k' @ 1 : 1 .. 'k' @ 1 : 1]\n"), std::string::npos) << text;
  EXPECT_TRUE(db->GetProperty("leveldb.approximate-memory-usage", &text));
  EXPECT_TRUE(db->GetProperty("weft.statistics", &text));
  EXPECT_NE(text.find("flushes 1\n"), std::string::npos);
  EXPECT_FALSE(db->GetProperty("leveldb.num-files-at-level7", &text));
  EXPECT_FALSE(db->GetProperty("leveldb.num-files-at-level", &text));
  EXPECT_FALSE(db->GetProperty("leveldb.nothing", &text));
  EXPECT_FALSE(db->GetProperty("stats", &text));
}

}  // namespace
}  // namespace weft
