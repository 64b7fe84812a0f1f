// lsm/table_cache.h: opens tables when they are first read, and keeps them open within a limit.
//
// As long as there is room, an open table is pinned to its FileMeta: a lookup then finds it by one
// load and no table is ever opened twice. Past three quarters of the limit, further tables share
// the rest, least recently used closed first, behind a mutex.
//
// Threads   every call may be made from any thread at once.
// Errors    kCorruption: the file is missing, is not as long as the manifest says, or is no table;
//           the message names it. Other errors are the file system's, and not kept: the next call
//           tries again.
// Memory    tables in use stay open past the limit until they are released.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/mutex.h"
#include "lsm/file_meta.h"
#include "table/table.h"
#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::lsm {

// A table that is open as long as both this and its FileMeta live.
struct OpenTable {
  const table::Table* table = nullptr;
  std::shared_ptr<const table::Table> holder;  // null where the table is pinned
};

class TableCache {
 public:
  // `options` is copied; what it points to must outlive the cache.
  TableCache(FileSystem* files, std::string dir, const table::TableReadOptions& options,
             int max_open_files, bool beside_writers = false);
  ~TableCache();
  TableCache(const TableCache&) = delete;
  TableCache& operator=(const TableCache&) = delete;

  Status Find(const FileMeta& file, OpenTable* open) {
    if (const table::Table* pinned = file.pin.get(); pinned != nullptr) {
      open->table = pinned;
      return {};
    }
    return FindSlowly(file, open);
  }
  Result<std::shared_ptr<const table::Table>> FindShared(const FileMeta& file);

  // Forgets a table whose file is about to be deleted, where it is not pinned.
  void Evict(uint64_t number);

  // Where the table is: NUMBER.ldb, else NUMBER.sst.
  std::string PathOf(uint64_t number) const;
  // That the file, which was there when the store was opened, is not: kCorruption, or kRetryLater
  // beside whoever writes to the store.
  Status Gone(const std::string& path) const;

  // For tests and statistics.
  size_t open_tables() const;

 private:
  struct Recent {
    uint64_t number;
    std::shared_ptr<const table::Table> table;
  };

  // Null: must be opened.
  std::shared_ptr<const table::Table> RecentLocked(const FileMeta& file) WEFT_REQUIRES(mutex_);
  Status FindSlowly(const FileMeta& file, OpenTable* open);
  Result<std::shared_ptr<const table::Table>> Open(const FileMeta& file);

  FileSystem* const files_;
  const std::string dir_;
  const table::TableReadOptions options_;
  const bool beside_writers_;
  const size_t pinned_max_;
  const size_t recent_max_;
  const std::shared_ptr<std::atomic<size_t>> pinned_;  // outlives us in pins

  mutable base::Mutex mutex_;
  std::list<Recent> recent_ WEFT_GUARDED_BY(mutex_);  // most recently used first
  std::unordered_map<uint64_t, std::list<Recent>::iterator> by_number_ WEFT_GUARDED_BY(mutex_);
};

}  // namespace weft::lsm
