#include "lsm/foreign_store.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/faulty_file_system.h"
#include "base/memory_file_system.h"
#include "base/posix_fd.h"
#include "lsm/log_writer.h"
#include "lsm/string_file_test_kit.h"
#include "lsm/write_batch_internal.h"
#include "weft/db.h"

namespace weft::lsm {
namespace {

// Gives each file that tells RocksDB's stores to `check`: its name, in a folder that has it.
void WithEachFileOfRocksDbs(base::MemoryFileSystem* all,
                            const std::function<void(const std::string&)>& check) {
  base::MemoryFileSystem& files = *all;
  // What RocksDB 7.8 writes: the manifest's first records, the ends of files.
  const std::string manifest(
      "\x56\xf9\xb8\xf8\x1c\0\x01\x01\x1aleveldb.BytewiseComparator"
      "\xf4\x03\x0c\x5a\x04\0\x01\x02\0\x04\0",
      46);
  // A log number, and a table in its fourth version.
  std::string of_their_own;
  StringSink file(&of_their_own);
  ASSERT_TRUE(LogWriter(&file, manifest.size())
                  .AddRecord(std::string("\x02\x08\x09\0\x03\x0a\x04\x64\x67\0\x09", 11))
                  .ok());
  const std::string table = std::string(1000, 'x') + "\xf7\xcf\xf4\x85\xb7\x41\xe2\x88";
  const std::map<std::string, std::string> telling = {
      {"OPTIONS-000007", "# This is a RocksDB option file.\n#\n"},
      {"IDENTITY", "3b1b1188-7af2-4957-96bb-f5fd649733e0"},
      {"000010.blob", std::string("\x37\x8f\x24\0\x01\0\0\0", 8)},
      {"000009.sst", table},
      {"MANIFEST-000005", manifest + of_their_own},
  };
  for (const auto& [name, contents] : telling) {
    files.Restore(base::MemoryFileSystem());
    ASSERT_TRUE(files.CreateDir("/db").ok());
    if (name != "000009.sst") {
      ASSERT_TRUE(files.SetContents("/db/CURRENT", "MANIFEST-000005\n").ok());
      ASSERT_TRUE(files.SetContents("/db/MANIFEST-000005", manifest).ok());
    }
    ASSERT_TRUE(files.SetContents("/db/000008.log", "").ok());
    ASSERT_TRUE(files.SetContents("/db/LOG", "theirs").ok());
    ASSERT_TRUE(files.SetContents("/db/" + name, contents).ok());
    const std::vector<std::string> before = files.AllFiles();
    check(name);
    EXPECT_EQ(files.AllFiles(), before) << name;
    EXPECT_EQ(*files.Contents("/db/LOG"), "theirs");
  }
}

// What they say: 0 repairs, 1 opens, 2 opens for reading.
constexpr int kWays = 3;
Status TakeAsOurs(const DbOptions& options, int way) {
  if (way == 0) return RepairDb("/db", options);
  auto opened = way == 1 ? Db::Open(options, "/db") : Db::OpenReadOnly(options, "/db");
  return opened ? Status() : opened.error();
}

TEST(ForeignStore, OfRocksDbIsNamedAndLeftAlone) {
  base::MemoryFileSystem files;
  DbOptions options;
  options.file_system = &files;
  WithEachFileOfRocksDbs(&files, [&](const std::string& name) {
    for (const bool create : {false, true}) {
      options.create_if_missing = create;
      for (int way = 0; way < kWays; way++) {
        const Status status = TakeAsOurs(options, way);
        EXPECT_EQ(status.code(), Code::kInvalidArgument) << name << ": " << status.ToString();
        EXPECT_NE(status.ToString().find("RocksDB"), std::string::npos) << status.ToString();
      }
    }
  });
}

TEST(ForeignStore, OfRocksDbIsLeftAloneWhereADescriptorIsMissing) {
  base::MemoryFileSystem files;
  base::FaultyFileSystem faulty(&files);
  DbOptions options;
  options.file_system = &faulty;
  options.create_if_missing = true;
  WithEachFileOfRocksDbs(&files, [&](const std::string& name) {
    bool was_missing = true;
    for (int before = 0; was_missing; before++) {
      was_missing = false;
      for (int way = 0; way < kWays; way++) {
        int calls = 0;
        faulty.SetHook([&, before](const base::FileCall& call) {
          if (call.kind != base::FileCallKind::kGetChildren &&
              call.kind != base::FileCallKind::kNewSequentialFile &&
              call.kind != base::FileCallKind::kNewRandomAccessFile) {
            return Status();
          }
          if (calls++ != before) return Status();
          was_missing = true;
          return base::PosixError("open", call.path, EMFILE);
        });
        const Status status = TakeAsOurs(options, way);
        const bool is_refused =
            status.code() == Code::kInvalidArgument || status.code() == Code::kRetryLater;
        EXPECT_TRUE(is_refused) << name << ", " << before << ": " << status.ToString();
      }
    }
  });
}

// Fields of LevelDB's, then one that only RocksDB has: a table in its fourth version.
TEST(ForeignStore, AnEditIsRocksDbsByAFieldOfItsOwn) {
  EXPECT_FALSE(IsRocksDbEdit(""));
  EXPECT_FALSE(IsRocksDbEdit(std::string("\x02\x08\x09\0\x03\x0a\x04\x64", 8)));
  EXPECT_TRUE(IsRocksDbEdit(std::string("\x02\x08\x09\0\x03\x0a\x04\x64\x67\0\x09", 11)));
  EXPECT_FALSE(IsRocksDbEdit("\x08"));                                    // of neither
  EXPECT_TRUE(IsRocksDbEdit(std::string("\x81\x40\x02id\x01\x01x", 8)));  // the store's id
}

// A log's records begin with their numbers.
TEST(ForeignStore, AWriteBatchIsNoEditOfRocksDbs) {
  WriteBatch batch;
  batch.Put("key", "value");
  for (const table::SequenceNumber first :
       {10ULL, 100ULL, 203ULL, 8193ULL, 0x0a0002ULL, 0x67000302ULL}) {
    WriteBatchInternal::SetSequence(&batch, first);
    EXPECT_FALSE(IsRocksDbEdit(batch.contents())) << first;
  }
}

TEST(ForeignStore, AStrayManifestSaysNothingOfAStoreThatIsWhole) {
  base::MemoryFileSystem files;
  DbOptions options;
  options.file_system = &files;
  options.create_if_missing = true;
  {
    auto db = Db::Open(options, "/db");
    ASSERT_TRUE(db.has_value());
    for (int i = 0; i < 20; i++) ASSERT_TRUE((*db)->Put({}, "key" + std::to_string(i), "v").ok());
  }
  std::string log;
  for (const std::string& path : files.AllFiles()) {
    if (path.ends_with(".log")) log = *files.Contents(path);
  }
  ASSERT_FALSE(log.empty());
  std::string of_rocksdb;
  StringSink file(&of_rocksdb);
  ASSERT_TRUE(
      LogWriter(&file).AddRecord(std::string("\x02\x08\x09\0\x03\x0a\x04\x64\x67\0\x09", 11)).ok());
  for (const std::string& stray : {log, of_rocksdb}) {
    ASSERT_TRUE(files.SetContents("/db/MANIFEST-000099", stray).ok());
    const Status status = RepairDb("/db", options);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_FALSE(files.FileExists("/db/MANIFEST-000099"));
    auto db = Db::Open(options, "/db");
    ASSERT_TRUE(db.has_value()) << db.error().ToString();
    std::string value;
    for (int i = 0; i < 20; i++) {
      EXPECT_TRUE((*db)->Get({}, "key" + std::to_string(i), &value).ok()) << i;
    }
  }
}

}  // namespace
}  // namespace weft::lsm
