// A repair of stores whose files have numbers that no store gives, and of names that lead to no
// file.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/folder_test_kit.h"
#include "base/memory_file_system.h"
#include "lsm/checked_options.h"
#include "lsm/file_names.h"
#include "lsm/log_writer.h"
#include "lsm/repair.h"
#include "lsm/version_edit.h"
#include "weft/db.h"

namespace weft::lsm {
namespace {

using Model = std::map<std::string, std::string>;

Status RepairAt(const DbOptions& options, const std::string& dir) {
  return Repair(*CheckedOptions(options), dir, nullptr).Run();
}

// What the store holds; an entry that tells the error where it does not open.
Model ContentsAt(const DbOptions& options, const std::string& dir) {
  auto db = Db::Open(options, dir);
  if (!db) return {{"does not open", db.error().ToString()}};
  Model all;
  const auto iterator = (*db)->NewIterator({});
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    all.emplace(iterator->key(), iterator->value());
  }
  EXPECT_TRUE(iterator->status().ok()) << iterator->status().ToString();
  return all;
}

// A store of three tables of level 0, each newer than the one before.
Model MakeStoreAt(const DbOptions& options, const std::string& dir) {
  Model model;
  auto db = Db::Open(options, dir);
  EXPECT_TRUE(db.has_value()) << db.error().ToString();
  if (!db) return model;
  for (const char* value : {"old", "newer", "newest"}) {
    for (int i = 0; i < 50; i++) {
      const std::string key = "key" + std::to_string(100 + i);
      EXPECT_TRUE((*db)->Put({}, key, value).ok());
      model[key] = value;
    }
    EXPECT_TRUE((*db)->Flush().ok());
  }
  EXPECT_TRUE((*db)->Put({}, "in the log", "v").ok());
  model["in the log"] = "v";
  return model;
}

class RepairNumbersTest : public testing::Test {
 protected:
  RepairNumbersTest() {
    options_.create_if_missing = true;
    options_.file_system = &files_;
    options_.level0_compaction_trigger = 100;
    options_.level0_slowdown_trigger = options_.level0_stop_trigger = 100;
    model_ = MakeStoreAt(options_, "/db");
  }
  void LoseManifest() {
    for (const std::string& path : files_.AllFiles()) {
      if (!path.starts_with("/db/MANIFEST") && path != "/db/CURRENT") continue;
      ASSERT_TRUE(files_.RemoveFile(path).ok());
    }
  }
  void ExpectAll(const std::string& what) {
    EXPECT_EQ(ContentsAt(options_, "/db"), model_) << what;
    EXPECT_EQ(ContentsAt(options_, "/db"), model_) << what << ", again";
  }

