#include "lsm/repair.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/folder_test_kit.h"
#include "base/memory_file_system.h"
#include "lsm/checked_options.h"
#include "lsm/file_names.h"
#include "lsm/manifest.h"
#include "weft/db.h"

#if WEFT_TEST_LEVELDB
#include <leveldb/db.h>
#endif

namespace weft::lsm {
namespace {

using Model = std::map<std::string, std::string>;

std::string Key(int i) {
  const std::string text = std::to_string(i);
  return std::string(6 - text.size(), '0') + text;
}

class RepairTest : public testing::Test {
 protected:
  RepairTest() {
    options.create_if_missing = true;
    options.file_system = &files;
    options.level0_compaction_trigger = 100;
    options.level0_slowdown_trigger = 100;
    options.level0_stop_trigger = 100;
    options.compression = Compression::kNone;
  }

  void Open() {
    db.reset();
    auto opened = Db::Open(options, "/db");
    ASSERT_TRUE(opened.has_value()) << opened.error().ToString();
    db = std::move(*opened);
  }
  // Puts keys [from, to) and writes them as a table.
  void PutTable(int from, int to, const std::string& value) {
    for (int i = from; i < to; i++) {
      ASSERT_TRUE(db->Put({}, Key(i), value + Key(i)).ok());
      model[Key(i)] = value + Key(i);
    }
    ASSERT_TRUE(db->Flush().ok());
  }
  Model All() {
    Model all;
    const auto iterator = db->NewIterator({});
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      all.emplace(iterator->key(), iterator->value());
      std::string value;  // lookups take another way than iterators
      EXPECT_TRUE(db->Get({}, iterator->key(), &value).ok());
      EXPECT_EQ(value, iterator->value()) << iterator->key();
    }
    EXPECT_TRUE(iterator->status().ok()) << iterator->status().ToString();
    return all;
  }
  std::vector<std::string> Files(FileType type) {
    std::vector<std::string> found;
    for (const std::string& path : files.AllFiles()) {
      ParsedFileName parsed;
      if (path.rfind('/') == 3 && ParseFileName(path.substr(4), &parsed) && parsed.type == type) {
        found.push_back(path);
      }
    }
    return found;
  }
  RepairReport RunRepair() {
    db.reset();
    Repair repair(*CheckedOptions(options), "/db", nullptr);
    const Status status = repair.Run();
    EXPECT_TRUE(status.ok()) << status.ToString();
    return repair.report();
  }
  void LoseManifest() {
    db.reset();
    for (const std::string& path : Files(FileType::kManifest)) {
      ASSERT_TRUE(files.RemoveFile(path).ok());
    }
    ASSERT_TRUE(files.RemoveFile("/db/CURRENT").ok());
  }

