// Repair, Checkpoint and Ingest cut short at every call that changes something: by an error, or by
// an end of the process or of the machine. Then they run again.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/faulty_file_system.h"
#include "base/memory_file_system.h"
#include "base/seed_test_kit.h"
#include "lsm/file_names.h"
#include "weft/db.h"

namespace weft::lsm {
namespace {

using base::CrashKind;
using base::FaultyFileSystem;
using base::FileCall;
using base::FileCallKind;
using base::MemoryFileSystem;
using Model = std::map<std::string, std::string>;

bool Changes(FileCallKind kind) {
  switch (kind) {
    case FileCallKind::kNewWritableFile:
    case FileCallKind::kNewAppendableFile:
    case FileCallKind::kAppend:
    case FileCallKind::kFlush:
    case FileCallKind::kSync:
    case FileCallKind::kClose:
    case FileCallKind::kRemoveFile:
    case FileCallKind::kCreateDir:
    case FileCallKind::kRemoveDir:
    case FileCallKind::kRenameFile:
    case FileCallKind::kLinkFile:
    case FileCallKind::kTruncate:
    case FileCallKind::kSyncDir: return true;
    default: return false;
  }
}

// How the calls from one on fail.
enum class Cut : uint8_t {
  kOneCall,  // that one alone
  kAllCalls,
  kProcess,  // all, and what was not flushed is lost
  kPower,    // all, and of what was not synced any part may be lost
};
constexpr Cut kCuts[] = {Cut::kOneCall, Cut::kAllCalls, Cut::kProcess, Cut::kPower};

class CutShortTest : public testing::Test {
 protected:
  static std::string Key(int i) {
    const std::string text = std::to_string(i);
    return std::string(4 - text.size(), '0') + text;
  }
  CutShortTest() {
    options.create_if_missing = true;
    options.compression = Compression::kNone;
    options.background_threads = 1;
    options.level0_compaction_trigger = 100;
    options.level0_slowdown_trigger = 100;
    options.level0_stop_trigger = 100;
  }

  static DbOptions On(DbOptions options, FileSystem* files) {
    options.file_system = files;
    return options;
  }
  std::unique_ptr<Db> Open(FileSystem* on, const std::string& dir = "/db") {
    auto db = Db::Open(On(options, on), dir);
    EXPECT_TRUE(db.has_value()) << where << ": " << db.error().ToString();
    return db ? std::move(*db) : nullptr;
  }
  static void Put(Db* db, int from, int to, const std::string& value, Model* model) {
    for (int i = from; i < to; i++) {
      ASSERT_TRUE(db->Put({}, Key(i), value + Key(i)).ok());
      (*model)[Key(i)] = value + Key(i);
    }
  }
  static Status ReadAll(Db* db, Model* all) {
    const auto iterator = db->NewIterator({.verify_checksums = true});
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      all->emplace(iterator->key(), iterator->value());
    }
    return iterator->status();
  }
  Model All(FileSystem* on, const std::string& dir = "/db") {
    Model all;
    const auto db = Open(on, dir);
    if (db == nullptr) return all;
    const Status status = ReadAll(db.get(), &all);
    EXPECT_TRUE(status.ok()) << where << ": " << status.ToString();
    return all;
  }
  // What a test begins with is not in question.
  static void SyncAll(MemoryFileSystem* files) {
    std::mt19937_64 random(base::TestSeed(0));
    files->Crash(&random, CrashKind::kProcessEnd);
  }
  static std::vector<std::string> Files(const MemoryFileSystem& of, const std::string& end) {
    std::vector<std::string> found;
    for (const std::string& path : of.AllFiles()) {
      if (path.starts_with("/db/") && path.rfind('/') == 3 && path.ends_with(end)) {
        found.push_back(path);
      }
    }
    return found;
  }

  // Runs `what` on copies of `start`, cut short at each changing call in turn, in each way, and
  // then `look`, which is told whether `what` said ok.
  template <typename What, typename Look>
  void CutEverywhere(const MemoryFileSystem& start, bool can_link, const What& what,
                     const Look& look) {
    std::mt19937_64 random(base::TestSeed());
    for (const Cut cut : kCuts) {
      for (int n = 1;; n++) {
        ASSERT_LT(n, 2000) << "calls never end";
        MemoryFileSystem files;
        files.Restore(start);
        FaultyFileSystem faulty(&files);
        std::atomic<int> calls = 0;
        std::atomic<bool> hit = false;
        where = "cut " + std::to_string(static_cast<int>(cut)) + " at call " + std::to_string(n);
        faulty.SetHook([&](const FileCall& call) {
          if (!can_link && call.kind == FileCallKind::kLinkFile) {
            return Status(Code::kUnsupported, "test");
          }
          if (call.path.ends_with("/LOG") || !Changes(call.kind)) return Status();
          const int number = ++calls;
          if (cut == Cut::kOneCall ? number != n : number < n) return Status();
          if (!hit.exchange(true)) {
            where += ", " + std::string(base::FileCallName(call.kind)) + " " + call.path;
          }
          return Status(Code::kIoError, "test: cut short");
        });
        const bool said_ok = what(&faulty);
        faulty.Heal();
        if (cut == Cut::kProcess) files.Crash(&random, CrashKind::kProcessEnd);
        if (cut == Cut::kPower) {
          files.Crash(&random, base::kCrashKinds[1 + random() % 3]);
        }
        EXPECT_TRUE(said_ok || hit) << where;
        look(&files, said_ok);
        if (HasFailure()) return;
        if (!hit) break;
      }
    }
  }

