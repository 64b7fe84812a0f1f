// Checkpoint, Ingest, TableWriter and DestroyDb; linking and copying files.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/faulty_file_system.h"
#include "base/seed_test_kit.h"
#include "lsm/db_test_kit.h"
#include "lsm/store_copy.h"
#include "table/internal_key.h"
#include "table/table_builder.h"

namespace weft {
namespace {

using Model = std::map<std::string, std::string>;

class DbCopyTest : public DbFixture {
 protected:
  static std::string Key(int i) {
    const std::string text = std::to_string(i);
    return std::string(6 - text.size(), '0') + text;
  }
  DbCopyTest() { options.file_system = &faulty; }
  ~DbCopyTest() override { Close(); }  // while the file system is there

  void Put(int from, int to, const std::string& value) {
    for (int i = from; i < to; i++) {
      ASSERT_TRUE(db->Put({}, Key(i), value).ok());
      model[Key(i)] = value;
    }
  }
  // A table of keys [from, to); what the store will hold after it.
  std::string Table(const std::string& path, int from, int to, const std::string& value) {
    auto writer = TableWriter::Open(options, path);
    EXPECT_TRUE(writer.has_value());
    for (int i = from; i < to; i++) {
      EXPECT_TRUE((*writer)->Put(Key(i), value).ok());
      model[Key(i)] = value;
    }
    EXPECT_TRUE((*writer)->Finish().ok());
    return path;
  }
  static Model All(Db* of, const Snapshot* snapshot = nullptr) {
    Model all;
    ReadOptions read;
    read.snapshot = snapshot;
    const auto iterator = of->NewIterator(read);
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      all.emplace(iterator->key(), iterator->value());
      std::string value;
      EXPECT_TRUE(of->Get(read, iterator->key(), &value).ok());
      EXPECT_EQ(value, iterator->value());
    }
    EXPECT_TRUE(iterator->status().ok()) << iterator->status().ToString();
    return all;
  }
  // Holds what the model says, also after it was opened anew and compacted.
  void ExpectModel() {
    EXPECT_EQ(All(db.get()), model);
    Open();
    EXPECT_EQ(All(db.get()), model);
    ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
    EXPECT_EQ(All(db.get()), model);
  }

