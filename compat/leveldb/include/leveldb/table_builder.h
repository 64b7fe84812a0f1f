// compat/leveldb/include/leveldb/table_builder.h: writes a table of sorted keys.
//
// Threads   const calls from several threads at once; others one at a time.
#pragma once

#include <cstdint>

#include "leveldb/export.h"
#include "leveldb/options.h"
#include "leveldb/status.h"

namespace leveldb {

class WritableFile;

class LEVELDB_EXPORT TableBuilder {
 public:
  // Writes to *file, which the caller closes after Finish.
  TableBuilder(const Options& options, WritableFile* file);
  TableBuilder(const TableBuilder&) = delete;
  TableBuilder& operator=(const TableBuilder&) = delete;
  // REQUIRES: Finish() or Abandon() has been called
  ~TableBuilder();

  // Compression, block size and restart interval may change from the next block on. Another
  // comparator: InvalidArgument, and nothing changes.
  Status ChangeOptions(const Options& options);

  // The four below REQUIRE that neither Finish() nor Abandon() has been called. `key` must come
  // after all keys so far.
  void Add(const Slice& key, const Slice& value);
  // Ends the block, so that two neighbouring keys can lie in two blocks.
  void Flush();
  Status Finish();
  void Abandon();

  Status status() const;
  // Number of calls of Add.
  uint64_t NumEntries() const;
  // Bytes written so far; after Finish of the whole file.
  uint64_t FileSize() const;

 private:
  struct Rep;
  Rep* rep_;
};

}  // namespace leveldb
