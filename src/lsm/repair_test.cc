#include "lsm/repair.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "base/test_folder.h"
#include "lsm/checked_options.h"
#include "lsm/file_names.h"
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
    EXPECT_TRUE(Files(FileType::kLog).empty());
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