  base::FaultyFileSystem faulty{&files};
  Model model;
};

TEST_F(DbCopyTest, ACheckpointHoldsThatInstantAndLivesByItself) {
  Open();
  Put(0, 3000, "before");
  ASSERT_TRUE(db->Delete({}, Key(1)).ok());
  model.erase(Key(1));
  ASSERT_TRUE(db->Checkpoint("/copy/").ok());
  EXPECT_EQ(db->Checkpoint("/copy").code(), Code::kInvalidArgument);
  const Model then = model;
  Put(0, 3000, "after");
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  db.reset();
  ASSERT_TRUE(DestroyDb("/db", options).ok());
  EXPECT_FALSE(faulty.FileExists("/db"));
  auto copy = Db::Open(options, "/copy");
  ASSERT_TRUE(copy.has_value()) << copy.error().ToString();
  EXPECT_EQ(All(copy->get()), then);
  ASSERT_TRUE((*copy)->Put({}, "more", "x").ok());
  ASSERT_TRUE((*copy)->CompactRange(nullptr, nullptr).ok());
  EXPECT_EQ(All(copy->get()).size(), then.size() + 1);
}

TEST_F(DbCopyTest, ACheckpointThatFailsLeavesNothing) {
  Open();
  Put(0, 500, "v");
  ASSERT_TRUE(db->Flush().ok());
  for (const base::FileCallKind kind :
       {base::FileCallKind::kLinkFile, base::FileCallKind::kCreateDir,
        base::FileCallKind::kRenameFile, base::FileCallKind::kSyncDir}) {
    faulty.SetHook([kind](const base::FileCall& call) {
      const bool hit = call.kind == kind && call.path.find("/db") == std::string::npos;
      const bool link = call.kind == kind && kind == base::FileCallKind::kLinkFile;
      return hit || link ? Status(Code::kIoError, "test") : Status();
    });
    EXPECT_FALSE(db->Checkpoint("/copy").ok());
    faulty.Heal();
    if (kind == base::FileCallKind::kSyncDir) continue;  // its last one comes after the rename
    EXPECT_FALSE(faulty.FileExists("/copy"));
  }
  EXPECT_EQ(All(db.get()), model);
}

TEST_F(DbCopyTest, ACheckpointOfAReadOnlyStoreLeavesNothingOut) {
  Open();
  Put(0, 10, "in a table");
  ASSERT_TRUE(db->Flush().ok());
  Close();
  {
    auto read_only = Db::OpenReadOnly(options, "/db");
    ASSERT_TRUE(read_only.has_value());
    ASSERT_TRUE((*read_only)->Checkpoint("/copy").ok());
    auto copy = Db::OpenReadOnly(options, "/copy");
    ASSERT_TRUE(copy.has_value());
    EXPECT_EQ(All(copy->get()), model);
  }
  Open();
  Put(10, 20, "in the log");
  auto read_only = Db::OpenReadOnly(options, "/db");
  ASSERT_TRUE(read_only.has_value());
  EXPECT_EQ(All(read_only->get()), model);
  EXPECT_EQ((*read_only)->Checkpoint("/other").code(), Code::kInvalidArgument);
  EXPECT_FALSE(faulty.FileExists("/other"));
}

TEST_F(DbCopyTest, ACheckpointTakesAwayNoFilesOfOthers) {
  Open();
  Put(0, 10, "v");
  ASSERT_TRUE(files.CreateDir("/copy.unfinished").ok());
  ASSERT_TRUE(files.SetContents("/copy.unfinished/thesis.txt", "five years").ok());
  EXPECT_EQ(db->Checkpoint("/copy").code(), Code::kInvalidArgument);
  EXPECT_EQ(*files.Contents("/copy.unfinished/thesis.txt"), "five years");
  // What a checkpoint of its own may have left does go.
  ASSERT_TRUE(files.RenameFile("/copy.unfinished/thesis.txt", "/copy.unfinished/000007.ldb").ok());
  EXPECT_TRUE(db->Checkpoint("/copy").ok());
  // Nor is one made that another would take for that.
  EXPECT_EQ(db->Checkpoint("").message(), "the name of the checkpoint's folder is empty");
  for (const std::string dir : {"/b.unfinished", "/b.unfinished/", "/.unfinished"}) {
    const Status status = db->Checkpoint(dir);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << dir;
    EXPECT_NE(status.message().find("must not end in .unfinished"), std::string::npos) << dir;
    EXPECT_FALSE(files.FileExists(dir)) << dir;
  }
}

TEST_F(DbCopyTest, OfTwoCheckpointsAtOnceOneIsMade) {
  Open();
  Put(0, 500, "v");
  for (int round = 0; round < 20; round++) {
    const std::string to = "/copy" + std::to_string(round);
    Status second;
    std::thread other([&] { second = db->Checkpoint(to); });
    const Status first = db->Checkpoint(to);
    other.join();
    EXPECT_NE(first.ok(), second.ok());
    auto copy = Db::OpenReadOnly(options, to);
    ASSERT_TRUE(copy.has_value()) << copy.error().ToString();
    EXPECT_EQ(All(copy->get()), model);
  }
}

TEST_F(DbCopyTest, WhereNamesCannotBeLinkedFilesAreCopied) {
  faulty.SetHook([](const base::FileCall& call) {
    return call.kind == base::FileCallKind::kLinkFile ? Status(Code::kUnsupported, "test")
                                                      : Status();
  });
  Open();
  Put(0, 1000, "v");
  ASSERT_TRUE(db->Checkpoint("/copy").ok());
  const Model then = model;
  const std::string path = Table("/in.ldb", 5000, 5100, "ingested");
  ASSERT_TRUE(db->Ingest({{path}}, true).ok());
  EXPECT_FALSE(faulty.FileExists(path));
  ExpectModel();
  auto copy = Db::OpenReadOnly(options, "/copy");
  ASSERT_TRUE(copy.has_value());
  EXPECT_EQ(All(copy->get()), then);
}

TEST_F(DbCopyTest, IngestedTablesThatLieApartAreTakenAsTheyAre) {
  Open();
  Put(0, 100, "v");
  const std::string a = Table("/a.ldb", 1000, 2000, "a");
  const std::string b = Table("/b.ldb", 3000, 3001, "b");
  const uint64_t bytes = db->Statistics().flush_bytes;
  ASSERT_TRUE(db->Ingest({{a, b}}, false).ok());
  EXPECT_TRUE(faulty.FileExists(a));
  EXPECT_GE(db->Statistics().flush_bytes, bytes);
  ExpectModel();
  Put(1500, 1600, "later");
  ExpectModel();
}

TEST_F(DbCopyTest, AnotherTableUnderTheSameNameDoesNotChangeAnIngestedOne) {
  Open();
  for (int round = 0; round < 3; round++) {
    const std::string path = Table("/in.ldb", round * 100, round * 100 + 50, "ingested");
    ASSERT_TRUE(db->Ingest({{path}}, false).ok());
  }
  ExpectModel();
}

TEST_F(DbCopyTest, IngestedKeysAreNewerThanAllBeforeAndTheLaterTableWins) {
  Open();
  Put(0, 1000, "old");
  ASSERT_TRUE(db->Flush().ok());
  Put(500, 700, "in memory");
  const std::string a = Table("/a.ldb", 100, 600, "a");
  const std::string b = Table("/b.ldb", 550, 800, "b");
  const std::string c = Table("/c.ldb", 5000, 5100, "c");  // c and d: apart from the store alone
  const std::string d = Table("/d.ldb", 5050, 5200, "d");
  ASSERT_TRUE(db->Ingest({{a, b, c, d}}, true).ok());
  EXPECT_FALSE(faulty.FileExists(a) || faulty.FileExists(d));
  ExpectModel();
  ASSERT_TRUE(db->Delete({}, Key(560)).ok());
  model.erase(Key(560));
  Put(561, 570, "later");
  ExpectModel();
}

TEST_F(DbCopyTest, SnapshotsDoNotSeeWhatIsIngestedAfterThem) {
  Open();
  Put(0, 100, "old");
  const Model then = model;
  const Snapshot* const snapshot = db->GetSnapshot();
  const auto iterator = db->NewIterator({});
  const std::string over = Table("/over.ldb", 50, 60, "new");
  const std::string apart = Table("/apart.ldb", 1000, 1010, "new");
  ASSERT_TRUE(db->Ingest({{over, apart}}, false).ok());
  EXPECT_EQ(All(db.get(), snapshot), then);
  Model walked;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    walked.emplace(iterator->key(), iterator->value());
  }
  EXPECT_EQ(walked, then);
  EXPECT_EQ(All(db.get()), model);
  db->ReleaseSnapshot(snapshot);
}