  DbOptions options;
  std::string where;
};

// Old values in a log that is in tables long since, and in a damaged table; newer ones in tables; a
// log that is in none.
struct Worn {
  MemoryFileSystem files;
  Model whole;  // what was written
  std::string damaged;
  std::string damaged_contents;
};

class RepairCutShortTest : public CutShortTest {
 protected:
  void Make(Worn* worn) {
    auto db = Open(&worn->files);
    Put(db.get(), 0, 60, "old", &worn->whole);
    const std::string log = Files(worn->files, ".log").front();
    const std::string stale = *worn->files.Contents(log);
    ASSERT_TRUE(db->Flush().ok());
    Put(db.get(), 20, 40, "newer", &worn->whole);
    for (int i = 30; i < 35; i++) {
      ASSERT_TRUE(db->Delete({}, Key(i)).ok());
      worn->whole.erase(Key(i));
    }
    ASSERT_TRUE(db->Flush().ok());
    Put(db.get(), 1000, 1040, std::string(300, 'd'), &worn->whole);
    ASSERT_TRUE(db->Flush().ok());
    Put(db.get(), 25, 28, "of the log", &worn->whole);
    db.reset();
    ASSERT_TRUE(worn->files.SetContents(log, stale).ok());
    worn->damaged = Files(worn->files, ".ldb").back();
    ASSERT_TRUE(worn->files.FlipBits(worn->damaged, 6000, 1).ok());
    SyncAll(&worn->files);
    worn->damaged_contents = *worn->files.Contents(worn->damaged);
  }

  // What the damaged table held is somewhere in the folder.
  void ExpectDamagedKept(const Worn& worn, const MemoryFileSystem& files) {
    for (const std::string& path : files.AllFiles()) {
      if (*files.Contents(path) == worn.damaged_contents) return;
    }
    ADD_FAILURE() << where << ": nothing is left of " << worn.damaged;
  }

