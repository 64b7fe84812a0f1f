// compat/leveldb/include/leveldb/cache.h: keeps blocks of tables in memory. Derive from it for your
// own rule of what stays.
//
// Threads   every call may be made from any thread at once.
#pragma once

#include <cstdint>

#include "leveldb/export.h"
#include "leveldb/slice.h"

namespace leveldb {

class LEVELDB_EXPORT Cache;

// A cache of `capacity` (sum of charges) whose least recently used entries go first. The caller
// deletes it, after the stores that use it.
LEVELDB_EXPORT Cache* NewLRUCache(size_t capacity);

class LEVELDB_EXPORT Cache {
 public:
  Cache() = default;
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;
  // Hands every entry to its deleter.
  virtual ~Cache();

  // Stands for an entry that is held: in the cache or not, it lives until Release.
  struct Handle {};

  // Adds an entry, in place of any other of that key, and returns it held. Its deleter is called
  // once it is out of the cache and nobody holds it.
  virtual Handle* Insert(const Slice& key, void* value, size_t charge,
                         void (*deleter)(const Slice& key, void* value)) = 0;
  // The entry, held; null where there is none.
  virtual Handle* Lookup(const Slice& key) = 0;
  // REQUIRES of both: the handle is this cache's, and held
  virtual void Release(Handle* handle) = 0;
  virtual void* Value(Handle* handle) = 0;
  virtual void Erase(const Slice& key) = 0;
  // A number that no other caller got, for those who share a cache to prefix their keys with.
  virtual uint64_t NewId() = 0;
  // Drops every entry that nobody holds. A cache of your own should do it.
  virtual void Prune() {}
  // Sum of the charges, about.
  virtual size_t TotalCharge() const = 0;
};

}  // namespace leveldb
