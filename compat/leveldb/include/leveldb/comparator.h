// compat/leveldb/include/leveldb/comparator.h: the order of keys. Derive from it for your own.
//
// The name is kept in the store, which opens only with a comparator of that name: change it when
// the order changes.
//
// Threads   every call may be made from any thread at once.
#pragma once

#include <string>

#include "leveldb/export.h"

namespace leveldb {

class Slice;

class LEVELDB_EXPORT Comparator {
 public:
  virtual ~Comparator();

  // Below 0, 0 or above 0 where a comes before, is, or comes after b. A total order.
  virtual int Compare(const Slice& a, const Slice& b) const = 0;

  // Names that begin with "leveldb." are taken.
  virtual const char* Name() const = 0;

  // Both make index entries short; doing nothing is correct.
  // Where *start < limit: may change *start to a shorter key of [*start, limit).
  virtual void FindShortestSeparator(std::string* start, const Slice& limit) const = 0;
  // May change *key to a shorter key that is not below it.
  virtual void FindShortSuccessor(std::string* key) const = 0;
};

// The order of unsigned bytes, a prefix first. Lives for ever; not to be deleted.
LEVELDB_EXPORT const Comparator* BytewiseComparator();

}  // namespace leveldb
