// weft/db.h: the durable store, embedded in a program. Start here.
//
//   auto db = weft::Db::Open({.create_if_missing = true}, "/var/lib/my/store");
//   if (!db) return 1;  // db.error().ToString() says why
//   weft::Status status = (*db)->Put({}, "key", "value");
//   std::string value;
//   status = (*db)->Get({}, "key", &value);
//
// A log-structured merge tree in LevelDB's on-disk format: Weft and LevelDB open each other's
// stores.
//
// Threads   any thread may make any call at any time, except the destructor.
// Process   one process at a time has a store open (the file LOCK); read-only opens take no lock.
// Promises  a write that returned ok is seen by every later read. With sync it survives a power
//           cut, without it the end of the process. After a crash the store holds all writes up to
//           some point, in their order, and none after it: no holes. A write that returned an error
//           is not seen; but the log may hold it, and then it appears at the next opening.
// Errors    kCorruption names the file. After a failed background write the store takes no more
//           writes (always with the same kIoError or kCorruption) and goes on reading.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/db_events.h"
#include "weft/db_options.h"
#include "weft/iterator.h"
#include "weft/status.h"
#include "weft/write_batch.h"

namespace weft {

// A state of the store that reads can ask for. Release it so that old versions can go.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  // Sequence number of the last write that it includes.
  virtual uint64_t sequence() const = 0;
};

// Keys from `start`, included, to `limit`, excluded.
struct KeyRange {
  std::string_view start;
  std::string_view limit;
};

// One lookup of MultiGet.
struct DbLookup {
  std::string_view key;
  std::string value = {};
  Status status = {};  // ok, kNotFound or an error; kRetryLater: see ReadOptions::value_bytes_max
};

class Db {
 public:
  // Makes `dir`, whose parent folder must be there.
  // kInvalidArgument: the store is missing and !create_if_missing, or is there and error_if_exists;
  // it has another comparator; or an option is out of range. kRetryLater: another process has it
  // open, or this one has no more descriptors. kCorruption: it is damaged, as the message says, or
  // CURRENT is missing while tables, logs or manifests are not.
  static Result<std::unique_ptr<Db>> Open(const DbOptions& options, const std::string& dir);
  // Changes no file, takes no lock and sees the store as it was when it was opened; the log is read
  // into memory. Writes return kInvalidArgument. A process that writes to the store meanwhile may
  // delete tables that this one still needs: reads then fail with kRetryLater until the store is
  // reopened. An open during which files change starts over: damage counts only if it is found
  // twice in files that did not change.
  static Result<std::unique_ptr<Db>> OpenReadOnly(const DbOptions& options, const std::string& dir);
  // Closes the store: waits for running compactions to stop, and syncs the log. Snapshots and
  // iterators must be gone.
  virtual ~Db() = default;

  virtual Status Put(const WriteOptions& options, std::string_view key, std::string_view value) = 0;
  // Ok even if there is no such key.
  virtual Status Delete(const WriteOptions& options, std::string_view key) = 0;
  // kInvalidArgument: null, or a batch of 4 GiB - 64 MiB or more (likewise Put and Delete).
  virtual Status Write(const WriteOptions& options, WriteBatch* batch) = 0;

  // If there is no such key: kNotFound, and *value is unchanged. `value` may be null, to ask only
  // whether the key is there.
  virtual Status Get(const ReadOptions& options, std::string_view key, std::string* value) = 0;
  // All lookups see one state; their waits for memory and files overlap. Any number, in any order.
  virtual void MultiGet(const ReadOptions& options, std::span<DbLookup> lookups) = 0;
  // Not positioned yet. It sees the state at the time of the call.
  virtual std::unique_ptr<Iterator> NewIterator(const ReadOptions& options) = 0;

  virtual const Snapshot* GetSnapshot() = 0;
  virtual void ReleaseSnapshot(const Snapshot* snapshot) = 0;  // null: nothing

  // Text of "leveldb.num-files-at-level<N>", "leveldb.stats", "leveldb.sstables" and
  // "leveldb.approximate-memory-usage"; of the same names with "weft." for "leveldb."; and of
  // "weft.statistics" (a line `name value` each). False for names it does not know. `value` may be
  // null.
  virtual bool GetProperty(std::string_view name, std::string* value) = 0;
  virtual DbStatistics Statistics() const = 0;
  // Approximate bytes of the files that hold each range; data only in memory does not count.
  virtual void GetApproximateSizes(std::span<const KeyRange> ranges, std::span<uint64_t> bytes) = 0;
  // Compacts all keys from *begin to *end, both included; null: from the first, to the last. When
  // it returns, no table holds entries of that range deleted or superseded before the call, unless
  // a snapshot sees them (but see rewrite_deepest).
  virtual Status CompactRange(const CompactRangeOptions& options, const std::string_view* begin,
                              const std::string_view* end) = 0;
  Status CompactRange(const std::string_view* begin, const std::string_view* end) {
    return CompactRange(CompactRangeOptions(), begin, end);
  }
  // Writes the memtable as a table and waits for it.
  virtual Status Flush() = 0;

  // Makes a store in `dir`, which must not exist, that holds what this one holds now. Tables are
  // linked where the file system can, otherwise copied. It is built as `dir`.unfinished, where the
  // remains of an interrupted call are removed. kInvalidArgument: something else is there; `dir`
  // lies within this store or ends in .unfinished; or this store is open read-only and its log
  // holds writes that no table has.
  virtual Status Checkpoint(const std::string& dir) = 0;
  // Adds the keys of tables that TableWriter wrote, in one step, over what is there; the later of
  // two tables wins. Files are linked or copied; `move` unlinks them afterwards. A file that was
  // not unlinked (also because the process ended) may be a second name of the store's own table:
  // delete it, or let TableWriter replace it, but never write into it.
  virtual Status Ingest(std::span<const std::string> paths, bool move) = 0;
};

// Makes the whole parts of a damaged store in `dir` openable again. The store's info log says what
// was not kept, and why; files that were given up are moved to `dir`/lost.
Status RepairDb(const std::string& dir, const DbOptions& options);

// Deletes a store: all files in `dir` that belong to one. Other files stay.
Status DestroyDb(const std::string& dir, const DbOptions& options);

// Writes a table of sorted keys for Db::Ingest.
class TableWriter {
 public:
  static Result<std::unique_ptr<TableWriter>> Open(const DbOptions& options,
                                                   const std::string& path);
  // Leaves no file behind if Finish was not called.
  virtual ~TableWriter() = default;
  // kInvalidArgument: `key` does not come after the one before, or key and value together have 4
  // GiB - 64 MiB or more.
  virtual Status Put(std::string_view key, std::string_view value) = 0;
  // Syncs and closes the file. kInvalidArgument if nothing was put.
  virtual Status Finish() = 0;
};

}  // namespace weft
