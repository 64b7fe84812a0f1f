// A store on a disk that does not give some sector: verify says so, repair goes around it.
#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/faulty_file_system.h"
#include "base/memory_file_system.h"
#include "tool/db/commands.h"
#include "weft/db.h"

namespace weft::tool {
namespace {

using base::FileCall;
using base::FileCallKind;
using Model = std::map<std::string, std::string>;

constexpr uint64_t kSectorBytes = 512;

class UnreadableTest : public testing::Test {
 protected:
  static std::string Key(int i) { return "key" + std::to_string(10'000 + i); }
  UnreadableTest() {
    options.create_if_missing = true;
    options.file_system = &memory;
    options.compression = Compression::kNone;
    options.block_size = 1024;
    auto db = Db::Open(options, "/db");
    Put(db->get(), 0, 400);
    EXPECT_TRUE((*db)->Flush().ok());
    Put(db->get(), 400, 500);
    EXPECT_TRUE((*db)->Flush().ok());
    Put(db->get(), 500, 1300);
    (*db).reset();
    EXPECT_TRUE(memory.RemoveFile("/db/CLOSED").ok());  // as after a crash
  }
  void Put(Db* db, int from, int to) {
    for (int i = from; i < to; i++) {
      model[Key(i)] = Key(i) + std::string(100, static_cast<char>('a' + i % 26));
      EXPECT_TRUE(db->Put({}, Key(i), model[Key(i)]).ok());
    }
  }
  std::vector<std::string> Names(const std::string& part) const {
    std::vector<std::string> found;
    for (const std::string& path : memory.AllFiles()) {
      if (path.starts_with("/db/") && path.find("/lost/") == path.npos &&
          path.find(part) != path.npos) {
        found.push_back(path);
      }
    }
    return found;
  }
  // Reads that meet the sector fail, of `path` and of its second names.
  void LoseSector(const std::string& path, uint64_t sector) {
    const std::string name = path.substr(path.rfind('/'));
    faulty.SetHook([=](const FileCall& call) {
      const bool reads = call.kind == FileCallKind::kReadAt && call.path.ends_with(name) &&
                         call.offset < (sector + 1) * kSectorBytes &&
                         call.offset + call.bytes > sector * kSectorBytes;
      if (call.kind == FileCallKind::kLinkFile && sector % 2 == 1) {
        return Status(Code::kUnsupported, "link " + call.path);  // so that it is copied
      }
      const bool in_order = call.kind == FileCallKind::kRead && call.path.ends_with(name);
      if (!reads && !in_order) return Status();
      return Status(Code::kIoError, "read " + call.path + ": Input/output error");
    });
  }
  Exit Run(const std::vector<std::string>& arguments) {
    std::ostringstream out;
    std::ostringstream err;
    const Exit exit = RunDb({&faulty, out, err}, arguments);
    said = out.str() + err.str();
    return exit;
  }
  // What the store holds when it is opened on a disk that reads again.
  Model All() {
    faulty.SetHook(nullptr);
    EXPECT_EQ(Run({"verify", "/db"}), Exit::kOk) << said;
    Model all;
    options.paranoid_checks = true;
    auto db = Db::Open(options, "/db");
    EXPECT_TRUE(db.has_value()) << db.error().ToString();
    if (!db) return all;
    const auto iterator = (*db)->NewIterator({.verify_checksums = true});
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      all.emplace(iterator->key(), iterator->value());
    }
    EXPECT_TRUE(iterator->status().ok());
    return all;
  }

  base::MemoryFileSystem memory;
  base::FaultyFileSystem faulty{&memory};
  DbOptions options;
  Model model;
  std::string said;
};

TEST_F(UnreadableTest, ASectorCostsWhatLiesThereAndNoMore) {
  const auto whole = memory.Copy();
  for (const std::string& path : Names("0")) {  // tables, the log, and the manifest
    const uint64_t bytes = whole->Contents(path)->size();
    for (uint64_t sector = 0; sector * kSectorBytes < bytes; sector += 7) {
      SCOPED_TRACE(path + ", sector " + std::to_string(sector));
      memory.Restore(*whole);
      LoseSector(path, sector);
      EXPECT_EQ(Run({"verify", "/db"}), Exit::kDamaged) << said;
      EXPECT_NE(said.find("Input/output error"), said.npos) << said;
      ASSERT_EQ(Run({"repair", "/db"}), Exit::kOk) << said;
      EXPECT_NE(said.find("cannot be read"), said.npos) << said;
      const Model left = All();
      for (const auto& [key, value] : left) ASSERT_EQ(value, model[key]);
      // Of a table a block or two, of a log a block of the log's.
      const size_t lost = path.ends_with(".ldb") ? 20 : path.ends_with(".log") ? 300 : 0;
      EXPECT_GE(left.size() + lost, model.size());
      EXPECT_FALSE(memory.FileExists(path));
      EXPECT_TRUE(memory.FileExists("/db/lost" + path.substr(path.rfind('/'))));
      if (HasFailure()) return;
    }
  }
}

TEST_F(UnreadableTest, CurrentThatCannotBeReadIsDoneWithout) {
  LoseSector("/CURRENT", 0);
  EXPECT_EQ(Run({"verify", "/db"}), Exit::kDamaged) << said;
  ASSERT_EQ(Run({"repair", "/db"}), Exit::kOk) << said;
  EXPECT_EQ(All(), model);
}

TEST_F(UnreadableTest, AFileThatDoesNotOpenIsKeptInLost) {
  const auto whole = memory.Copy();
  for (const std::string& path : Names("0")) {
    SCOPED_TRACE(path);
    memory.Restore(*whole);
    faulty.SetHook([=](const FileCall& call) {
      const bool opens = call.kind == FileCallKind::kNewRandomAccessFile ||
                         call.kind == FileCallKind::kNewSequentialFile ||
                         call.kind == FileCallKind::kGetFileSize;
      if (!opens || call.path != path) return Status();
      return Status(Code::kIoError, "open " + path + ": Input/output error");
    });
    EXPECT_EQ(Run({"verify", "/db"}), Exit::kDamaged) << said;
    ASSERT_EQ(Run({"repair", "/db"}), Exit::kOk) << said;
    EXPECT_NE(said.find(path + ": Input/output error"), said.npos) << said;
    EXPECT_TRUE(memory.FileExists("/db/lost" + path.substr(path.rfind('/'))));
    const Model left = All();
    for (const auto& [key, value] : left) ASSERT_EQ(value, model[key]);
    EXPECT_GE(left.size(), path.find("MANIFEST") != path.npos ? model.size() : 400);
  }
}

// Rights, descriptors and memory are none of the file: nothing is given up for want of them.
TEST_F(UnreadableTest, AFileThatMayNotBeReadEndsIt) {
  ASSERT_TRUE(memory.SetContents("/db/CLOSED", "x").ok());
  const auto whole = memory.Copy();
  std::vector<std::string> paths = Names("0");
  paths.insert(paths.end(), {"/db/CURRENT", "/db/CLOSED"});
  for (const std::string& path : paths) {
    for (const int error : {EACCES, EPERM, EMFILE, ENFILE, ENOMEM}) {
      for (const bool opening : {true, false}) {
        SCOPED_TRACE(path + ", " + std::to_string(error) + (opening ? ", opening" : ", reading"));
        if (!opening && path.ends_with("CLOSED")) continue;
        memory.Restore(*whole);
        faulty.SetHook([=](const FileCall& call) {
          const bool opens = call.kind == FileCallKind::kNewRandomAccessFile ||
                             call.kind == FileCallKind::kNewSequentialFile;
          const bool reads = call.kind == FileCallKind::kReadAt || call.kind == FileCallKind::kRead;
          if (call.path != path || !(opening ? opens : reads)) return Status();
          return Status::FromErrno("open " + path, error);
        });
        EXPECT_EQ(Run({"verify", "/db"}), Exit::kCannotRun) << said;
        EXPECT_EQ(Run({"repair", "/db"}), Exit::kCannotRun) << said;
        EXPECT_NE(said.find(path), said.npos) << said;
        EXPECT_EQ(*memory.Contents(path), *whole->Contents(path));
      }
    }
  }
  ASSERT_TRUE(memory.RemoveFile("/db/CLOSED").ok());
  EXPECT_EQ(All(), model);
}

TEST_F(UnreadableTest, AFolderInAFilesPlaceGoesToLost) {
  const auto whole = memory.Copy();
  for (const std::string& path : Names("0")) {
    SCOPED_TRACE(path);
    memory.Restore(*whole);
    ASSERT_TRUE(memory.RemoveFile(path).ok());
    ASSERT_TRUE(memory.CreateDir(path).ok());
    ASSERT_TRUE(memory.SetContents(path + "/x", "x").ok());
    EXPECT_EQ(Run({"verify", "/db"}), Exit::kDamaged) << said;
    ASSERT_EQ(Run({"repair", "/db"}), Exit::kOk) << said;
    EXPECT_TRUE(memory.FileExists("/db/lost" + path.substr(path.rfind('/')) + "/x"));
    EXPECT_FALSE(memory.FileExists(path));
    const Model left = All();
    EXPECT_GE(left.size(), path.find("MANIFEST") != path.npos ? model.size() : 400);
  }
}

// Nothing that could not be written or listed is taken for damage.
TEST_F(UnreadableTest, ADiskThatIsFullEndsARepair) {
  LoseSector(Names(".ldb").front(), 1);
  faulty.FillDiskAfter(1000);
  EXPECT_EQ(Run({"repair", "/db"}), Exit::kCannotRun) << said;
  faulty.Heal();
  EXPECT_EQ(All(), model);
}

}  // namespace
}  // namespace weft::tool
