// Damages each file of a small store in every place, repairs it and verifies it.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "base/seed_test_kit.h"
#include "tool/db/commands.h"
#include "weft/db.h"

namespace weft::tool {
namespace {

using base::MemoryFileSystem;
using Model = std::map<std::string, std::string>;

std::string ShortKey(int i) {
  const std::string text = std::to_string(i);
  return "key" + std::string(3 - text.size(), '0') + text;
}

class RepairToolTest : public testing::Test {
 protected:
  RepairToolTest() {
    options.create_if_missing = true;
    options.file_system = &whole;
    options.filter_policy = NewBloomFilterPolicy(10);
    options.block_size = 1024;
    options.level0_compaction_trigger = 100;
    options.level0_slowdown_trigger = 100;
    options.level0_stop_trigger = 100;
    Fill();
  }

  // Tables that were compacted, ones that overlap them, deletions, a log, and a manifest whose
  // records tell all of it. `leftover` is a table of before, which holds what was deleted since.
  void Fill() {
    auto db = MustOpen();
    Put(db.get(), 0, 40, "first");
    ASSERT_TRUE(db->Flush().ok());
    const std::string table = Names(".ldb").front();
    leftover = *whole.Contents(table);
    leftover_path = table;
    for (int i = 10; i < 15; i++) Delete(db.get(), i);
    ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
    Put(db.get(), 30, 60, "second");
    ASSERT_TRUE(db->Flush().ok());
    Delete(db.get(), 50);
    ASSERT_TRUE(db->Flush().ok());
    auto writer = TableWriter::Open(options, "/in.ldb");
    for (int i = 100; i < 110; i++) {
      ASSERT_TRUE((*writer)->Put(ShortKey(i), "ingested").ok());
      model[ShortKey(i)] = "ingested";
    }
    ASSERT_TRUE((*writer)->Finish().ok());
    const std::vector<std::string> paths = {"/in.ldb"};
    ASSERT_TRUE(db->Ingest(paths, true).ok());
    Put(db.get(), 5, 8, "log");
  }
  std::unique_ptr<Db> MustOpen() {
    auto db = Db::Open(options, "/db");
    EXPECT_TRUE(db.has_value()) << db.error().ToString();
    return std::move(*db);
  }
  void Put(Db* db, int from, int to, const std::string& value) {
    for (int i = from; i < to; i++) {
      ASSERT_TRUE(db->Put({}, ShortKey(i), value + ShortKey(i)).ok());
      model[ShortKey(i)] = value + ShortKey(i);
      ever[ShortKey(i)].insert(value + ShortKey(i));
    }
  }
  void Delete(Db* db, int i) {
    ASSERT_TRUE(db->Delete({}, ShortKey(i)).ok());
    model.erase(ShortKey(i));
  }
  std::vector<std::string> Names(const std::string& part) const {
    std::vector<std::string> found;
    for (const std::string& path : whole.AllFiles()) {
      if (path.starts_with("/db/") && path.find(part) != path.npos) found.push_back(path);
    }
    return found;
  }

  static Exit Run(MemoryFileSystem* files, const std::vector<std::string>& arguments,
                  std::string* said) {
    std::ostringstream out;
    std::ostringstream err;
    const Exit exit = RunDb({files, out, err}, arguments);
    *said = out.str() + err.str();
    return exit;
  }
  // Repairs, verifies, and gives what the store holds then.
  Model Repaired(MemoryFileSystem* files) {
    std::string said;
    EXPECT_EQ(Run(files, {"repair", "/db"}, &said), Exit::kOk) << where << ": " << said;
    EXPECT_EQ(Run(files, {"verify", "/db"}, &said), Exit::kOk) << where << ": " << said;
    DbOptions read = options;
    read.file_system = files;
    read.paranoid_checks = true;
    Model all;
    auto db = Db::Open(read, "/db");
    EXPECT_TRUE(db.has_value()) << where << ": " << db.error().ToString();
    if (!db) return all;
    const auto iterator = (*db)->NewIterator({.verify_checksums = true});
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      all.emplace(iterator->key(), iterator->value());
    }
    EXPECT_TRUE(iterator->status().ok()) << where << ": " << iterator->status().ToString();
    return all;
  }
  // After damage to `path`. What is no table or log of keys holds nothing that could be lost.
  void Expect(const std::string& path, const Model& found) {
    if (!path.ends_with(".ldb") && !path.ends_with(".log")) {
      EXPECT_EQ(found, model) << where;
      return;
    }
    for (const auto& [key, value] : found) {
      const bool was = ever[key].contains(value) || value == "ingested";
      EXPECT_TRUE(was) << where << ": made up " << key << " = " << value;
    }
    // As many as one file holds.
    EXPECT_GE(found.size() + 40, model.size()) << where;
  }

