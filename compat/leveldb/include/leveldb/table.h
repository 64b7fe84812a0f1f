// compat/leveldb/include/leveldb/table.h: a finished table: a sorted map in a file, never changed.
//
// Threads   const calls from several threads at once.
#pragma once

#include <cstdint>

#include "leveldb/export.h"
#include "leveldb/iterator.h"

namespace leveldb {

struct Options;
class RandomAccessFile;
struct ReadOptions;

class LEVELDB_EXPORT Table {
 public:
  // Opens the table in bytes [0, file_size) of `file`, which must outlive it and stays the
  // caller's. On success the caller deletes *table; otherwise it is null.
  static Status Open(const Options& options, RandomAccessFile* file, uint64_t file_size,
                     Table** table);

  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table();

  // Not positioned yet. The caller deletes it, before the table.
  Iterator* NewIterator(const ReadOptions&) const;

  // About where in the file the key's data begins, or would begin.
  uint64_t ApproximateOffsetOf(const Slice& key) const;

 private:
  struct Rep;
  explicit Table(Rep* rep) : rep_(rep) {}

  Rep* const rep_;
};

}  // namespace leveldb