TEST_F(DbCopyTest, WhatIsNoTableOfAWriterIsRefusedAndNothingIsLost) {
  Open();
  Put(0, 100, "v");
  ASSERT_TRUE(db->Flush().ok());
  const Model then = model;
  const std::string good = Table("/good.ldb", 500, 600, "good");
  model = then;
  ASSERT_TRUE(files.SetContents("/short.ldb", "no table").ok());
  ASSERT_TRUE(files.SetContents("/bad.ldb", *files.Contents(good)).ok());
  ASSERT_TRUE(files.FlipBits("/bad.ldb", 10, 1).ok());
  for (const std::string bad : {"/none.ldb", "/short.ldb", "/bad.ldb"}) {
    EXPECT_FALSE(db->Ingest({{good, bad}}, true).ok()) << bad;
    EXPECT_TRUE(faulty.FileExists(good));
    EXPECT_EQ(All(db.get()), then);
  }
  for (const std::string& path : files.AllFiles()) {
    // A store's own table has numbers that mean nothing elsewhere.
    if (path.starts_with("/db/") && path.ends_with(".ldb")) {
      EXPECT_EQ(db->Ingest({{path}}, false).code(), Code::kInvalidArgument);
    }
  }
  // One that somebody wrote there stays, also where a flush comes first. The store is opened anew,
  // or the flush above may still look for files that no version needs, and find this one.
  db.reset();
  Open();
  const Model before = model;
  const std::string inside = Table("/db/000900.ldb", 0, 10, "inside");
  model = before;
  Put(20, 30, "to flush");
  EXPECT_EQ(db->Ingest({{inside}}, true).code(), Code::kInvalidArgument);
  EXPECT_TRUE(files.FileExists(inside));
  ExpectModel();
}