  MemoryFileSystem whole;
  DbOptions options;
  Model model;
  std::map<std::string, std::set<std::string>> ever;
  std::string leftover;
  std::string leftover_path;
  std::string where;
};

TEST_F(RepairToolTest, AfterAnyByteThatChangedTheStoreIsWhole) {
  std::mt19937_64 random(base::TestSeed());
  const uint32_t stride = base::Stride(50);
  for (const std::string& path : Names("/db/")) {
    const uint64_t bytes = whole.Contents(path)->size();
    for (uint64_t at = 0; at < bytes && !path.ends_with("LOG"); at += stride) {
      MemoryFileSystem files;
      files.Restore(whole);
      const auto mask = static_cast<uint8_t>(random() % 4 == 0 ? 0xff : 1u << random() % 8);
      where = path + " at " + std::to_string(at) + " with " + std::to_string(mask);
      ASSERT_TRUE(files.FlipBits(path, at, mask).ok());
      Expect(path, Repaired(&files));
      if (HasFailure()) return;
    }
  }
}

TEST_F(RepairToolTest, AfterAnyCutTheStoreIsWhole) {
  const uint32_t stride = base::Stride(50);
  for (const std::string& path : Names("/db/")) {
    const uint64_t bytes = whole.Contents(path)->size();
    for (uint64_t at = 0; at < bytes && !path.ends_with("LOG"); at += stride + at % 3) {
      MemoryFileSystem files;
      files.Restore(whole);
      where = path + " cut to " + std::to_string(at);
      ASSERT_TRUE(files.Truncate(path, at).ok());
      Expect(path, Repaired(&files));
      if (HasFailure()) return;
    }
  }
}

TEST_F(RepairToolTest, AfterAnyTwoFilesThatAreGoneTheStoreIsWhole) {
  const std::vector<std::string> names = Names("/db/");
  for (const std::string& a : names) {
    for (const std::string& b : names) {
      MemoryFileSystem files;
      files.Restore(whole);
      where = a + " and " + b + " removed";
      ASSERT_TRUE(files.RemoveFile(a).ok());
      (void)files.RemoveFile(b);
      const Model found = Repaired(&files);
      const auto holds_keys = [](const std::string& path) {
        return path.ends_with(".ldb") || path.ends_with(".log");
      };
      if (a == b || !holds_keys(a) || !holds_keys(b)) Expect(holds_keys(a) ? a : b, found);
      if (HasFailure()) return;
    }
  }
}

// A manifest that reads tells which tables count, whatever else is damaged.
TEST_F(RepairToolTest, ALeftoverTableBringsNoDeletedKeyBack) {
  ASSERT_FALSE(whole.FileExists(leftover_path));
  ASSERT_TRUE(whole.SetContents(leftover_path, leftover).ok());
  ASSERT_TRUE(whole.SetContents("/db/000999.ldb", leftover).ok());
  const auto expect_none = [&](const Model& found) {
    for (int i = 10; i < 15; i++)
      EXPECT_FALSE(found.contains(ShortKey(i))) << where << ": " << ShortKey(i);
  };
  for (const std::string& path : Names("/db/")) {
    if (path == leftover_path || path == "/db/000999.ldb") continue;
    const bool is_manifest = path.find("MANIFEST") != path.npos;
    for (const int way : {0, 1, 2}) {
      MemoryFileSystem files;
      files.Restore(whole);
      where = path + ", way " + std::to_string(way);
      const uint64_t bytes = files.Contents(path)->size();
      if (way == 0 && is_manifest) continue;
      if (way == 0) (void)files.RemoveFile(path);
      if (way == 1) (void)files.Truncate(path, bytes - bytes / 50);
      if (way == 2 && bytes > 0) (void)files.FlipBits(path, bytes - 1 - bytes / 50, 1);
      if (way == 0 && path.ends_with(".ldb")) {
        ASSERT_TRUE(files.RemoveFile("/db/000999.ldb").ok());  // a lost record may have added it
      }
      expect_none(Repaired(&files));
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace weft::tool
