// compat/leveldb/include/leveldb/iterator.h: walks keys and values in order, both ways.
//
// Threads   const calls from several threads at once; others one at a time.
// Lifetime  key() and value() are valid until the next move. Delete iterators before their store.
#pragma once

#include "leveldb/export.h"
#include "leveldb/slice.h"
#include "leveldb/status.h"

namespace leveldb {

class LEVELDB_EXPORT Iterator {
 public:
  Iterator();
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;
  virtual ~Iterator();

  // False at either end, after an error, and before the first seek.
  virtual bool Valid() const = 0;
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  // Moves to the first key that is not below the target.
  virtual void Seek(const Slice& target) = 0;
  // The four below REQUIRE Valid().
  virtual void Next() = 0;
  virtual void Prev() = 0;
  virtual Slice key() const = 0;
  virtual Slice value() const = 0;
  // What went wrong, if anything did.
  virtual Status status() const = 0;

  // Calls function(arg1, arg2) when the iterator is deleted. Any number of times.
  using CleanupFunction = void (*)(void* arg1, void* arg2);
  void RegisterCleanup(CleanupFunction function, void* arg1, void* arg2);

 private:
  struct Cleanup {
    CleanupFunction function;  // null: none
    void* arg1;
    void* arg2;
    Cleanup* next;
  };
  Cleanup first_cleanup_;  // most iterators have at most one: it takes no allocation
};

// Iterators over nothing; the second with a status. The caller deletes them.
LEVELDB_EXPORT Iterator* NewEmptyIterator();
LEVELDB_EXPORT Iterator* NewErrorIterator(const Status& status);

}  // namespace leveldb
