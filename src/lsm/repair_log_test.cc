// What a repair takes of a log whose values are logs themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "lsm/checked_options.h"
#include "lsm/log_writer.h"
#include "lsm/repair.h"
#include "lsm/string_file.h"
#include "lsm/write_batch_internal.h"
#include "weft/db.h"

namespace weft::lsm {
namespace {

std::string KeyOfPlace(int i) { return std::to_string(1000 + i); }

// A log that holds `values`, numbered from `first` on, under the keys of their places.
std::string LogOf(table::SequenceNumber first, const std::vector<std::string>& values,
                  const std::string& prefix, std::vector<size_t>* begins = nullptr) {
  std::string log;
  StringSink file(&log);
  LogWriter writer(&file);
  for (size_t i = 0; i < values.size(); i++) {
    WriteBatch batch;
    batch.Put(prefix + KeyOfPlace(static_cast<int>(i)), values[i]);
    WriteBatchInternal::SetSequence(&batch, first + i);
    if (begins != nullptr) begins->push_back(log.size());
    EXPECT_TRUE(writer.AddRecord(batch.contents()).ok());
  }
  return log;
}

std::string OnlyLog(base::MemoryFileSystem& files) {
  for (const std::string& path : files.AllFiles()) {
    if (path.ends_with(".log")) return path;
  }
  return {};
}

std::vector<std::string> Keys(const DbOptions& options) {
  std::vector<std::string> keys;
  auto db = Db::Open(options, "/db");
  EXPECT_TRUE(db.has_value()) << db.error().ToString();
  if (!db) return keys;
  const auto iterator = (*db)->NewIterator({});
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    keys.emplace_back(iterator->key());
  }
  return keys;
}

// Of the record whose value ends in them the header is lost: the next record follows them directly.
TEST(RepairLog, AValuesRecordsHideNoneOfTheLogs) {
  base::MemoryFileSystem files;
  DbOptions options;
  options.create_if_missing = true;
  options.file_system = &files;
  ASSERT_TRUE(Db::Open(options, "/db").has_value());
  const std::string path = OnlyLog(files);
  base::MemoryFileSystem fresh;
  fresh.Restore(files);
  for (const size_t records : {20, 120}) {
    for (const table::SequenceNumber first : {1'000'000'000ULL, 1ULL << 55}) {
      for (const size_t zeros : {0, 20}) {
        const std::string inner =
            LogOf(first, std::vector<std::string>(3, "f"), "foreign") + std::string(zeros, '\0');
        for (size_t hurt = 0; hurt < records; hurt += 1 + hurt / 10) {
          std::vector<std::string> values(records, std::string(600, 'v'));
          values[hurt] = std::string(900, 'v') + inner;
          std::vector<size_t> begins;
          std::string log = LogOf(1, values, "", &begins);
          log.replace(begins[hurt], 300, std::string(300, '\xff'));
          ASSERT_TRUE(files.SetContents(path, log).ok());
          ASSERT_TRUE(Repair(*CheckedOptions(options), "/db", nullptr).Run().ok());
          const std::vector<std::string> keys = Keys(options);
          EXPECT_EQ(keys.size(), records - 1) << first << " " << zeros << " " << hurt;
          EXPECT_FALSE(std::ranges::binary_search(keys, "foreign" + KeyOfPlace(0)))
              << first << " " << zeros << " " << hurt;
          files.Restore(fresh);
        }
      }
    }
  }
}

}  // namespace
}  // namespace weft::lsm