  base::MemoryFileSystem files_;
  DbOptions options_;
  Model model_;
};

TEST_F(RepairNumbersTest, AStrayNameCostsNothingHoweverOftenTheManifestIsLost) {
  base::MemoryFileSystem whole;
  whole.Restore(files_);
  for (const char* stray :
       {"9223372036854775807.ldb", "9223372036854775806.log", "9223372036854775808.ldb",
        "18446744073709551615.log", "2305843009213693951.ldb", "2305843009213693952.ldb",
        "2305843009213693952.log", "2305843009213693953.log", "4611686018427387904.ldb",
        "9223372036854775806.sst", "MANIFEST-9223372036854775807", "1099511627776.log"}) {
    for (const bool writes_between : {false, true}) {
      files_.Restore(whole);
      const Model before = model_;
      ASSERT_TRUE(files_.SetContents(std::string("/db/") + stray, "").ok());
      for (int round = 0; round < 4; round++) {
        LoseManifest();
        const Status status = RepairAt(options_, "/db");
        ASSERT_TRUE(status.ok()) << stray << ": " << status.ToString();
        if (writes_between) {
          auto db = Db::Open(options_, "/db");
          ASSERT_TRUE(db.has_value()) << stray << ": " << db.error().ToString();
          const std::string key = "round" + std::to_string(round);
          ASSERT_TRUE((*db)->Put({}, key, "v").ok());
          ASSERT_TRUE((*db)->Put({}, "key100", key).ok());
          model_[key] = "v";
          model_["key100"] = key;
          const Status flushed = round % 2 == 0 ? (*db)->Flush() : Status();
          ASSERT_TRUE(flushed.ok()) << flushed.ToString();
        }
        ExpectAll(std::string(stray) + ", round " + std::to_string(round));
      }
      model_ = before;
    }
  }
}

// As long as a manifest says which numbers are the store's, they may be as high as it opens.
TEST_F(RepairNumbersTest, AManifestWithHighNumbersIsNotCountedOn) {
  base::MemoryFileSystem whole;
  whole.Restore(files_);
  for (const uint64_t next :
       {uint64_t{1} << 61, (uint64_t{1} << 63) - 1, uint64_t{1} << 63, (uint64_t{1} << 63) - 4}) {
    files_.Restore(whole);
    auto current = ReadCurrentFile(&files_, "/db");
    ASSERT_TRUE(current.has_value());
    const std::string path = ManifestFileName("/db", *current);
    std::string contents = *files_.Contents(path);
    auto file = files_.NewAppendableFile(path, FileUse::kManifest);
    ASSERT_TRUE(file.has_value());
    VersionEdit edit;
    edit.next_file_number = next;
    std::string record;
    edit.EncodeTo(&record);
    ASSERT_TRUE(LogWriter(file->get(), contents.size()).AddRecord(record).ok());
    ASSERT_TRUE((*file)->Sync().ok());
    file->reset();
    ASSERT_TRUE(RepairAt(options_, "/db").ok()) << next;
    ExpectAll(std::to_string(next));
    ASSERT_TRUE(RepairAt(options_, "/db").ok()) << next;
    ExpectAll(std::to_string(next));
  }
}

// The store's own tables, too: they are renumbered, and stay in their order.
TEST_F(RepairNumbersTest, TablesWithHighNumbersAreKept) {
  uint64_t high = (uint64_t{1} << 63) - 100;
  for (const std::string& path : files_.AllFiles()) {
    if (!path.ends_with(".ldb")) continue;
    ASSERT_TRUE(files_.RenameFile(path, TableFileName("/db", high++)).ok());
  }
  for (int round = 0; round < 3; round++) {
    LoseManifest();
    ASSERT_TRUE(RepairAt(options_, "/db").ok());
    ExpectAll(std::to_string(round));
  }
  for (const std::string& path : files_.AllFiles()) {
    EXPECT_FALSE(path.starts_with("/db/9")) << path;
  }
}

class RepairNamesTest : public testing::Test {
 protected:
  RepairNamesTest() {
    options_.create_if_missing = true;
    options_.level0_compaction_trigger = 100;
    options_.level0_slowdown_trigger = options_.level0_stop_trigger = 100;
    model_ = MakeStoreAt(options_, dir_);
  }
  std::string Path(const std::string& name) const { return dir_ + "/" + name; }
  void ExpectRepairs(const Model& model, const std::string& what) {
    for (int round = 0; round < 2; round++) {
      const Status status = RepairAt(options_, dir_);
      ASSERT_TRUE(status.ok()) << what << ": " << status.ToString();
      EXPECT_EQ(ContentsAt(options_, dir_), model) << what;
    }
  }

