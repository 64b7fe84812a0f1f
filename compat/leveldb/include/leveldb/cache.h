// compat/leveldb/include/leveldb/cache.h: keeps blocks of tables in memory. Derive from it for your
// own rule of what stays.
//
// Threads   any thread may make any call at any time.
#pragma once

#include <cstdint>

#include "leveldb/export.h"
#include "leveldb/slice.h"

namespace leveldb {

class LEVELDB_EXPORT Cache;

// A cache of `capacity` (sum of charges) that drops the least recently used entries first. The
// caller deletes it, after the stores that use it.
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

  // Adds an entry, replacing any other of that key, and returns a handle that holds it. Its deleter
  // is called once it is out of the cache and nobody holds it.
  virtual Handle* Insert(const Slice& key, void* value, size_t charge,
                         void (*deleter)(const Slice& key, void* value)) = 0;
  // A handle that holds the entry; null if there is none.
  virtual Handle* Lookup(const Slice& key) = 0;
  // REQUIRES of both: the handle is this cache's, and held
  virtual void Release(Handle* handle) = 0;
  virtual void* Value(Handle* handle) = 0;
  virtual void Erase(const Slice& key) = 0;
  // A number that no other caller got. Those who share a cache prefix their keys with it.
  virtual uint64_t NewId() = 0;
  // Drops every entry that nobody holds. A cache of your own should do it.
  virtual void Prune() {}
  // The approximate sum of the charges.
  virtual size_t TotalCharge() const = 0;
};

}  // namespace leveldb