  base::MemoryFileSystem files;
  DbOptions options;
  std::unique_ptr<Db> db;
  Model model;
};

TEST_F(RepairTest, AWholeStoreKeepsAllAndKeepsItTwice) {
  Open();
  PutTable(0, 500, "a");
  PutTable(200, 700, "b");
  ASSERT_TRUE(db->Put({}, "in the log", "x").ok());
  ASSERT_TRUE(db->Delete({}, Key(3)).ok());
  model["in the log"] = "x";
  model.erase(Key(3));
  for (int round = 0; round < 3; round++) {
    const RepairReport report = RunRepair();
    EXPECT_TRUE(report.manifest_read);
    EXPECT_EQ(report.tables_salvaged + report.tables_lost, 0u);
    EXPECT_EQ(report.log_bytes_dropped, 0u);
    const std::vector<std::string> logs = Files(FileType::kLog);
    ASSERT_EQ(logs.size(), 1u);  // so that none from before is replayed
    EXPECT_EQ(*files.Contents(logs.front()), "");
    if (round == 1) continue;  // also without opening between
    Open();
    EXPECT_EQ(All(), model);
    db.reset();
  }
}

TEST_F(RepairTest, WithoutAManifestTheNewestValueWins) {
  Open();
  PutTable(0, 1000, "old");
  PutTable(300, 600, "newer");
  PutTable(500, 550, "newest");
  ASSERT_TRUE(db->Delete({}, Key(510)).ok());
  ASSERT_TRUE(db->Put({}, Key(511), "of the log").ok());
  model.erase(Key(510));
  model[Key(511)] = "of the log";
  LoseManifest();
  const RepairReport report = RunRepair();
  EXPECT_FALSE(report.manifest_read);
  EXPECT_GE(report.tables_merged, 4u);
  EXPECT_EQ(report.last_sequence, 1352u);
  Open();
  EXPECT_EQ(All(), model);
  PutTable(0, 20, "after");  // numbers go on above all that were used
  EXPECT_EQ(All(), model);
}

TEST_F(RepairTest, TablesThatTheManifestNoLongerNamesStayAway) {
  Open();
  PutTable(0, 100, "a");
  const std::string table = Files(FileType::kTable).front();
  const std::string contents = *files.Contents(table);
  ASSERT_TRUE(db->Delete({}, Key(5)).ok());
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  db.reset();
  ASSERT_FALSE(files.FileExists(table));
  ASSERT_TRUE(files.SetContents(table, contents).ok());
  RunRepair();
  Open();
  model.erase(Key(5));
  EXPECT_EQ(All(), model);
}

// The manifest that CURRENT named is the last whose files are all there.
TEST_F(RepairTest, WithoutCurrentTheNewestManifestCounts) {
  Open();
  PutTable(0, 100, "a");
  const std::string table = Files(FileType::kTable).front();
  const std::string leftover = *files.Contents(table);
  const std::string manifest = Files(FileType::kManifest).front();
  const std::string old_manifest = *files.Contents(manifest);
  ASSERT_TRUE(db->Delete({}, Key(5)).ok());
  model.erase(Key(5));
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  Open();  // begins another manifest
  ASSERT_TRUE(db->Put({}, "in the log", "x").ok());
  model["in the log"] = "x";
  db.reset();
  for (const char* current : {"", "MANIFEST-000077\n", "nonsense"}) {
    SCOPED_TRACE(current);
    const std::unique_ptr<base::MemoryFileSystem> before = files.Copy();
    ASSERT_TRUE(files.SetContents(manifest, old_manifest).ok());
    ASSERT_TRUE(files.SetContents(table, leftover).ok());
    // One that a creation has left unfinished.
    ASSERT_TRUE(files.SetContents("/db/MANIFEST-000300", old_manifest.substr(0, 20)).ok());
    ASSERT_TRUE(files.SetContents("/db/CURRENT", current).ok());
    if (*current == 0) (void)files.RemoveFile("/db/CURRENT");
    EXPECT_TRUE(RunRepair().manifest_read);
    Open();
    EXPECT_EQ(All(), model);
    db.reset();
    files.Restore(*before);
  }
}

// As a repair leaves it that a power cut met before its tables were safe.
TEST_F(RepairTest, WithoutCurrentAManifestCountsWhoseFilesAreAllThere) {
  Open();
  PutTable(0, 60, "a");
  for (int i = 0; i < 60; i += 6) {
    ASSERT_TRUE(db->Delete({}, Key(i)).ok());
    model.erase(Key(i));
  }
  db.reset();
  VersionEdit edit;
  edit.comparator = options.comparator->Name();
  edit.log_number = 99;
  edit.last_sequence = 70;
  edit.next_file_number = 101;
  edit.AddFile(0, 98, 1000, std::string("000000\1\1\0\0\0\0\0\0", 14),
               std::string("000059\1\1\0\0\0\0\0\0", 14));
  ASSERT_TRUE(CreateManifest(&files, "/db", 100, edit).has_value());
  ASSERT_TRUE(files.RemoveFile("/db/CURRENT").ok());
  RunRepair();
  Open();
  EXPECT_EQ(All(), model);
}

TEST_F(RepairTest, OfAManifestWithALostRecordTheOthersCount) {
  Open();
  PutTable(0, 100, "a");
  const std::string table = Files(FileType::kTable).front();
  const std::string leftover = *files.Contents(table);
  const std::string manifest = Files(FileType::kManifest).front();
  const uint64_t one = files.Contents(manifest)->size();
  ASSERT_TRUE(db->Delete({}, Key(5)).ok());
  model.erase(Key(5));
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  const uint64_t two = files.Contents(manifest)->size();
  PutTable(50, 120, "b");
  const uint64_t three = files.Contents(manifest)->size();
  PutTable(110, 130, "c");
  db.reset();
  ASSERT_TRUE(files.SetContents(table, leftover).ok());  // which a record removes
  for (const uint64_t at : {two + 9, three + 9, three - 3}) {
    SCOPED_TRACE(at - one);
    const std::unique_ptr<base::MemoryFileSystem> before = files.Copy();
    ASSERT_TRUE(files.FlipBits(manifest, at, 1).ok());
    const RepairReport report = RunRepair();
    EXPECT_TRUE(report.manifest_read);
    EXPECT_FALSE(report.manifest_whole);
    Open();
    EXPECT_EQ(All(), model);
    db.reset();
    files.Restore(*before);
  }
}

// What was ingested is in no log.
TEST_F(RepairTest, WhatALostLastRecordHasIngestedIsTaken) {
  Open();
  PutTable(0, 100, "a");
  const std::string manifest = Files(FileType::kManifest).front();
  const uint64_t before = files.Contents(manifest)->size();
  auto writer = TableWriter::Open(options, "/in.ldb");
  for (int i = 200; i < 210; i++) {
    ASSERT_TRUE((*writer)->Put(Key(i), "ingested").ok());
    model[Key(i)] = "ingested";
  }
  ASSERT_TRUE((*writer)->Finish().ok());
  const std::vector<std::string> paths = {"/in.ldb"};
  ASSERT_TRUE(db->Ingest(paths, true).ok());
  db.reset();
  const std::string whole = *files.Contents(manifest);
  ASSERT_GT(whole.size(), before);
  for (const uint64_t bytes : {before, before + 3, whole.size() - 4, whole.size()}) {
    SCOPED_TRACE(bytes - before);
    const std::unique_ptr<base::MemoryFileSystem> start = files.Copy();
    ASSERT_TRUE(files.Truncate(manifest, bytes).ok());
    if (bytes == whole.size()) (void)files.FlipBits(manifest, bytes - 1, 1);
    RunRepair();
    Open();
    EXPECT_EQ(All(), model);
    db.reset();
    files.Restore(*start);
  }
}

// Not one that is whole because it names nothing.
TEST_F(RepairTest, AnEarlierManifestIsNotTakenForAFileThatIsMissing) {
  Open();
  PutTable(0, 100, "a");
  const std::string table = Files(FileType::kTable).front();
  const std::string leftover = *files.Contents(table);
  ASSERT_TRUE(db->Delete({}, Key(5)).ok());
  model.erase(Key(5));
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  PutTable(200, 210, "gone");
  const std::string gone = Files(FileType::kTable).back();
  db.reset();
  ASSERT_TRUE(files.SetContents(table, leftover).ok());
  VersionEdit first;  // of a store that was just made
  first.comparator = options.comparator->Name();
  first.log_number = 0;
  first.next_file_number = 2;
  first.last_sequence = 0;
  ASSERT_TRUE(CreateManifest(&files, "/db", 1, first).has_value());
  ASSERT_TRUE(files.RemoveFile(gone).ok());
  for (int i = 200; i < 210; i++) model.erase(Key(i));
  for (const bool current_is_there : {true, false}) {
    const std::unique_ptr<base::MemoryFileSystem> before = files.Copy();
    if (!current_is_there) (void)files.RemoveFile("/db/CURRENT");
    EXPECT_EQ(RunRepair().tables_missing, 1u);
    Open();
    EXPECT_EQ(All(), model);
    db.reset();
    files.Restore(*before);
  }
}

TEST_F(RepairTest, AMissingTableBringsNoLeftoverBack) {
  Open();
  PutTable(0, 100, "a");
  const std::string table = Files(FileType::kTable).front();
  const std::string leftover = *files.Contents(table);
  ASSERT_TRUE(db->Delete({}, Key(5)).ok());
  model.erase(Key(5));
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  PutTable(200, 210, "gone");
  const std::string gone = Files(FileType::kTable).back();
  Open();  // the manifest that it begins knows nothing of the leftover
  db.reset();
  ASSERT_TRUE(files.SetContents(table, leftover).ok());
  ASSERT_TRUE(files.RemoveFile(gone).ok());
  ASSERT_TRUE(files.RemoveFile(Files(FileType::kLog).front()).ok());
  EXPECT_EQ(RunRepair().tables_missing, 1u);
  for (int i = 200; i < 210; i++) model.erase(Key(i));
  Open();
  EXPECT_EQ(All(), model);
}

TEST_F(RepairTest, AnotherComparatorsStoreIsLeftAlone) {
  class Backwards final : public Comparator {
   public:
    const char* Name() const override { return "test.Backwards"; }
    int Compare(std::string_view a, std::string_view b) const override { return b.compare(a); }
    void FindShortestSeparator(std::string*, std::string_view) const override {}
    void FindShortSuccessor(std::string*) const override {}
  };
  static const Backwards backwards;
  options.comparator = &backwards;
  Open();
  PutTable(0, 10, "a");
  db.reset();
  options.comparator = BytewiseComparator();
  for (const bool current_is_there : {true, false}) {
    if (!current_is_there) (void)files.RemoveFile("/db/CURRENT");
    const std::vector<std::string> before = files.AllFiles();
    Repair repair(*CheckedOptions(options), "/db", nullptr);
    const Status status = repair.Run();
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.ToString();
    EXPECT_NE(status.ToString().find("test.Backwards"), std::string::npos) << status.ToString();
    EXPECT_EQ(files.AllFiles(), before);
  }
}

TEST_F(RepairTest, NamesThatNoStoreGivesAreNotCountedOn) {
  Open();
  PutTable(0, 100, "a");
  db.reset();
  for (const char* name : {"18446744073709551615.ldb", "18446744073709551615.log", "7.ldb",
                           "0000000000000008.log", "9223372036854775808.log"}) {
    ASSERT_TRUE(files.SetContents(std::string("/db/") + name, "somebody's").ok());
  }
  RunRepair();
  LoseManifest();
  RunRepair();
  Open();
  EXPECT_EQ(All(), model);
  EXPECT_EQ(*files.Contents("/db/lost/7.ldb"), "somebody's");
}

TEST_F(RepairTest, DamageOfAFilterIsMended) {
  options.filter_policy = NewBloomFilterPolicy(10);
  Open();
  PutTable(0, 500, "a");
  db.reset();
  options.filter_policy = nullptr;  // as a tool that knows none
  const std::string table = Files(FileType::kTable).front();
  const std::string whole = *files.Contents(table);
  const size_t meta = whole.find("filter.leveldb.BuiltinBloomFilter2");
  ASSERT_NE(meta, std::string::npos);
  for (const size_t at : {meta - 30, meta + 3}) {
    ASSERT_TRUE(files.FlipBits(table, at, 1).ok());
    const std::unique_ptr<base::MemoryFileSystem> before = files.Copy();
    EXPECT_EQ(RunRepair().tables_salvaged, 1u);
    Open();
    EXPECT_EQ(All(), model);
    db.reset();
    files.Restore(*before);
    ASSERT_TRUE(files.SetContents(table, whole).ok());
  }
}

TEST_F(RepairTest, OfADamagedTableOneBlockIsLost) {
  Open();
  PutTable(0, 3000, std::string(100, 'v'));
  db.reset();
  const std::string table = Files(FileType::kTable).front();
  ASSERT_TRUE(files.FlipBits(table, 100'000, 1).ok());
  const RepairReport report = RunRepair();
  EXPECT_EQ(report.tables_salvaged, 1u);
  EXPECT_TRUE(files.FileExists("/db/lost" + table.substr(3)));
  Open();
  const Model all = All();
  EXPECT_LT(all.size(), model.size());
  EXPECT_GT(all.size(), model.size() - 80);  // a block of 4 KiB
  for (const auto& [key, value] : all) EXPECT_EQ(value, model[key]);
}

TEST_F(RepairTest, WhatIsSalvagedOfAnOldTableDoesNotHideNewerOnes) {
  Open();
  PutTable(0, 1, "apart");  // keeps what follows out of deeper levels
  PutTable(0, 2000, "old" + std::string(50, 'o'));
  PutTable(0, 2000, "new" + std::string(50, 'n'));
  db.reset();
  std::vector<std::string> tables = Files(FileType::kTable);
  ASSERT_EQ(tables.size(), 3u);
  ASSERT_TRUE(files.FlipBits(tables[1], 50'000, 4).ok());
  EXPECT_EQ(RunRepair().tables_salvaged, 1u);
  Open();
  EXPECT_EQ(All(), model);
}

TEST_F(RepairTest, WithoutAnIndexBlocksAreFoundByTheirChecksums) {
  Open();
  PutTable(0, 2000, std::string(100, 'v'));
  db.reset();
  const std::string table = Files(FileType::kTable).front();
  const uint64_t bytes = files.Contents(table)->size();
  ASSERT_TRUE(files.Truncate(table, bytes - 100).ok());  // footer, and the end of the index
  EXPECT_EQ(RunRepair().tables_salvaged, 1u);
  Open();
  EXPECT_EQ(All(), model);
}

TEST_F(RepairTest, OfADamagedLogWholeRecordsAreKept) {
  Open();
  const std::string value(1000, 'l');
  for (int i = 0; i < 300; i++) ASSERT_TRUE(db->Put({}, Key(i), value + Key(i)).ok());
  db.reset();
  const std::string log = Files(FileType::kLog).front();
  ASSERT_TRUE(files.FlipBits(log, 150'000, 1).ok());
  const RepairReport report = RunRepair();
  EXPECT_GT(report.log_bytes_dropped, 0u);
  Open();
  const Model all = All();
  EXPECT_GT(all.size(), 260u);  // of one block of 32 KiB the rest is lost
  EXPECT_LT(all.size(), 300u);
  EXPECT_TRUE(all.contains(Key(0)) && all.contains(Key(299)));
  for (const auto& [key, kept] : all) EXPECT_EQ(kept, value + key);
}

TEST_F(RepairTest, TablesByTheirOldNameAreFoundAndGivenUp) {
  Open();
  PutTable(0, 2000, std::string(50, 'v'));
  db.reset();
  const std::string table = Files(FileType::kTable).front();
  const std::string old = table.substr(0, table.size() - 4) + ".sst";
  ASSERT_TRUE(files.RenameFile(table, old).ok());
  ASSERT_TRUE(files.FlipBits(old, 50'000, 1).ok());
  ASSERT_TRUE(files.SetContents("/db/000999.sst", *files.Contents(old)).ok());  // a leftover
  EXPECT_EQ(RunRepair().tables_salvaged, 1u);
  EXPECT_TRUE(files.FileExists("/db/lost/000999.sst"));
  EXPECT_FALSE(files.FileExists(old));
}

TEST_F(RepairTest, WithoutAnythingOfAStoreItSaysSo) {
  ASSERT_TRUE(files.CreateDir("/db").ok());
  EXPECT_EQ(Repair(*CheckedOptions(options), "/db", nullptr).Run().code(), Code::kNotFound);
  EXPECT_FALSE(RepairDb("/none", options).ok());
}

#if WEFT_TEST_LEVELDB
TEST(RepairLevelDb, LevelDbOpensARepairedStore) {
  base::TestFolder folder;
  const std::string dir = folder / "db";
  DbOptions options;
  options.create_if_missing = true;
  {
    auto db = Db::Open(options, dir);
    ASSERT_TRUE(db.has_value());
    for (int i = 0; i < 1000; i++) ASSERT_TRUE((*db)->Put({}, Key(i), Key(i)).ok());
    ASSERT_TRUE((*db)->Flush().ok());
    for (int i = 500; i < 600; i++) ASSERT_TRUE((*db)->Put({}, Key(i), "again").ok());
  }
  ASSERT_TRUE(PosixFileSystem()->RemoveFile(dir + "/CURRENT").ok());
  ASSERT_TRUE(RepairDb(dir, options).ok());
  leveldb::DB* opened = nullptr;
  leveldb::Options their;
  their.paranoid_checks = true;
  ASSERT_TRUE(leveldb::DB::Open(their, dir, &opened).ok());
  const std::unique_ptr<leveldb::DB> db(opened);
  for (int i = 0; i < 1000; i++) {
    std::string value;
    ASSERT_TRUE(db->Get({}, Key(i), &value).ok()) << i;
    EXPECT_EQ(value, i >= 500 && i < 600 ? "again" : Key(i));
  }
}
#endif

}  // namespace
}  // namespace weft::lsm