TEST_F(DbCopyTest, WhatIsIngestedSurvivesAPowerCutAlsoWhereNobodyHadSyncedIt) {
  Open();
  const std::string synced = Table("/synced.ldb", 0, 100, "v");
  const std::string unsynced = "/unsynced.ldb";
  auto file = files.NewWritableFile(unsynced, FileUse::kTable);
  ASSERT_TRUE((*file)->Append(*files.Contents(synced)).ok());
  ASSERT_TRUE((*file)->Close().ok());
  ASSERT_TRUE(db->Ingest({{unsynced}}, false).ok());
  std::mt19937_64 random(base::TestSeed(1));
  const auto copy = files.Copy();
  copy->Crash(&random, base::CrashKind::kDropAll);
  db.reset();
  options.file_system = copy.get();
  Open();
  EXPECT_EQ(All(db.get()), model);
  db.reset();
  options.file_system = &faulty;
}

TEST_F(DbCopyTest, AnEmptyTableIsNotIngested) {
  Open();
  const table::InternalComparator comparator(BytewiseComparator());
  table::TableFormat format;
  format.comparator = &comparator;
  auto file = files.NewWritableFile("/empty.ldb", FileUse::kTable);
  ASSERT_TRUE(table::TableBuilder(format, file->get()).Finish().ok());
  ASSERT_TRUE((*file)->Close().ok());
  EXPECT_EQ(db->Ingest({{"/empty.ldb"}}, false).code(), Code::kInvalidArgument);
}

TEST_F(DbCopyTest, AnIngestThatFailsAnywhereTakesEffectWhollyOrNotAtAll) {
  for (uint64_t n = 1; n < 200; n++) {
    files.Restore(base::MemoryFileSystem());
    model.clear();
    Open();
    Put(0, 100, "old");
    ASSERT_TRUE(db->Flush().ok());
    const Model before = model;
    const std::string a = Table("/a.ldb", 50, 150, "new");
    const std::string b = Table("/b.ldb", 500, 550, "new");
    const uint64_t faults = faulty.faults();
    faulty.FailCall(n);
    const Status status = db->Ingest({{a, b}}, true);
    faulty.Heal();
    const bool hit = faulty.faults() > faults;
    if (status.ok()) {
      EXPECT_EQ(All(db.get()), model) << n;
    } else {
      EXPECT_TRUE(faulty.FileExists(a) && faulty.FileExists(b)) << n;
      EXPECT_EQ(All(db.get()), before) << n;
    }
    const Model now = All(db.get());
    Open();
    const Model after = All(db.get());
    // A manifest record whose sync failed may be there or not.
    EXPECT_TRUE(after == now || (!status.ok() && after == model)) << n;
    if (!hit) return;
  }
  ADD_FAILURE() << "calls never end";
}

TEST_F(DbCopyTest, ATableWriterWantsKeysInOrderAndLeavesNoHalfTable) {
  {
    auto writer = TableWriter::Open(options, "/t.ldb");
    ASSERT_TRUE(writer.has_value());
    EXPECT_EQ((*writer)->Finish().code(), Code::kInvalidArgument);  // nothing was put
    ASSERT_TRUE((*writer)->Put("", "empty key").ok());
    EXPECT_EQ((*writer)->Put("", "twice").code(), Code::kInvalidArgument);
    ASSERT_TRUE((*writer)->Put("b", "").ok());
    EXPECT_EQ((*writer)->Put("a", "").code(), Code::kInvalidArgument);
  }
  EXPECT_FALSE(faulty.FileExists("/t.ldb"));
  EXPECT_FALSE(TableWriter::Open(options, "/none/t.ldb").has_value());
  for (const base::FileCallKind kind :
       {base::FileCallKind::kAppend, base::FileCallKind::kSync, base::FileCallKind::kClose}) {
    auto writer = TableWriter::Open(options, "/t.ldb");
    ASSERT_TRUE(writer.has_value());
    ASSERT_TRUE((*writer)->Put("a", "1").ok());
    faulty.SetHook([kind](const base::FileCall& call) {
      return call.kind == kind ? Status(Code::kIoError, "test") : Status();
    });
    EXPECT_EQ((*writer)->Finish().code(), Code::kIoError);
    faulty.Heal();
    EXPECT_FALSE((*writer)->Put("b", "2").ok());
    EXPECT_FALSE((*writer)->Finish().ok());
    writer->reset();
    EXPECT_FALSE(faulty.FileExists("/t.ldb"));
  }
}

