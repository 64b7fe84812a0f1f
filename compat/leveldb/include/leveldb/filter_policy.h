// compat/leveldb/include/leveldb/filter_policy.h: small summaries of keys that save reads of tables
// without the key. Derive from it for your own.
//
// Threads   any thread may make any call at any time.
#pragma once

#include <string>

#include "leveldb/export.h"

namespace leveldb {

class Slice;

class LEVELDB_EXPORT FilterPolicy {
 public:
  virtual ~FilterPolicy();

  // Kept in each table: filters of another name are not used. Change it with the encoding.
  virtual const char* Name() const = 0;

  // Appends to *dst a filter of keys[0..n-1], which are in the store's order and may repeat.
  virtual void CreateFilter(const Slice* keys, int n, std::string* dst) const = 0;

  // True if the key was among those of the filter. Otherwise it should be false, but may be wrong.
  virtual bool KeyMayMatch(const Slice& key, const Slice& filter) const = 0;
};

// A Bloom filter; 10 bits a key let about one absent key in 100 pass. Not for comparators that
// treat different bytes as equal. The caller deletes it, after the stores that use it.
LEVELDB_EXPORT const FilterPolicy* NewBloomFilterPolicy(int bits_per_key);

}  // namespace leveldb
