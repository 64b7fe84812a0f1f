// weft/block_cache.h: keeps blocks of tables in memory and drops the least recently used first.
//
// One cache may serve several stores. Implement your own to decide what stays.
//
// Threads   any thread may make any call at any time.
// Memory    an entry's charge counts from Insert until it is both out of the cache (displaced or
//           erased) and released by every holder of a handle. Only then does its deleter run.
// Source    the contract is LevelDB's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace weft {

class BlockCache {
 public:
  struct Handle {};  // opaque: an entry that may not be freed before Release
  using Deleter = void (*)(std::string_view key, void* value);

  virtual ~BlockCache() = default;

  // Adds an entry, replacing any other of that key, and returns a handle that holds it. Never null:
  // an entry that finds no room is kept alive by the handle alone.
  virtual Handle* Insert(std::string_view key, void* value, size_t charge, Deleter deleter) = 0;
  // A handle that holds the entry; null if there is none.
  virtual Handle* Lookup(std::string_view key) = 0;
  // REQUIRES: handle is held and not yet released
  virtual void Release(Handle* handle) = 0;
  virtual void* Value(Handle* handle) = 0;
  virtual void Erase(std::string_view key) = 0;
  // A number that no other caller got. As a prefix of keys it tells the blocks of two tables apart.
  virtual uint64_t NewId() = 0;
  // Drops every entry that nobody holds.
  virtual void Prune() {}
  // The sum of the charges of all entries.
  virtual size_t TotalCharge() const = 0;
};

// A cache of `capacity` bytes, in sixteen independently locked parts.
std::shared_ptr<BlockCache> NewLruBlockCache(size_t capacity);

}  // namespace weft
