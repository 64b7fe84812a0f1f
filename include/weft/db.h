// weft/db.h: the durable store, embedded in a program. Start here.
//
//   auto db = weft::Db::Open({.create_if_missing = true}, "/var/lib/my/store");
//   Status status = (*db)->Put({}, "key", "value");
//   std::string value;
//   status = (*db)->Get({}, "key", &value);
//
// A log-structured merge tree in LevelDB's on-disk format: LevelDB opens what Weft wrote, and Weft
// what LevelDB wrote.
//
// Threads   every call may be made from any thread at once, but the destructor.
// Process   one process at a time has a store open (the file LOCK); read-only opens ask for none.
// Promises  a write that returned ok is seen by every later read. With sync it survives a power
//           cut, without it the end of the process. After a crash the store holds all writes up to
//           some point, in their order, and none after it: no holes. A write that returned an error
//           is not seen; the log may have it, and then it is there when the store is opened again.
// Errors    kCorruption names the file. After a failed background write the store takes no more
//           writes (kIoError or kCorruption, the same every time) and goes on reading.
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

// A state of the store that reads can ask for. Release it to let old versions go.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  // Of the last write that is part of it.
  virtual uint64_t sequence() const = 0;
};

// Keys from `start` up to and without `limit`.
struct KeyRange {
  std::string_view start;
  std::string_view limit;
};

// One key's answer within MultiGet.
struct DbLookup {
  std::string_view key;
  std::string value;
  Status status;  // ok, kNotFound or an error; kRetryLater: see ReadOptions::value_bytes_max
};

class Db {
 public:
  // kInvalidArgument: missing and !create_if_missing, there and error_if_exists, another
  // comparator's, or an option out of range. kRetryLater: another process has it open, or
  // this one has no more descriptors. kCorruption: damaged, as the message says; also where CURRENT
  // is missing, but tables, logs or manifests are not.
  static Result<std::unique_ptr<Db>> Open(const DbOptions& options, const std::string& dir);
  // Changes no file, asks for no lock and sees the store as it was when it was opened; the log is
  // read into memory. Writes return kInvalidArgument. A process that writes to the store meanwhile
  // may delete tables this one still needs: reads then fail with kRetryLater, until it is opened
  // again. What changes while this one opens makes it begin again: damage is what is found twice in
  // files that stay as they are.
  static Result<std::unique_ptr<Db>> OpenReadOnly(const DbOptions& options, const std::string& dir);
  // Waits for running compactions to stop. Snapshots and iterators must be gone.
  virtual ~Db() = default;

  virtual Status Put(const WriteOptions& options, std::string_view key, std::string_view value) = 0;
  // Ok also where there is no such key.
  virtual Status Delete(const WriteOptions& options, std::string_view key) = 0;
  // kInvalidArgument: none, or a batch of 4 GiB - 64 MiB or more (so for Put and Delete).
  virtual Status Write(const WriteOptions& options, WriteBatch* batch) = 0;

  // kNotFound, and *value unchanged, where there is no such key. `value` may be null, for who asks
  // whether there is one.
  virtual Status Get(const ReadOptions& options, std::string_view key, std::string* value) = 0;
  // All lookups see one state; their waits for memory and files overlap. Any number, any order.
  virtual void MultiGet(const ReadOptions& options, std::span<DbLookup> lookups) = 0;
  // Not positioned yet. Sees the state at the time of the call.
  virtual std::unique_ptr<Iterator> NewIterator(const ReadOptions& options) = 0;

  virtual const Snapshot* GetSnapshot() = 0;
  virtual void ReleaseSnapshot(const Snapshot* snapshot) = 0;  // null: nothing

  // Text of "leveldb.num-files-at-level<N>", "leveldb.stats", "leveldb.sstables",
  // "leveldb.approximate-memory-usage", and of the same names with "weft." before them, and
  // "weft.statistics" (a line `name value` each). False for names it does not know. `value` may be
  // null.
  virtual bool GetProperty(std::string_view name, std::string* value) = 0;
  virtual DbStatistics Statistics() const = 0;
  // Bytes of files that hold each range, about; what is only in memory does not count.
  virtual void GetApproximateSizes(std::span<const KeyRange> ranges, std::span<uint64_t> bytes) = 0;
  // Compacts all keys from *begin to *end, both included; null: from the first, to the last. After
  // it the tables hold no entry of that range that was deleted or superseded before the call and
  // that no snapshot sees (but see rewrite_deepest). Waits for the end.
  virtual Status CompactRange(const CompactRangeOptions& options, const std::string_view* begin,
                              const std::string_view* end) = 0;
  Status CompactRange(const std::string_view* begin, const std::string_view* end) {
    return CompactRange(CompactRangeOptions(), begin, end);
  }
  // Writes the memtable as a table and waits for it.
  virtual Status Flush() = 0;

  // A store in `dir` (made here, must not exist) that holds what this one holds now. Tables are
  // linked where the file system can, else copied. Made under the name `dir`.unfinished; what a
  // call that was cut short left there is removed. kInvalidArgument: there is something else; `dir`
  // lies within this store or ends in .unfinished; or this one is open for reading only, and its
  // log holds writes that no table has.
  virtual Status Checkpoint(const std::string& dir) = 0;
  // Adds the keys of tables that TableWriter wrote, in one step, over what is there; the later of
  // two tables wins. Files are linked or copied; `move` unlinks them afterwards. What is not
  // unlinked (also where the process ends meanwhile) may be a second name of the store's own table:
  // delete it, or write another one in its place with TableWriter, but never into it.
  virtual Status Ingest(std::span<const std::string> paths, bool move) = 0;
};

// Makes what is whole of a damaged store in `dir` openable again. What was not kept, and why, is
// in its log; files that were given up are moved to `dir`/lost.
Status RepairDb(const std::string& dir, const DbOptions& options);

// Deletes a store and every file in it that is a store's. Other files stay.
Status DestroyDb(const std::string& dir, const DbOptions& options);

// Writes a table of sorted keys for Db::Ingest.
class TableWriter {
 public:
  static Result<std::unique_ptr<TableWriter>> Open(const DbOptions& options,
                                                   const std::string& path);
  // Leaves no file behind where Finish was not called.
  virtual ~TableWriter() = default;
  // kInvalidArgument where `key` does not come after the one before, or both have 4 GiB - 64 MiB
  // or more.
  virtual Status Put(std::string_view key, std::string_view value) = 0;
  // Syncs and closes. kInvalidArgument where nothing was put.
  virtual Status Finish() = 0;
};

}  // namespace weft
