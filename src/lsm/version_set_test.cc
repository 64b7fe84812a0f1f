// The version set: edits and recovery, what is damaged, what fails half way, what may be deleted.
#include "lsm/version_set.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/seed_test_kit.h"
#include "lsm/string_file_test_kit.h"
#include "lsm/version_test_kit.h"

namespace weft::lsm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class VersionSetTest : public testing::Test {
 protected:
  std::unique_ptr<VersionSet> NewSet() {
    return std::make_unique<VersionSet>(kit_.options, kit_.dir, &kit_.comparator, kit_.tables.get(),
                                        &mutex_, nullptr);
  }
  // A new store with one log.
  void Create() {
    set_ = NewSet();
    ASSERT_TRUE(set_->CreateNew().ok());
    ASSERT_TRUE(Reopen().ok());
    VersionEdit edit;
    edit.log_number = WriteLog();
    ASSERT_TRUE(Apply(edit).ok());
  }
  uint64_t WriteLog() {
    const uint64_t number = set_->NewFileNumber();
    EXPECT_TRUE(kit_.memory.SetContents(LogFileName(kit_.dir, number), "").ok());
    return number;
  }
  Status Reopen() {
    set_ = NewSet();
    base::MutexLock lock(&mutex_);
    return set_->Recover();
  }
  Status Apply(VersionEdit edit) {
    base::MutexLock lock(&mutex_);
    return set_->LogAndApply(&edit, &mutex_);
  }
  VersionRef Current() {
    base::MutexLock lock(&mutex_);
    return set_->current();
  }
  std::vector<uint64_t> Numbers(int level) {
    std::vector<uint64_t> numbers;
    for (const FileRef& file : Current()->level(level).files()) numbers.push_back(file->number);
    return numbers;
  }
  // A table with these ends, of the next number.
  NewFile Table(int level, const std::string& smallest, const std::string& largest) {
    return kit_.WriteKeys(level, set_->NewFileNumber(), {smallest, largest}, 5);
  }
  VersionEdit Adding(const std::vector<NewFile>& files) {
    VersionEdit edit;
    edit.new_files = files;
    return edit;
  }
  std::string Manifest() {
    return ManifestFileName(kit_.dir, ReadCurrentFile(&kit_.memory, kit_.dir).value());
  }
  std::vector<std::string> Obsolete() {
    std::vector<std::string> names;
    EXPECT_TRUE(kit_.memory.GetChildren(kit_.dir, &names).ok());
    base::MutexLock lock(&mutex_);
    return set_->ObsoleteFiles(names);
  }

  VersionFixture kit_;
  base::Mutex mutex_;
  std::unique_ptr<VersionSet> set_;
};

TEST_F(VersionSetTest, AFolderWithoutAStoreIsNotFound) {
  EXPECT_EQ(Reopen().code(), Code::kNotFound);
}

TEST_F(VersionSetTest, RemembersEverythingOverARestart) {
  Create();
  ASSERT_TRUE(Apply(Adding({Table(0, "a", "m"), Table(0, "b", "z")})).ok());
  ASSERT_TRUE(Apply(Adding({Table(1, "n", "p"), Table(1, "a", "c")})).ok());
  VersionEdit edit;
  edit.RemoveFile(0, Numbers(0).back());
  edit.compact_pointers.emplace_back(1, ValueKey("c", 5));
  edit.last_sequence = 1234;
  ASSERT_TRUE(Apply(edit).ok());
  const std::string before = Current()->DebugString();
  const uint64_t next = set_->next_file_number();
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(Reopen().ok());
    EXPECT_EQ(Current()->DebugString(), before);
    EXPECT_GE(set_->next_file_number(), next);
    base::MutexLock lock(&mutex_);
    EXPECT_EQ(set_->last_sequence(), 1234u);
    EXPECT_EQ((*set_->compact_pointers())[1], ValueKey("c", 5));
    VersionEdit empty;
    EXPECT_TRUE(set_->needs_new_manifest());
    EXPECT_TRUE(set_->LogAndApply(&empty, &mutex_).ok());
    EXPECT_FALSE(set_->needs_new_manifest());
  }
}

