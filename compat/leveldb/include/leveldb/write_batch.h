// compat/leveldb/include/leveldb/write_batch.h: changes that take effect together or not at all; if
// a key changes twice, the later change wins.
//
// Layout    holds the store's own batch in place, so that writing it copies nothing.
// Threads   const calls from several threads at once; others one at a time.
#pragma once

#include <string>

#include "leveldb/export.h"
#include "leveldb/status.h"

namespace leveldb {

class Slice;

class LEVELDB_EXPORT WriteBatch {
 public:
  class LEVELDB_EXPORT Handler {
   public:
    virtual ~Handler();
    virtual void Put(const Slice& key, const Slice& value) = 0;
    virtual void Delete(const Slice& key) = 0;
  };

  WriteBatch();
  WriteBatch(const WriteBatch& other);
  WriteBatch& operator=(const WriteBatch& other);
  ~WriteBatch();

  void Put(const Slice& key, const Slice& value);
  // The key need not be there.
  void Delete(const Slice& key);
  void Clear();
  // Bytes that the batch will take in the log.
  size_t ApproximateSize() const;
  // Appends all changes of `source` to this batch.
  void Append(const WriteBatch& source);
  // Hands every change to the handler, in order.
  Status Iterate(Handler* handler) const;

 private:
  friend struct WriteBatchAccess;  // the library's own way to the batch within

  alignas(std::string) unsigned char batch_[sizeof(std::string)];
};

}  // namespace leveldb