  base::TestFolder folder_;
  const std::string dir_ = folder_ / "db";
  DbOptions options_;
  Model model_;
};

TEST_F(RepairNamesTest, ALinkToNothingIsPutAside) {
  for (const char* name : {"000777.ldb", "000778.log", "000779.sst", "MANIFEST-000780"}) {
    for (const char* to : {"/nowhere/at/all", "000999.ldb", name, "LOCK/file"}) {
      ASSERT_EQ(symlink(to, Path(name).c_str()), 0);
      ExpectRepairs(model_, std::string(name) + " to " + to);
      struct stat about;
      EXPECT_NE(lstat(Path(name).c_str(), &about), 0) << name << " to " << to;
    }
  }
}

// In the place of a file that the manifest names it is a file that is missing.
TEST_F(RepairNamesTest, ALinkToNothingIsNoTable) {
  std::vector<std::string> tables;
  for (const auto& entry : std::filesystem::directory_iterator(dir_)) {
    if (entry.path().extension() == ".ldb") tables.push_back(entry.path());
  }
  ASSERT_FALSE(tables.empty());
  for (const std::string& table : tables) {
    std::filesystem::remove(table);
    ASSERT_EQ(symlink("/nowhere", table.c_str()), 0);
  }
  Repair repair(*CheckedOptions(options_), dir_, nullptr);
  ASSERT_TRUE(repair.Run().ok());
  EXPECT_EQ(repair.report().tables_missing, tables.size());
}

// A device has no second name on the store's disk.
TEST_F(RepairNamesTest, ALinkToADeviceIsPutAside) {
  for (const char* name : {"000777.ldb", "000778.log", "000779.sst", "MANIFEST-000780"}) {
    for (const char* to : {"/dev/null", "/dev/zero"}) {
      ASSERT_EQ(symlink(to, Path(name).c_str()), 0);
      ExpectRepairs(model_, std::string(name) + " to " + to);
      struct stat about;
      EXPECT_NE(lstat(Path(name).c_str(), &about), 0) << name << " to " << to;
    }
  }
}

// It may have no end.
TEST_F(RepairNamesTest, ADeviceIsReadByNobody) {
  for (const char* to : {"/dev/null", "/dev/zero"}) {
    auto current = ReadCurrentFile(PosixFileSystem(), dir_);
    ASSERT_TRUE(current.has_value());
    const std::string manifest = ManifestFileName(dir_, *current);
    std::filesystem::rename(manifest, Path("aside"));
    ASSERT_EQ(symlink(to, manifest.c_str()), 0);
    EXPECT_TRUE(ContentsAt(options_, dir_).contains("does not open")) << to;
    std::filesystem::remove(manifest);
    std::filesystem::rename(Path("aside"), manifest);
    ASSERT_EQ(symlink(to, Path("900000.log").c_str()), 0);
    (void)ContentsAt(options_, dir_);
    std::filesystem::remove(Path("900000.log"));
    EXPECT_EQ(ContentsAt(options_, dir_), model_) << to;
  }
}

TEST_F(RepairNamesTest, AFolderInTheNameOfCurrentIsPutAside) {
  for (int round = 0; round < 2; round++) {
    std::filesystem::remove(Path("CURRENT"));
    std::filesystem::create_directory(Path("CURRENT"));
    std::ofstream(Path("CURRENT/file")) << "somebody's";
    ExpectRepairs(model_, "a folder");
  }
}

// What a table's file has behind the end that the manifest names is looked at by nobody.
TEST_F(RepairNamesTest, ATableThatIsLongerIsWhole) {
  std::vector<std::string> tables;
  for (const auto& entry : std::filesystem::directory_iterator(dir_)) {
    if (entry.path().extension() == ".ldb") tables.push_back(entry.path());
  }
  ASSERT_GE(tables.size(), 2u);
  std::ofstream(tables[0], std::ios::app) << "more";
  std::filesystem::resize_file(tables[1], uintmax_t{1} << 36);  // of zeros, which take no room
  EXPECT_EQ(ContentsAt(options_, dir_), model_);
  for (int round = 0; round < 2; round++) {
    {
      Repair repair(*CheckedOptions(options_), dir_, nullptr);
      ASSERT_TRUE(repair.Run().ok());
      EXPECT_EQ(repair.report().tables_salvaged + repair.report().tables_lost, 0u);
    }
    EXPECT_EQ(ContentsAt(options_, dir_), model_);
  }
}

}  // namespace
}  // namespace weft::lsm