TEST_F(DbCopyTest, DestroyLeavesWhatIsNotTheStores) {
  Open();
  Put(0, 100, "v");
  EXPECT_EQ(DestroyDb("/db", options).code(), Code::kRetryLater);  // it is open
  db.reset();
  ASSERT_TRUE(files.SetContents("/db/mine.txt", "x").ok());
  ASSERT_TRUE(DestroyDb("/db", options).ok());
  EXPECT_EQ(files.AllFiles(), std::vector<std::string>{"/db/mine.txt"});
  EXPECT_TRUE(DestroyDb("/none", options).ok());
  EXPECT_FALSE(faulty.FileExists("/none"));
}

// Only a folder that is not there is destroyed already.
TEST_F(DbCopyTest, DestroyTellsWhatItCouldNotList) {
  Open();
  Put(0, 100, "v");
  db.reset();
  const std::vector<std::string> before = files.AllFiles();
  std::string unlisted = "/db";
  faulty.SetHook([&](const base::FileCall& call) {
    const bool fails = call.kind == base::FileCallKind::kGetChildren && call.path == unlisted;
    return fails ? Status(Code::kIoError, "injected") : Status();
  });
  EXPECT_EQ(DestroyDb("/db", options).code(), Code::kIoError);
  EXPECT_EQ(files.AllFiles(), before);
  ASSERT_TRUE(files.SetContents("/file", "x").ok());
  EXPECT_FALSE(DestroyDb("/file", options).ok());
  EXPECT_TRUE(files.FileExists("/file"));
  unlisted = "/db/lost";  // the rest is still tried
  EXPECT_EQ(DestroyDb("/db", options).code(), Code::kIoError);
  EXPECT_EQ(files.AllFiles(), std::vector<std::string>{"/file"});
  faulty.Heal();
}

TEST_F(DbCopyTest, ACheckpointTellsThatItsFolderCouldNotBeListed) {
  Open();
  Put(0, 100, "v");
  ASSERT_TRUE(files.CreateDir("/copy.unfinished").ok());
  faulty.SetHook([](const base::FileCall& call) {
    const bool fails = call.kind == base::FileCallKind::kGetChildren && call.path != "/db";
    return fails ? Status(Code::kIoError, "injected") : Status();
  });
  EXPECT_EQ(db->Checkpoint("/copy").code(), Code::kIoError);
  EXPECT_FALSE(files.FileExists("/copy"));
  faulty.Heal();
}

TEST(StoreCopy, ParentsOfPaths) {
  EXPECT_EQ(lsm::ParentOf("/a/b"), "/a");
  EXPECT_EQ(lsm::ParentOf("/a/b//"), "/a");
  EXPECT_EQ(lsm::ParentOf("/a"), "/");
  EXPECT_EQ(lsm::ParentOf("/"), "/");
  EXPECT_EQ(lsm::ParentOf("a"), ".");
  EXPECT_EQ(lsm::ParentOf("a/b"), "a");
}

TEST_F(DbCopyTest, ACheckpointBesideAWriterSaysThatTablesHaveGone) {
  Open();
  for (const char* value : {"a", "b", "c"}) {
    Put(0, 100, value);
    ASSERT_TRUE(db->Flush().ok());
  }
  auto reader = Db::OpenReadOnly(options, "/db");
  ASSERT_TRUE(reader.has_value()) << reader.error().ToString();
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  Close();
  const Status status = (*reader)->Checkpoint("/copy");
  EXPECT_EQ(status.code(), Code::kRetryLater) << status.ToString();
  EXPECT_FALSE(files.FileExists("/copy"));
}

TEST_F(DbCopyTest, ATableHasNoEntryThatNoBlockHolds) {
  auto writer = TableWriter::Open(options, "/foreign");
  ASSERT_TRUE(writer.has_value());
  const std::string_view huge("v", (size_t{1} << 32) + 1000);  // it is refused unread
  EXPECT_EQ((*writer)->Put("a", huge).code(), Code::kInvalidArgument);
  EXPECT_EQ((*writer)->Put(huge, "v").code(), Code::kInvalidArgument);
  EXPECT_TRUE((*writer)->Put("a", "v").ok());
  EXPECT_TRUE((*writer)->Finish().ok());
}

}  // namespace
}  // namespace weft
