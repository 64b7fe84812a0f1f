// weft/block_cache.h: keeps blocks of tables in memory, the least recently used going first.
//
// One cache may serve several stores. Give your own to decide what stays.
//
// Threads   every call may be made from any thread at once.
// Memory    an entry's charge counts from Insert until it is both out of the cache (displaced,
//           erased) and released by everyone who holds a handle; only then its deleter runs.
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

  // Adds an entry, in place of any other of that key, and returns it held. Never null: an entry
  // that finds no room is held by the handle alone.
  virtual Handle* Insert(std::string_view key, void* value, size_t charge, Deleter deleter) = 0;
  // The entry, held; null where there is none.
  virtual Handle* Lookup(std::string_view key) = 0;
  // REQUIRES: handle is held and not yet released
  virtual void Release(Handle* handle) = 0;
  virtual void* Value(Handle* handle) = 0;
  virtual void Erase(std::string_view key) = 0;
  // A number no other caller got: the prefix that tells the blocks of two tables apart.
  virtual uint64_t NewId() = 0;
  // Drops every entry that nobody holds.
  virtual void Prune() {}
  // Bytes of all entries by their charges.
  virtual size_t TotalCharge() const = 0;
};

// A cache of `capacity` bytes, in sixteen independently locked parts.
std::shared_ptr<BlockCache> NewLruBlockCache(size_t capacity);

}  // namespace weft