TEST_F(VersionSetTest, GoesOnWithAShortManifestOnDemand) {
  kit_.options.reuse_logs = true;
  Create();
  const std::string manifest = Manifest();
  ASSERT_TRUE(Apply(Adding({Table(0, "a", "m")})).ok());
  ASSERT_TRUE(Reopen().ok());
  ASSERT_TRUE(Apply(Adding({Table(0, "a", "m")})).ok());
  EXPECT_EQ(Manifest(), manifest);
  ASSERT_TRUE(Reopen().ok());
  EXPECT_EQ(Numbers(0).size(), 2u);
  // Behind a torn end nothing may be appended.
  std::string bytes = kit_.memory.Contents(manifest).value();
  ASSERT_TRUE(kit_.memory.SetContents(manifest, bytes + "torn").ok());
  ASSERT_TRUE(Reopen().ok());
  ASSERT_TRUE(Apply(Adding({Table(0, "a", "m")})).ok());
  EXPECT_NE(Manifest(), manifest);
  ASSERT_TRUE(Reopen().ok());
  EXPECT_EQ(Numbers(0).size(), 3u);
}

// Each edit takes the place of the one before, so that a fresh manifest stays short.
TEST_F(VersionSetTest, ALongManifestIsReplacedAndItsLengthBounded) {
  kit_.options.max_manifest_file_size = 1000;
  Create();
  std::set<std::string> manifests;
  for (int i = 0; i < 100; i++) {
    VersionEdit edit = Adding({Table(0, "a", "m")});
    if (i > 0) edit.RemoveFile(0, Numbers(0).front());
    ASSERT_TRUE(Apply(edit).ok());
    manifests.insert(Manifest());
    EXPECT_LT(kit_.memory.Contents(Manifest()).value().size(), 1200u);
  }
  EXPECT_GE(manifests.size(), 5u);
  EXPECT_LE(manifests.size(), 20u);
  EXPECT_THAT(Obsolete(), testing::Contains(manifests.begin()->substr(kit_.dir.size() + 1)));
  ASSERT_TRUE(Reopen().ok());
  EXPECT_EQ(Numbers(0).size(), 1u);
}

// The first call that fails is one of making the new manifest; the old one takes the edit then, or
// the edit fails and nobody knows.
TEST_F(VersionSetTest, ALongManifestThatCannotBeReplacedIsGoneOnWith) {
  kit_.options.max_manifest_file_size = 1;
  for (uint64_t call = 1; call <= 12; call++) {
    Create();
    for (int i = 0; i < 5; i++) ASSERT_TRUE(Apply(Adding({Table(0, "a", "m")})).ok());
    const size_t before = Numbers(0).size();
    const VersionEdit edit = Adding({Table(0, "a", "m")});
    kit_.faults.FailCall(call);
    const bool applied = Apply(edit).ok();
    kit_.faults.Heal();
    for (int i = 0; i < 5; i++) ASSERT_TRUE(Apply(Adding({Table(0, "a", "m")})).ok());
    ASSERT_TRUE(Reopen().ok());
    EXPECT_EQ(Numbers(0).size(), before + 5 + (applied ? 1 : 0)) << call;
  }
}

TEST_F(VersionSetTest, LeavesNumbersThatOccurInTheFolder) {
  Create();
  ASSERT_TRUE(kit_.memory.SetContents(TableFileName(kit_.dir, 5000), "lost").ok());
  ASSERT_TRUE(kit_.memory.SetContents(kit_.dir + "/18446744073709551615.log", "").ok());
  ASSERT_TRUE(Reopen().ok());
  EXPECT_EQ(set_->NewFileNumber(), 5001u);
}

TEST_F(VersionSetTest, RefusesAnEditThatWouldLetTablesOverlap) {
  Create();
  ASSERT_TRUE(Apply(Adding({Table(1, "c", "f")})).ok());
  const std::string bytes = kit_.memory.Contents(Manifest()).value();
  for (const auto& [smallest, largest] : std::vector<std::pair<std::string, std::string>>{
           {"a", "c"}, {"d", "e"}, {"f", "g"}, {"a", "z"}}) {
    EXPECT_EQ(Apply(Adding({Table(1, smallest, largest)})).code(), Code::kCorruption);
  }
  VersionEdit wrong = Adding({Table(2, "a", "b")});
  std::swap(wrong.new_files[0].smallest, wrong.new_files[0].largest);
  EXPECT_EQ(Apply(wrong).code(), Code::kCorruption);
  VersionEdit missing;
  missing.RemoveFile(2, 77);
  EXPECT_EQ(Apply(missing).code(), Code::kCorruption);
  EXPECT_EQ(Numbers(1).size(), 1u);
  EXPECT_EQ(kit_.memory.Contents(Manifest()).value(), bytes) << "nothing was written";
  EXPECT_TRUE(Apply(Adding({Table(1, "g", "h"), Table(1, "a", "b")})).ok());
}

