// compat/leveldb/include/leveldb/db.h: a durable store of keys in order. Start here.
//
// LevelDB 1.23's C++ interface over Weft: docs/leveldb.md says how to switch and what differs.
//
// Threads   any thread may make any call at any time, except the destructor.
#pragma once

#include <cstdint>
#include <cstdio>

#include "leveldb/export.h"
#include "leveldb/iterator.h"
#include "leveldb/options.h"

namespace leveldb {

// The version of the interface.
static const int kMajorVersion = 1;
static const int kMinorVersion = 23;

struct Options;
struct ReadOptions;
struct WriteOptions;
class WriteBatch;

// A state of the store that reads can ask for.
class LEVELDB_EXPORT Snapshot {
 protected:
  virtual ~Snapshot();
};

// Keys from `start`, included, to `limit`, excluded.
struct LEVELDB_EXPORT Range {
  Range() = default;
  Range(const Slice& s, const Slice& l) : start(s), limit(l) {}

  Slice start;
  Slice limit;
};

class LEVELDB_EXPORT DB {
 public:
  // On success the caller deletes *dbptr; otherwise it is null.
  static Status Open(const Options& options, const std::string& name, DB** dbptr);

  DB() = default;
  DB(const DB&) = delete;
  DB& operator=(const DB&) = delete;
  virtual ~DB();

  // Put and Delete have bodies, which call Write: for stores of your own that wrap another.
  virtual Status Put(const WriteOptions& options, const Slice& key, const Slice& value) = 0;
  // OK even if there is no such key.
  virtual Status Delete(const WriteOptions& options, const Slice& key) = 0;
  virtual Status Write(const WriteOptions& options, WriteBatch* updates) = 0;

  // If there is no such key: IsNotFound(), and *value is unchanged.
  virtual Status Get(const ReadOptions& options, const Slice& key, std::string* value) = 0;

  // Not positioned yet. The caller deletes it, before the store.
  virtual Iterator* NewIterator(const ReadOptions& options) = 0;

  virtual const Snapshot* GetSnapshot() = 0;
  virtual void ReleaseSnapshot(const Snapshot* snapshot) = 0;

  // "leveldb.num-files-at-level<N>", "leveldb.stats", "leveldb.sstables",
  // "leveldb.approximate-memory-usage"; false for names that it does not know.
  virtual bool GetProperty(const Slice& property, std::string* value) = 0;

  // sizes[i]: about how many bytes of files hold range[i], without data that is only in memory.
  virtual void GetApproximateSizes(const Range* range, int n, uint64_t* sizes) = 0;

  // Compacts all keys from *begin to *end, both included; null: from the first, to the last.
  virtual void CompactRange(const Slice* begin, const Slice* end) = 0;
};

// Deletes a store: its files. Other files in the folder stay.
LEVELDB_EXPORT Status DestroyDB(const std::string& name, const Options& options);

// Makes the whole parts of a damaged store openable again.
LEVELDB_EXPORT Status RepairDB(const std::string& dbname, const Options& options);

}  // namespace leveldb