  void CutRepair(const Worn& worn, bool can_link) {
    const std::unique_ptr<MemoryFileSystem> once = worn.files.Copy();
    ASSERT_TRUE(RepairDb("/db", On(options, once.get())).ok());
    const Model repaired = All(once.get());
    for (const auto& [key, value] : worn.whole) {
      const auto at = repaired.find(key);
      if (at == repaired.end()) {
        EXPECT_GE(key, Key(1000));
      } else {
        EXPECT_EQ(at->second, value) << key;
      }
    }
    EXPECT_GT(repaired.size(), worn.whole.size() - 20);
    EXPECT_LE(repaired.size(), worn.whole.size());
    const auto repair = [&](FileSystem* files) { return RepairDb("/db", On(options, files)).ok(); };
    CutEverywhere(worn.files, can_link, repair, [&](MemoryFileSystem* files, bool said_ok) {
      ExpectDamagedKept(worn, *files);
      // Somebody opens it before it is repaired again: the state of before, or of after.
      const std::unique_ptr<MemoryFileSystem> opened = files->Copy();
      if (auto db = Db::Open(On(options, opened.get()), "/db")) {
        Model all;
        const Status status = ReadAll(db->get(), &all);
        EXPECT_TRUE(status.ok() || !said_ok) << where << ": " << status.ToString();
        EXPECT_TRUE(!status.ok() || all == repaired) << where;
      } else {
        EXPECT_FALSE(said_ok) << where << ": " << db.error().ToString();
      }
      ExpectDamagedKept(worn, *opened);
      for (MemoryFileSystem* each : {files, opened.get()}) {
        const Status status = RepairDb("/db", On(options, each));
        EXPECT_TRUE(status.ok()) << where << ": " << status.ToString();
        EXPECT_EQ(All(each), repaired) << where;
        ExpectDamagedKept(worn, *each);
      }
    });
  }
};

TEST_F(RepairCutShortTest, LeavesTheStoreOfBeforeOrOfAfter) {
  Worn worn;
  Make(&worn);
  CutRepair(worn, true);
}

TEST_F(RepairCutShortTest, AlsoWhereFilesCannotBeLinked) {
  Worn worn;
  Make(&worn);
  CutRepair(worn, false);
}

TEST_F(RepairCutShortTest, AlsoWithoutAManifest) {
  Worn worn;
  Make(&worn);
  for (const std::string& path : worn.files.AllFiles()) {
    if (path.find("MANIFEST") != path.npos || path.ends_with("CURRENT")) {
      ASSERT_TRUE(worn.files.RemoveFile(path).ok());
    }
  }
  SyncAll(&worn.files);
  CutRepair(worn, true);
}

TEST_F(RepairCutShortTest, AlsoWithoutCurrent) {
  Worn worn;
  Make(&worn);
  ASSERT_TRUE(worn.files.RemoveFile("/db/CURRENT").ok());
  SyncAll(&worn.files);
  CutRepair(worn, true);
}

TEST_F(RepairCutShortTest, WhatARepairBeforeHasKeptIsNotOverwritten) {
  Worn worn;
  Make(&worn);
  const std::string name = worn.damaged.substr(4);
  ASSERT_TRUE(worn.files.CreateDir("/db/lost").ok());
  ASSERT_TRUE(worn.files.SetContents("/db/lost/" + name, "of an earlier time").ok());
  ASSERT_TRUE(RepairDb("/db", On(options, &worn.files)).ok());
  EXPECT_EQ(*worn.files.Contents("/db/lost/" + name), "of an earlier time");
  EXPECT_FALSE(worn.files.FileExists(worn.damaged));
  ExpectDamagedKept(worn, worn.files);
}

TEST_F(CutShortTest, ACheckpointIsThereWhollyOrNotAtAll) {
  MemoryFileSystem start;
  Model model;
  {
    auto db = Open(&start);
    Put(db.get(), 0, 50, "a", &model);
    ASSERT_TRUE(db->Flush().ok());
    Put(db.get(), 40, 60, "b", &model);
  }
  SyncAll(&start);
  for (const bool can_link : {true, false}) {
    const auto checkpoint = [&](FileSystem* files) {
      auto db = Db::Open(On(options, files), "/db");
      return db.has_value() && (*db)->Checkpoint("/copy").ok();
    };
    CutEverywhere(start, can_link, checkpoint, [&](MemoryFileSystem* files, bool said_ok) {
      EXPECT_EQ(All(files), model) << where;
      const bool there = files->FileExists("/copy");
      EXPECT_TRUE(there || !said_ok) << where;
      if (!there) {
        const auto db = Open(files);
        const Status status = db->Checkpoint("/copy");
        EXPECT_TRUE(status.ok()) << where << ": " << status.ToString();
      }
      EXPECT_EQ(All(files, "/copy"), model) << where;
      EXPECT_FALSE(files->FileExists("/copy.unfinished")) << where;
    });
  }
}

TEST_F(CutShortTest, AnIngestTakesEffectWhollyOrNotAtAll) {
  MemoryFileSystem start;
  Model before;
  {
    auto db = Open(&start);
    Put(db.get(), 0, 50, "old", &before);
    ASSERT_TRUE(db->Flush().ok());
    Put(db.get(), 60, 65, "in the log", &before);
  }
  Model after = before;
  const std::vector<std::string> tables = {"/over.ldb", "/apart.ldb"};
  for (const int from : {40, 500}) {
    auto writer = TableWriter::Open(On(options, &start), tables[from == 500]);
    ASSERT_TRUE(writer.has_value());
    for (int i = from; i < from + 30; i++) {
      ASSERT_TRUE((*writer)->Put(Key(i), "new" + Key(i)).ok());
      after[Key(i)] = "new" + Key(i);
    }
    ASSERT_TRUE((*writer)->Finish().ok());
  }
  SyncAll(&start);
  for (const bool can_link : {true, false}) {
    const auto ingest = [&](FileSystem* files) {
      auto db = Db::Open(On(options, files), "/db");
      return db.has_value() && (*db)->Ingest(tables, true).ok();
    };
    CutEverywhere(start, can_link, ingest, [&](MemoryFileSystem* files, bool said_ok) {
      const Model now = All(files);
      EXPECT_TRUE(now == after || (!said_ok && now == before)) << where;
      if (now != after) {
        for (const std::string& path : tables) EXPECT_TRUE(files->FileExists(path)) << where;
      }
      const std::unique_ptr<MemoryFileSystem> again = files->Copy();
      if (files->FileExists(tables[0]) && files->FileExists(tables[1])) {
        const auto db = Open(again.get());
        EXPECT_TRUE(db->Ingest(tables, true).ok()) << where;
      }
      EXPECT_EQ(All(again.get()), after) << where;
      ASSERT_TRUE(RepairDb("/db", On(options, files)).ok()) << where;
      EXPECT_EQ(All(files), now) << where;
    });
  }
}

}  // namespace
}  // namespace weft::lsm