TEST_F(VersionSetTest, AMovedTableStaysTheSame) {
  Create();
  ASSERT_TRUE(Apply(Adding({Table(1, "a", "b")})).ok());
  const FileRef file = Current()->level(1).files()[0];
  VersionEdit edit;
  edit.RemoveFile(1, file->number);
  edit.AddFile(2, file->number, file->bytes, file->smallest, file->largest);
  ASSERT_TRUE(Apply(edit).ok());
  EXPECT_EQ(Current()->level(2).files()[0], file);
  EXPECT_TRUE(Current()->level(1).empty());
}

// --- Damage ---

TEST_F(VersionSetTest, ComparatorsOfOtherNamesAreRefused) {
  class Reverse final : public Comparator {
   public:
    int Compare(std::string_view a, std::string_view b) const override { return b.compare(a); }
    const char* Name() const override { return "reverse"; }
    void FindShortestSeparator(std::string*, std::string_view) const override {}
    void FindShortSuccessor(std::string*) const override {}
  };
  Create();
  const Reverse reverse;
  const table::InternalComparator comparator(&reverse);
  VersionSet other(kit_.options, kit_.dir, &comparator, kit_.tables.get(), &mutex_, nullptr);
  base::MutexLock lock(&mutex_);
  const Status status = other.Recover();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("leveldb.BytewiseComparator"));
}

TEST_F(VersionSetTest, AMissingFileIsNamed) {
  Create();
  ASSERT_TRUE(Apply(Adding({Table(0, "a", "m")})).ok());
  const std::string table = TableFileName(kit_.dir, Numbers(0)[0]);
  const std::string bytes = kit_.memory.Contents(table).value();
  ASSERT_TRUE(kit_.memory.RemoveFile(table).ok());
  Status status = Reopen();
  EXPECT_EQ(status.code(), Code::kCorruption);
  EXPECT_THAT(std::string(status.message()), HasSubstr(table));
  ASSERT_TRUE(kit_.memory.SetContents(table, bytes).ok());
  ASSERT_TRUE(Reopen().ok());
  const std::string manifest = Manifest();
  ASSERT_TRUE(kit_.memory.RemoveFile(manifest).ok());
  status = Reopen();
  EXPECT_EQ(status.code(), Code::kCorruption);
  EXPECT_THAT(std::string(status.message()), HasSubstr(manifest));
}

TEST_F(VersionSetTest, ALostEndOfTheManifestShowsByItsLog) {
  Create();
  const std::string manifest = Manifest();
  const std::string before = kit_.memory.Contents(manifest).value();
  uint64_t old_log;
  {
    base::MutexLock lock(&mutex_);
    old_log = set_->log_number();
  }
  VersionEdit edit = Adding({Table(0, "a", "m")});
  edit.log_number = WriteLog();
  ASSERT_TRUE(Apply(edit).ok());
  ASSERT_THAT(Obsolete(), testing::Contains(LogFileName("", old_log).substr(1)));
  ASSERT_TRUE(kit_.memory.RemoveFile(LogFileName(kit_.dir, old_log)).ok());
  ASSERT_TRUE(Reopen().ok());
  const std::string after = kit_.memory.Contents(manifest).value();
  // The last record torn: were it passed over, the writes of the old log would be gone silently.
  for (size_t length = before.size(); length < after.size(); ++length) {
    ASSERT_TRUE(kit_.memory.SetContents(manifest, after.substr(0, length)).ok());
    const Status status = Reopen();
    ASSERT_EQ(status.code(), Code::kCorruption) << length;
    EXPECT_THAT(std::string(status.message()), HasSubstr(manifest));
  }
}

TEST_F(VersionSetTest, AFlippedByteIsFound) {
  Create();
  ASSERT_TRUE(Apply(Adding({Table(1, "a", "m"), Table(2, "x", "y")})).ok());
  const std::string manifest = Manifest();
  ASSERT_TRUE(Apply(Adding({Table(0, "a", "m")})).ok());
  const std::string good = kit_.memory.Contents(manifest).value();
  for (size_t at = 0; at < good.size(); ++at) {
    for (const uint8_t mask : {0x01, 0x80, 0xff}) {
      ASSERT_TRUE(kit_.memory.SetContents(manifest, good).ok());
      ASSERT_TRUE(kit_.memory.FlipBits(manifest, at, mask).ok());
      const Status status = Reopen();
      ASSERT_EQ(status.code(), Code::kCorruption) << at;
      ASSERT_THAT(std::string(status.message()), HasSubstr(manifest));
    }
  }
}

