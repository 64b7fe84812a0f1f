// What a store says of damage to its logs, its manifest and the marks beside them: it opens with
// all that was written, or says which file is damaged, and loses nothing by that.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "lsm/db_test_kit.h"

namespace weft {
namespace {

class DbDamageTest : public DbFixture {
 protected:
  class Listener final : public EventListener {
   public:
    void OnDamage(const std::string& file, uint64_t, const Status&) override {
      damaged.push_back(file);
    }
    std::vector<std::string> damaged;
  };

  std::string Find(std::string_view end) {
    for (const std::string& path : files.AllFiles()) {
      if (path.ends_with(end) && path.find("/lost/") == path.npos) return path;
    }
    ADD_FAILURE() << "no file " << end;
    return "";
  }
  // 30 keys in a log, as kill -9 leaves them.
  void FillAndKill() {
    Open();
    for (int i = 10; i < 40; i++) ASSERT_TRUE(db->Put({}, std::to_string(i), "value").ok());
    const auto left = files.Copy();
    Close();
    files.Restore(*left);
  }
  Status OpenError(bool read_only = false) {
    auto opened = read_only ? Db::OpenReadOnly(options, "/db") : Db::Open(options, "/db");
    return opened ? Status() : opened.error();
  }
  size_t Keys(Db* store) {
    size_t keys = 0;
    const auto entries = store->NewIterator({});
    for (entries->SeekToFirst(); entries->Valid(); entries->Next()) keys++;
    EXPECT_TRUE(entries->status().ok()) << entries->status().ToString();
    return keys;
  }
};

TEST_F(DbDamageTest, ALogThatIsDamagedBeforeWholeRecordsIsRefused) {
  FillAndKill();
  const std::string log = Find(".log");
  std::string contents = *files.Contents(log);
  std::fill_n(contents.begin() + 300, 60, '\xee');
  ASSERT_TRUE(files.SetContents(log, contents).ok());
  for (const bool read_only : {true, false, false}) {
    const Status status = OpenError(read_only);
    EXPECT_EQ(status.code(), Code::kCorruption) << status.ToString();
    EXPECT_NE(status.ToString().find(log + ": damaged at byte"), std::string::npos)
        << status.ToString();
    EXPECT_NE(status.ToString().find("repair the store"), std::string::npos);
  }
  EXPECT_TRUE(*files.Contents(log) == contents) << "it stays";
  const std::string kept = "/db/lost" + log.substr(log.rfind('/'));
  ASSERT_TRUE(files.FileExists(kept));
  EXPECT_TRUE(*files.Contents(kept) == contents);

  ASSERT_TRUE(RepairDb("/db", options).ok());
  EXPECT_FALSE(files.FileExists(log));
  Open();
  EXPECT_GE(Keys(db.get()), 9u) << "what is whole before it";
}

TEST_F(DbDamageTest, ADamagedLogIsPassedOverWhereThatIsAskedFor) {
  FillAndKill();
  const std::string log = Find(".log");
  std::string contents = *files.Contents(log);
  contents[300] ^= 1;
  ASSERT_TRUE(files.SetContents(log, contents).ok());
  options.ignore_damaged_logs = true;
  options.paranoid_checks = true;
  EXPECT_EQ(OpenError().code(), Code::kCorruption) << "paranoid it counts for nothing";
  options.paranoid_checks = false;
  auto listener = std::make_shared<Listener>();
  options.listeners = {listener};
  for (const bool read_only : {true, false}) {
    auto opened = read_only ? Db::OpenReadOnly(options, "/db") : Db::Open(options, "/db");
    ASSERT_TRUE(opened.has_value()) << opened.error().ToString();
    const size_t keys = Keys(opened->get());
    EXPECT_GT(keys, 0u);
    EXPECT_LT(keys, 30u);
    opened->reset();
    EXPECT_EQ(listener->damaged, std::vector{log});
    listener->damaged.clear();
  }
  options.listeners.clear();
}

// A flipped bit costs no record but the one that it is in, and that one only where its bytes are.
TEST_F(DbDamageTest, ARepairKeepsEveryWholeRecordOfALog) {
  FillAndKill();
  const auto left = files.Copy();
  const std::string log = Find(".log");
  const std::string contents = *files.Contents(log);
  const size_t record = contents.find("\x02\x31\x33\x05value") - 20;  // of key 13, its header
  ASSERT_EQ(contents[record + 6], 1);
  struct Case {
    size_t at;
    int bits;
    size_t bytes;
    size_t lost;
  };
  for (const Case& each :
       {Case{4, 1, 1, 0}, Case{4, 0x40, 1, 0}, Case{5, 16, 1, 0}, Case{5, 0x80, 1, 0},
        Case{6, 1, 1, 0}, Case{6, 2, 1, 0}, Case{6, 0x40, 1, 0}, Case{0, 1, 1, 1},
        Case{15, 1, 1, 1}, Case{0, 0x55, 20, 1}, Case{4, 0x55, 20, 1}}) {
    SCOPED_TRACE(std::to_string(each.at) + " " + std::to_string(each.bits));
    std::string damaged = contents;
    for (size_t i = 0; i < each.bytes; i++) {
      damaged[record + each.at + i] ^= static_cast<char>(each.bits);
    }
    for (const size_t zeros : {0, 100'000}) {
      files.Restore(*left);
      ASSERT_TRUE(files.SetContents(log, damaged + std::string(zeros, '\0')).ok());
      EXPECT_EQ(OpenError().code(), Code::kCorruption);
      ASSERT_TRUE(RepairDb("/db", options).ok());
      Open();
      EXPECT_EQ(Keys(db.get()), 30 - each.lost);
      Close();
    }
  }
}

TEST_F(DbDamageTest, AReaderPassesOverALogThatIsNotAsItWasClosed) {
  Open();
  for (int i = 10; i < 40; i++) ASSERT_TRUE(db->Put({}, std::to_string(i), "value").ok());
  Close();
  const std::string log = Find(".log");
  ASSERT_TRUE(files.Truncate(log, files.Contents(log)->size() - 3).ok());
  options.ignore_damaged_logs = true;
  EXPECT_EQ(OpenError().code(), Code::kCorruption) << "what was closed is whole or damaged";
  auto listener = std::make_shared<Listener>();
  options.listeners = {listener};
  auto opened = Db::OpenReadOnly(options, "/db");
  ASSERT_TRUE(opened.has_value()) << opened.error().ToString();
  EXPECT_EQ(Keys(opened->get()), 29u);
  opened->reset();
  EXPECT_EQ(listener->damaged, std::vector{log});
  options.listeners.clear();
}

// The manifest says 0 where there is no log before the first.
TEST_F(DbDamageTest, ALogOfNumberZeroIsNoneOfTheStores) {
  Open();
  ASSERT_TRUE(db->Put({}, "key", "old").ok());
  const std::string old = *files.Contents(Find(".log"));
  ASSERT_TRUE(db->Put({}, "key", "new").ok());
  ASSERT_TRUE(db->Flush().ok());
  Close();
  for (const std::string& log : {old, std::string()}) {
    ASSERT_TRUE(files.SetContents("/db/000000.log", log).ok());
    EXPECT_TRUE(OpenError(true).ok());
    Open();
    EXPECT_EQ(Get("key"), "new");
    Close();
    ASSERT_TRUE(files.SetContents("/db/000000.log", log).ok());
    ASSERT_TRUE(RepairDb("/db", options).ok());
    Open();
    EXPECT_EQ(Get("key"), "new");
    Close();
  }
}

TEST_F(DbDamageTest, ALogThatWasCutIsNoDamage) {
  FillAndKill();
  const std::string log = Find(".log");
  const std::string contents = *files.Contents(log);
  auto listener = std::make_shared<Listener>();
  options.listeners = {listener};
  for (size_t bytes = 0; bytes <= contents.size(); bytes++) {
    const auto before = files.Copy();
    ASSERT_TRUE(files.Truncate(log, bytes).ok());
    EXPECT_TRUE(OpenError(true).ok()) << bytes;
    EXPECT_TRUE(OpenError().ok()) << bytes;
    EXPECT_TRUE(listener->damaged.empty()) << bytes;
    files.Restore(*before);
  }
  options.listeners.clear();
}

// A store whose last edit brought tables from no log, so that nothing else shows that it is lost.
class DbManifestDamageTest : public DbDamageTest {
 protected:
  void FillAndClose() {
    Open();
    ASSERT_TRUE(db->Put({}, "a", "in a table").ok());
    ASSERT_TRUE(db->Flush().ok());
    ASSERT_TRUE(db->Put({}, "b", "in the log").ok());
    for (const char* key : {"c", "d"}) {
      auto table = TableWriter::Open(options, "/table");
      ASSERT_TRUE(table.has_value());
      ASSERT_TRUE((*table)->Put(key, "ingested").ok());
      ASSERT_TRUE((*table)->Finish().ok());
      ASSERT_TRUE(db->Ingest(std::vector<std::string>{"/table"}, true).ok());
    }
    ASSERT_TRUE(db->Put({}, "e", "in the log").ok());
    killed = files.Copy();
    Close();
  }
  // What a damaged store does: it says what is damaged, or has everything.
  void ExpectRefusedOrWhole(const std::string& path, const std::string& how) {
    for (const bool paranoid : {false, true}) {
      for (const bool read_only : {true, false}) {
        const auto before = files.Copy();
        options.paranoid_checks = paranoid;
        auto opened = read_only ? Db::OpenReadOnly(options, "/db") : Db::Open(options, "/db");
        if (opened) {
          EXPECT_EQ(Keys(opened->get()), 5u) << path << how;
        } else {
          refused++;
          EXPECT_EQ(opened.error().code(), Code::kCorruption)
              << path << how << ": " << opened.error().ToString();
        }
        opened = Status();
        files.Restore(*before);
      }
    }
    options.paranoid_checks = false;
  }
  void ExpectFlipsRefusedOrWhole(const std::string& path) {
    const size_t bytes = files.Contents(path)->size();
    for (size_t at = 0; at < bytes; at++) {
      const auto mask = static_cast<uint8_t>(1u << at % 8);
      ASSERT_TRUE(files.FlipBits(path, at, mask).ok());
      ExpectRefusedOrWhole(path, " flipped at " + std::to_string(at));
      ASSERT_TRUE(files.FlipBits(path, at, mask).ok());
    }
  }
  void ExpectCutsRefusedOrWhole(const std::string& path) {
    const std::string contents = *files.Contents(path);
    for (size_t bytes = 0; bytes < contents.size(); bytes++) {
      ASSERT_TRUE(files.SetContents(path, contents.substr(0, bytes)).ok());
      ExpectRefusedOrWhole(path, " cut to " + std::to_string(bytes));
      ASSERT_TRUE(files
                      .SetContents(path, contents.substr(0, bytes) +
                                             std::string(contents.size() - bytes, '\0'))
                      .ok());
      ExpectRefusedOrWhole(path, " with zeros from " + std::to_string(bytes));
    }
    ASSERT_TRUE(files.SetContents(path, contents).ok());
  }
  std::string Manifest() {
    const std::string current = *files.Contents("/db/CURRENT");
    return "/db/" + current.substr(0, current.size() - 1);
  }

  std::unique_ptr<base::MemoryFileSystem> killed;
  int refused = 0;
};

TEST_F(DbManifestDamageTest, OfAClosedStoreNothingIsTakenForATornEnd) {
  FillAndClose();
  ExpectFlipsRefusedOrWhole(Manifest());
  ExpectCutsRefusedOrWhole(Manifest());
  EXPECT_GT(refused, 0);
  ExpectFlipsRefusedOrWhole("/db/CURRENT");
  ExpectCutsRefusedOrWhole("/db/CURRENT");
  refused = 0;
  ExpectFlipsRefusedOrWhole("/db/CLOSED");
  ExpectCutsRefusedOrWhole("/db/CLOSED");
  EXPECT_EQ(refused, 0) << "it holds nothing of the store's";
}

// Where a log and its mark are damaged both, what is whole in the log stays.
TEST_F(DbManifestDamageTest, OfAKilledStoreOnlyACutIsTakenForATornEnd) {
  FillAndClose();
  files.Restore(*killed);
  ExpectFlipsRefusedOrWhole(Manifest());
}

// Where the end that is lost ends with a record, too.
TEST_F(DbManifestDamageTest, ARepairKeepsWhatAClosedStoreHad) {
  FillAndClose();
  const std::string manifest = Manifest();
  const std::string contents = *files.Contents(manifest);
  const auto whole = files.Copy();
  for (size_t bytes = contents.size() - 1; bytes > contents.size() / 2; bytes--) {
    ASSERT_TRUE(files.Truncate(manifest, bytes).ok());
    EXPECT_EQ(OpenError().code(), Code::kCorruption) << bytes;
    ASSERT_TRUE(RepairDb("/db", options).ok()) << bytes;
    Open();
    EXPECT_EQ(Keys(db.get()), 5u) << bytes;
    Close();
    files.Restore(*whole);
  }
}

TEST_F(DbManifestDamageTest, TablesThatATornManifestDoesNotNameAreKept) {
  FillAndClose();
  files.Restore(*killed);
  const std::string manifest = Manifest();
  ASSERT_TRUE(files.Truncate(manifest, files.Contents(manifest)->size() - 4).ok());
  std::vector<std::string> tables;
  for (const std::string& path : files.AllFiles()) {
    if (path.ends_with(".ldb")) tables.push_back(path.substr(path.rfind('/')));
  }
  Open();
  EXPECT_EQ(Keys(db.get()), 4u);
  size_t kept = 0;
  for (const std::string& name : tables) {
    const bool is_lost = files.FileExists("/db/lost" + name);
    EXPECT_TRUE(is_lost || files.FileExists("/db" + name)) << name;
    kept += is_lost;
  }
  EXPECT_EQ(kept, 1u);
}

TEST_F(DbManifestDamageTest, AManifestOfManyRecordsIsKnownByItsEnds) {
  Open();
  for (int i = 0; i < 200; i++) {
    ASSERT_TRUE(db->Put({}, std::to_string(i), "value").ok());
    ASSERT_TRUE(db->Flush().ok());
  }
  Close();
  const std::string manifest = Manifest();
  const std::string contents = *files.Contents(manifest);
  for (size_t bytes = contents.size() - 1; bytes > contents.size() / 10; bytes -= 7) {
    ASSERT_TRUE(files.SetContents(manifest, contents.substr(0, bytes)).ok());
    EXPECT_EQ(OpenError().code(), Code::kCorruption) << bytes;
  }
}

// Two stores of which all manifests say the same: a mark counts where it was left.
TEST_F(DbManifestDamageTest, AnotherStoresMarkSaysNothing) {
  for (const bool reuse : {false, true}) {
    options.reuse_logs = reuse;
    for (const int more : {0, 1, 5}) {  // manifests' records in the other store
      files.Restore(base::MemoryFileSystem());
      Open();
      for (int i = 0; i < more; i++) {
        ASSERT_TRUE(db->Put({}, std::to_string(i), "another value").ok());
        ASSERT_TRUE(db->Flush().ok());
      }
      ASSERT_TRUE(db->Put({}, "in the log", "of another length").ok());
      Close();
      Open();
      Close();
      const std::string mark = *files.Contents("/db/CLOSED");
      files.Restore(base::MemoryFileSystem());
      Open();
      ASSERT_TRUE(db->Put({}, "key", "value").ok());
      const auto killed_now = files.Copy();
      Close();
      files.Restore(*killed_now);
      for (int times = 0; times < 3; times++) {
        ASSERT_TRUE(files.SetContents("/db/CLOSED", mark).ok());
        Open();
        EXPECT_EQ(Get("key"), "value") << reuse << more;
        Close();
      }
    }
  }
}

// As LevelDB, which goes on in a manifest and a log with reuse_logs, leaves it.
TEST_F(DbManifestDamageTest, AMarkThatWasOutgrownSaysWhatItSaid) {
  options.reuse_logs = true;
  FillAndClose();
  const std::string mark = *files.Contents("/db/CLOSED");
  Open();
  ASSERT_TRUE(db->Put({}, "f", "in the log").ok());
  ASSERT_TRUE(db->Flush().ok());
  ASSERT_TRUE(db->Put({}, "g", "in the log").ok());
  const auto left = files.Copy();
  Close();
  files.Restore(*left);
  ASSERT_EQ(*files.Contents("/db/CLOSED"), mark);
  Open();
  EXPECT_EQ(Keys(db.get()), 7u);
}

// Two stores of one history but for what is in the log: the same manifest, byte for byte.
TEST_F(DbManifestDamageTest, TheMarkOfAnotherStoreSaysNothing) {
  Open();
  for (int i = 0; i < 50; i++) ASSERT_TRUE(db->Put({}, std::to_string(i), "long").ok());
  Close();
  const std::string mark = *files.Contents("/db/CLOSED");
  for (const std::string& path : files.AllFiles()) ASSERT_TRUE(files.RemoveFile(path).ok());
  Open();
  ASSERT_TRUE(db->Put({}, "key", "short").ok());
  const auto left = files.Copy();
  Close();
  files.Restore(*left);
  ASSERT_TRUE(files.SetContents("/db/CLOSED", mark).ok());
  Open();
  EXPECT_EQ(Get("key"), "short");
  // And one whose manifest differs.
  ASSERT_TRUE(db->Flush().ok());
  ASSERT_TRUE(db->Put({}, "other", "short").ok());
  const auto later = files.Copy();
  Close();
  files.Restore(*later);
  ASSERT_TRUE(files.SetContents("/db/CLOSED", mark).ok());
  Open();
  EXPECT_EQ(Get("other"), "short");
}

}  // namespace
}  // namespace weft
