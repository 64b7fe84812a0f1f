// lsm/version_test_kit.h: a folder in memory with real tables, for tests of versions.
//
// Threads   one at a time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/faulty_file_system.h"
#include "base/memory_file_system.h"
#include "base/mutex.h"
#include "lsm/file_names.h"
#include "lsm/table_cache.h"
#include "lsm/version_set.h"
#include "table/internal_key.h"
#include "table/table_builder.h"
#include "weft/db_options.h"

namespace weft::lsm {

inline std::string ValueKey(std::string_view user_key, table::SequenceNumber sequence) {
  return table::MakeInternalKey(user_key, sequence, table::ValueType::kValue);
}
inline std::string DeletionKey(std::string_view user_key, table::SequenceNumber sequence) {
  return table::MakeInternalKey(user_key, sequence, table::ValueType::kDeletion);
}

struct ByInternalKey {
  const table::InternalComparator* comparator;
  bool operator()(const std::string& a, const std::string& b) const {
    return comparator->Compare(a, b) < 0;
  }
};

class VersionFixture {
 public:
  using Entries = std::vector<std::pair<std::string, std::string>>;

  explicit VersionFixture(int max_open_files = 1000) : max_open_files_(max_open_files) {
    options.file_system = &faults;
    EXPECT_TRUE(memory.CreateDir(dir).ok());
    EXPECT_TRUE(memory.SyncDir("").ok());
    OpenCache();
  }

  // A table file of internal keys, which need not be in order.
  NewFile WriteTable(int level, uint64_t number, const Entries& entries, bool old_name = false) {
    std::map<std::string, std::string, ByInternalKey> sorted(ByInternalKey{&comparator});
    for (const auto& [key, value] : entries) sorted[key] = value;
    const std::string path = old_name ? OldTableFileName(dir, number) : TableFileName(dir, number);
    auto file = memory.NewWritableFile(path, FileUse::kTable);
    table::TableFormat format;
    format.comparator = &comparator;
    table::TableBuilder builder(format, file->get());
    for (const auto& [key, value] : sorted) builder.Add(key, value);
    EXPECT_TRUE(builder.Finish().ok());
    EXPECT_TRUE((*file)->Sync().ok());
    EXPECT_TRUE((*file)->Close().ok());
    return {level, number, builder.flushed_bytes(), sorted.begin()->first,
            std::prev(sorted.end())->first};
  }
  // The same of user keys at one sequence number; each value is its key's and the number.
  NewFile WriteKeys(int level, uint64_t number, const std::vector<std::string>& user_keys,
                    table::SequenceNumber sequence) {
    Entries entries;
    for (const std::string& key : user_keys) {
      entries.emplace_back(ValueKey(key, sequence), key + "@" + std::to_string(sequence));
    }
    return WriteTable(level, number, entries);
  }

  VersionRef Make(const std::vector<NewFile>& files) {
    VersionEdit edit;
    edit.new_files = files;
    auto version = Version::MakeEmpty(&comparator, tables.get())->Apply(edit);
    EXPECT_TRUE(version.has_value()) << (version ? "" : version.error().ToString());
    return version ? version.value() : nullptr;
  }

  void OpenCache() {
    table::TableReadOptions read;
    read.order = &comparator;
    tables = std::make_unique<TableCache>(&faults, dir, read, max_open_files_);
  }

  const std::string dir = "db";
  base::MemoryFileSystem memory;
  base::FaultyFileSystem faults{&memory};
  DbOptions options;
  table::InternalComparator comparator{BytewiseComparator()};
  std::unique_ptr<TableCache> tables;

 private:
  const int max_open_files_;
};

}  // namespace weft::lsm