TEST_F(VersionSetTest, AFlippedByteOfCurrentIsFound) {
  Create();
  const std::string current = CurrentFileName(kit_.dir);
  const std::string good = kit_.memory.Contents(current).value();
  for (size_t at = 0; at < good.size(); ++at) {
    for (const uint8_t mask : {0x01, 0x04, 0x80}) {
      ASSERT_TRUE(kit_.memory.SetContents(current, good).ok());
      ASSERT_TRUE(kit_.memory.FlipBits(current, at, mask).ok());
      const Status status = Reopen();
      ASSERT_EQ(status.code(), Code::kCorruption) << at << ' ' << int{mask};
      ASSERT_THAT(std::string(status.message()), HasSubstr("CURRENT"));
    }
  }
}

TEST_F(VersionSetTest, AManifestThatContradictsItselfIsRefused) {
  Create();
  const std::string manifest = Manifest();
  const std::string good = kit_.memory.Contents(manifest).value();
  const NewFile table = Table(1, "c", "f");
  VersionEdit missing;
  missing.RemoveFile(1, 99);
  NewFile other_level = table;
  other_level.level = 2;
  for (const VersionEdit& wrong :
       {Adding({table, Table(1, "a", "d")}), Adding({table, other_level}), missing}) {
    std::string record;
    wrong.EncodeTo(&record);
    std::string bytes = good;
    StringSink sink(&bytes);
    ASSERT_TRUE(LogWriter(&sink, good.size()).AddRecord(record).ok());
    ASSERT_TRUE(kit_.memory.SetContents(manifest, bytes).ok());
    const Status status = Reopen();
    EXPECT_EQ(status.code(), Code::kCorruption);
    EXPECT_THAT(std::string(status.message()), HasSubstr(manifest));
  }
}

// --- Failures ---

TEST_F(VersionSetTest, EveryCallThatFailsLeavesOneOfTwoStates) {
  for (uint64_t fail = 1;; ++fail) {
    kit_.memory.Restore(base::MemoryFileSystem());
    ASSERT_TRUE(kit_.memory.CreateDir(kit_.dir).ok());
    ASSERT_TRUE(kit_.memory.SyncDir("").ok());
    Create();
    ASSERT_TRUE(Apply(Adding({Table(1, "a", "b")})).ok());
    const std::string before = Current()->DebugString();
    const VersionEdit edit = Adding({Table(1, "c", "d")});
    const uint64_t faults = kit_.faults.faults();
    kit_.faults.FailFrom(fail);
    const Status status = Apply(edit);
    kit_.faults.Heal();
    if (kit_.faults.faults() == faults) {
      EXPECT_GT(fail, 3u);
      break;
    }
    ASSERT_FALSE(status.ok()) << "all that follow fail too";
    EXPECT_EQ(Current()->DebugString(), before);
    const std::vector<std::string> obsolete = Obsolete();
    // Whatever a crash leaves, it is the state before or the one after, and both are whole.
    std::mt19937_64 random(base::TestSeed(fail));
    for (const base::CrashKind kind : base::kCrashKinds) {
      for (int round = 0; round < 4; ++round) {
        const auto crashed = kit_.memory.Copy();
        for (const std::string& name : obsolete) {
          ASSERT_TRUE(crashed->RemoveFile(kit_.dir + "/" + name).ok());
        }
        crashed->Crash(&random, kind);
        DbOptions options = kit_.options;
        options.file_system = crashed.get();
        VersionSet recovered(options, kit_.dir, &kit_.comparator, kit_.tables.get(), &mutex_,
                             nullptr);
        base::MutexLock lock(&mutex_);
        const Status recovery = recovered.Recover();
        ASSERT_TRUE(recovery.ok()) << recovery.ToString();
        const size_t tables = recovered.current()->level(1).size();
        ASSERT_TRUE(tables == 1 || tables == 2);
      }
    }
    // The next edit settles it.
    ASSERT_TRUE(Apply(edit).ok());
    EXPECT_THAT(Numbers(1).size(), 2u);
    const std::string after = Current()->DebugString();
    for (const std::string& name : Obsolete()) {
      ASSERT_TRUE(kit_.memory.RemoveFile(kit_.dir + "/" + name).ok());
    }
    kit_.memory.Crash(&random, base::CrashKind::kDropAll);
    ASSERT_TRUE(Reopen().ok());
    EXPECT_EQ(Current()->DebugString(), after);
  }
}

