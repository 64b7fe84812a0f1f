// compat/leveldb/include/leveldb/comparator.h: the order of keys. Derive from it for your own.
//
// The name is kept in the store, which opens only with a comparator of that name: change it when
// the order changes.
//
// Threads   any thread may make any call at any time.
#pragma once

#include <string>

#include "leveldb/export.h"

namespace leveldb {

class Slice;

class LEVELDB_EXPORT Comparator {
 public:
  virtual ~Comparator();

  // Below 0, 0 or above 0 if a comes before, equals, or comes after b. A total order.
  virtual int Compare(const Slice& a, const Slice& b) const = 0;

  // Names that begin with "leveldb." are reserved.
  virtual const char* Name() const = 0;

  // Both shorten index entries; doing nothing is correct. If *start < limit: may change *start to a
  // shorter key of [*start, limit).
  virtual void FindShortestSeparator(std::string* start, const Slice& limit) const = 0;
  // May change *key to a shorter key that is not below it.
  virtual void FindShortSuccessor(std::string* key) const = 0;
};

// The order of unsigned bytes, a prefix first. Lives forever; do not delete it.
LEVELDB_EXPORT const Comparator* BytewiseComparator();

}  // namespace leveldb
