// What a repair takes of a manifest whose keys are copies of records.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/coding.h"
#include "base/memory_file_system.h"
#include "lsm/checked_options.h"
#include "lsm/file_names.h"
#include "lsm/log_format.h"
#include "lsm/log_reader.h"
#include "lsm/log_writer.h"
#include "lsm/repair.h"
#include "lsm/string_file_test_kit.h"
#include "lsm/version_edit.h"
#include "weft/db.h"

namespace weft::lsm {
namespace {

std::string Fragment(const VersionEdit& edit) {
  std::string record;
  edit.EncodeTo(&record);
  std::string fragment;
  StringSink file(&fragment);
  EXPECT_TRUE(LogWriter(&file).AddRecord(record).ok());
  return fragment;
}

// Of the record that holds the byte at `at`.
size_t BeginOfRecord(const std::string& manifest, size_t at) {
  StringSource file(manifest);
  LogReader reader(&file, nullptr, LogReader::Mode::kStop);
  std::string_view record;
  while (reader.Read(&record)) {
    if (reader.valid_bytes() > at) return reader.record_offset();
  }
  ADD_FAILURE();
  return 0;
}

class RepairEdits : public testing::Test {
 protected:
  // A store of a, b and c in a table, and of z in another with `ghost` within a key. Of the record
  // that adds it the header is lost, and `more` bytes behind.
  void Run(const VersionEdit& ghost, size_t more, const std::string& what) {
    base::MemoryFileSystem files;
    DbOptions options;
    options.create_if_missing = true;
    options.file_system = &files;
    {
      auto db = Db::Open(options, "/db");
      ASSERT_TRUE(db.has_value());
      for (const char* key : {"a", "b", "c"}) ASSERT_TRUE((*db)->Put({}, key, "v").ok());
      ASSERT_TRUE((*db)->CompactRange(nullptr, nullptr).ok());
      uint64_t table = 0;
      for (const std::string& path : files.AllFiles()) {
        ParsedFileName name;
        if (!ParseFileName(path.substr(path.rfind('/') + 1), &name)) continue;
        if (name.type == FileType::kTable) table = name.number;
      }
      VersionEdit with = ghost;
      for (int level = 0; level < 7; level++) with.RemoveFile(level, table);
      // Behind it a header that leads to the key's end: 8 bytes are the internal key's.
      key_ = Fragment(with) + std::string("\x78\x56\x34\x12\x08\0\x01", 7);
      ASSERT_TRUE((*db)->Put({}, key_, "v").ok());
      ASSERT_TRUE((*db)->Put({}, "z", "v").ok());
      ASSERT_TRUE((*db)->Flush().ok());
    }
    auto number = ReadCurrentFile(&files, "/db");
    ASSERT_TRUE(number.has_value());
    const std::string path = ManifestFileName("/db", *number);
    std::string manifest = *files.Contents(path);
    const size_t at = manifest.rfind(key_);
    ASSERT_NE(at, std::string::npos);
    manifest.replace(BeginOfRecord(manifest, at), kLogHeaderBytes + more,
                     std::string(kLogHeaderBytes + more, '\xff'));
    ASSERT_TRUE(files.SetContents(path, manifest).ok());
    const Status status = Repair(*CheckedOptions(options), "/db", nullptr).Run();
    ASSERT_TRUE(status.ok()) << what << ": " << status.ToString();
    auto db = Db::Open(options, "/db");
    ASSERT_TRUE(db.has_value()) << what << ": " << db.error().ToString();
    for (const std::string& key :
         {std::string("a"), std::string("b"), std::string("c"), std::string("z"), key_}) {
      std::string value;
      EXPECT_TRUE((*db)->Get({}, key, &value).ok()) << what << ": " << key.substr(0, 1);
    }
  }

  std::string key_;
};

TEST_F(RepairEdits, AKeysRecordsAreNoneOfTheManifest) {
  for (const size_t more : {0, 4}) {
    VersionEdit ghost;
    const std::string what = std::to_string(more);
    Run(ghost, more, what + ", no number");
    ghost.log_number = 2;
    ghost.next_file_number = 3;
    ghost.last_sequence = 1;
    Run(ghost, more, what + ", numbers that go back");
    ghost.next_file_number = 1'000'000;
    ghost.log_number = 999'999;
    Run(ghost, more, what + ", numbers that are too high");
    ghost.comparator = "another";
    Run(ghost, more, what + ", another comparator");
  }
}

}  // namespace
}  // namespace weft::lsm