TEST_F(VersionSetTest, OneFailedWriteIsMadeGoodByAFreshManifest) {
  Create();
  const std::string manifest = Manifest();
  kit_.faults.SetHook([&](const base::FileCall& call) {
    const bool fails = call.kind == base::FileCallKind::kSync && call.path == manifest;
    return fails ? Status(Code::kIoError, "injected") : Status();
  });
  ASSERT_TRUE(Apply(Adding({Table(1, "a", "b")})).ok());
  EXPECT_NE(Manifest(), manifest);
  EXPECT_THAT(Obsolete(), testing::Contains(manifest.substr(kit_.dir.size() + 1)));
  ASSERT_TRUE(Reopen().ok());
  EXPECT_EQ(Numbers(1).size(), 1u);
}

TEST_F(VersionSetTest, ALogThatTheManifestNamesSurvivesAPowerCut) {
  Create();
  VersionEdit edit;
  edit.log_number = set_->NewFileNumber();
  ASSERT_TRUE(kit_.memory.NewWritableFile(LogFileName(kit_.dir, *edit.log_number), FileUse::kLog)
                  .has_value());
  ASSERT_TRUE(Apply(edit).ok());
  std::mt19937_64 random(base::TestSeed(1));
  kit_.memory.Crash(&random, base::CrashKind::kDropAll);
  EXPECT_TRUE(Reopen().ok());
}

TEST_F(VersionSetTest, NothingIsDeletedWhileAFailedEditIsInDoubt) {
  Create();
  ASSERT_TRUE(kit_.memory.SetContents(TableFileName(kit_.dir, 1), "obsolete").ok());
  EXPECT_FALSE(Obsolete().empty());
  kit_.faults.SetHook([](const base::FileCall& call) {
    return call.kind == base::FileCallKind::kSync ? Status(Code::kIoError, "injected") : Status();
  });
  EXPECT_EQ(Apply(Adding({Table(1, "a", "b")})).code(), Code::kIoError);
  EXPECT_THAT(Obsolete(), IsEmpty());
  kit_.faults.Heal();
  ASSERT_TRUE(Apply({}).ok());
  EXPECT_FALSE(Obsolete().empty());
}

// --- Files that may go ---

TEST_F(VersionSetTest, FilesOfHeldVersionsAndRunningJobsAreNeeded) {
  Create();
  ASSERT_TRUE(Apply(Adding({Table(0, "a", "b")})).ok());
  const uint64_t old = Numbers(0)[0];
  VersionRef held = Current();
  VersionEdit edit = Adding({Table(1, "a", "b")});
  edit.RemoveFile(0, old);
  ASSERT_TRUE(Apply(edit).ok());
  EXPECT_THAT(Obsolete(), ElementsAre("MANIFEST-000001"));
  held = nullptr;
  EXPECT_THAT(Obsolete(),
              UnorderedElementsAre("MANIFEST-000001", TableFileName("", old).substr(1)));
  uint64_t job;
  {
    base::MutexLock lock(&mutex_);
    job = set_->BeginJob();
  }
  const NewFile output = Table(1, "c", "d");
  const std::string name = TableFileName("", output.number).substr(1);
  EXPECT_THAT(Obsolete(), testing::Not(testing::Contains(name)));
  {
    base::MutexLock lock(&mutex_);
    set_->EndJob(job);
  }
  EXPECT_THAT(Obsolete(), testing::Contains(name));
}

TEST_F(VersionSetTest, FilesOfOthersAreLeftAlone) {
  Create();
  for (const char* name : {"notes.txt", "LOG", "LOG.old", "LOCK", "lost", "7.ldb.bak"}) {
    ASSERT_TRUE(kit_.memory.SetContents(kit_.dir + "/" + name, "").ok());
  }
  ASSERT_TRUE(kit_.memory.SetContents(kit_.dir + "/000077.dbtmp", "").ok());
  EXPECT_THAT(Obsolete(), UnorderedElementsAre("MANIFEST-000001", "000077.dbtmp"));
}

// --- Threads ---

TEST_F(VersionSetTest, EditsOfManyThreadsTakeTurns) {
  Create();
  constexpr int kThreads = 4;
  constexpr int kEdits = 25;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < kEdits; ++i) {
        const std::string key = std::to_string(t) + "-" + std::to_string(100 + i);
        const NewFile file{1, set_->NewFileNumber(), 100, ValueKey(key, 1), ValueKey(key, 1)};
        EXPECT_TRUE(kit_.memory.SetContents(TableFileName(kit_.dir, file.number), "x").ok());
        EXPECT_TRUE(Apply(Adding({file})).ok());
        Obsolete();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Numbers(1).size(), static_cast<size_t>(kThreads * kEdits));
  const std::string before = Current()->DebugString();
  ASSERT_TRUE(Reopen().ok());
  EXPECT_EQ(Current()->DebugString(), before);
}

}  // namespace
}  // namespace weft::lsm
