// weft/cache.h: the in-memory cache, embedded in a program. Start here.
//
//   auto cache = weft::Cache::Open({.memory_bytes = 1 << 30});
//   (*cache)->Set("key", "value");
//   std::string value;
//   if ((*cache)->Get("key", &value) == weft::Outcome::kHit) use(value);
//
// It is the store that `weft serve` puts behind memcached's protocol, without the server.
//
// Threads   any thread may make any call at any time, except the destructor; each call is atomic
//           for its key. Up to 1024 threads: one counts from its first call until it ends.
// Memory    `memory_bytes` covers everything: objects, index and tables. When it is full, the
//           coldest objects are dropped; with evict = false, stores fail with kNoMemory.
// Errors    an Outcome for each key. Beside those that a call names, it may answer kBadKey, and
//           kNoMemory to a thread beyond the 1024. Such a thread's Clear does nothing. Append,
//           Prepend, CompareAndSwap and the counters may also answer as Set does. Get throws
//           std::bad_alloc if there is no memory for its value.
// Cost      a Get touches one index line and the object's lines; MultiGet overlaps the waits of
//           many lookups, and MultiView copies nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "weft/status.h"

namespace weft {

// What became of one request. One byte, the same on every processor.
enum class Outcome : uint8_t {
  kMiss = 0,    // no such key (any longer)
  kHit,         // read: value delivered
  kStored,      // store: the new version is in place
  kNotStored,   // add on a present key; replace, append, prepend on an absent one
  kExists,      // the version differs from the one expected
  kDeleted,     // the object is gone
  kTouched,     // the expiry was changed
  kNumber,      // arithmetic: *number is the new value
  kNotNumeric,  // arithmetic: the value is no decimal number
  kTooLarge,    // larger than an object may be
  kNoMemory,    // no memory and nothing may be evicted; the old version, if any, is as it was
  kBadKey,      // empty, or longer than kKeyBytesMax
  kIoError,     // server: the durable store behind the cache could not be read or written
};

inline constexpr uint32_t kKeyBytesMax = 250;

// How the index places objects; docs/architecture.md, "The index".
enum class IndexPolicy : uint8_t {
  kCuckoo,          // two candidate buckets, displacement: keeps what it accepted
  kSetAssociative,  // one set of sixteen; drops the least recently used of the set: pure cache
};

struct CacheOptions {
  uint64_t memory_bytes = 64ull << 20;   // everything the cache may use
  uint32_t object_bytes_max = 1u << 20;  // largest key + value; at most half of memory_bytes
  bool evict = true;                     // false: stores fail when memory is full
  IndexPolicy index_policy = IndexPolicy::kCuckoo;
  uint64_t expected_items = 0;  // sizes the index in advance; 0: it starts small and grows
  uint32_t append_lanes = 0;    // writers that append side by side; 0: one per core
  bool huge_pages = true;       // ask the system for 2 MiB pages
  bool prefetch = true;         // off only to measure what prefetching is worth
  uint32_t hash_bits = 64;      // fewer: a weak hash, to force collisions in tests
  uint64_t hash_seed = 0;       // 0: nobody can foresee the hashes; otherwise they repeat
};

// What a Get can return besides the value.
struct ItemInfo {
  uint32_t client_flags = 0;
  uint64_t cas = 0;    // version; pass it to CompareAndSwap
  int32_t ttl_s = -1;  // seconds left; -1: never expires
};

struct CacheStats {
  uint64_t items = 0;
  uint64_t object_bytes = 0;  // live objects with their headers
  uint64_t memory_bytes = 0;  // taken from the system
  uint64_t index_buckets = 0;
  uint64_t evictions = 0;      // live, unexpired objects dropped to make room
  uint64_t expired = 0;        // objects dropped: their time to live had ended
  uint64_t carried = 0;        // objects copied elsewhere: where they lay was being freed
  uint64_t ghosts_stored = 0;  // objects stored again soon after they were evicted unused
  // Seconds from last use to eviction, of recently evicted objects: percentiles, and the latest.
  uint32_t eviction_age_p10_s = 0, eviction_age_p50_s = 0, eviction_age_p90_s = 0;
  uint32_t eviction_age_last_s = 0;
};

class Cache {
 public:
  // kInvalidArgument: an option is out of range, as the message says. kNoMemory, kIoError: the
  // system gives no memory, or no random numbers. The least memory_bytes is 1 MiB, and twice
  // object_bytes_max and twice the index of expected_items where those are more. The range of
  // object_bytes_max is 1 KiB to 1 GiB. kSetAssociative needs evict.
  static Result<std::unique_ptr<Cache>> Open(const CacheOptions& options);
  virtual ~Cache() = default;

  // kHit and the value, or kMiss. `info` may be null.
  virtual Outcome Get(std::string_view key, std::string* value, ItemInfo* info = nullptr) = 0;

  // One lookup of MultiGet. Its value is written to `value`, which has room for `capacity` bytes. A
  // longer value is cut; value_bytes is its full length.
  struct Lookup {
    std::string_view key;
    char* value = nullptr;
    uint32_t capacity = 0;
    uint32_t value_bytes = 0;
    Outcome outcome = Outcome::kMiss;
  };
  // Answers all lookups, overlapping their memory waits. Any number; groups of 32 are best.
  virtual void MultiGet(std::span<Lookup> lookups) = 0;

  // One lookup of MultiView. After a hit, `value` is the cache's own bytes while `use` runs. At any
  // other time it is empty.
  struct View {
    std::string_view key;
    std::string_view value = {};
    Outcome outcome = Outcome::kMiss;
  };
  // Answers like MultiGet, but without copies: for values that are large, or only looked at. It
  // answers 32 views at a time and calls `use` with these, in order. Their values do not change
  // until `use` returns, whatever other threads do. Meanwhile no memory is freed: other threads'
  // stores may have to wait, for a second at most, and are refused then. REQUIRES: `use` makes no
  // call to this cache (checked).
  using ViewUse = std::function<void(std::span<const View>)>;
  virtual void MultiView(std::span<View> views, const ViewUse& use) = 0;

  // `ttl_s` in seconds; 0: never expires. kStored, kTooLarge, kNoMemory or kBadKey.
  virtual Outcome Set(std::string_view key, std::string_view value, uint32_t ttl_s = 0,
                      uint32_t client_flags = 0) = 0;
  // One store of MultiSet.
  struct Pair {
    std::string_view key;
    std::string_view value;
    Outcome outcome = Outcome::kNotStored;
  };
  // Stores all pairs in order, overlapping their memory waits; none expires.
  virtual void MultiSet(std::span<Pair> pairs) = 0;
  // kStored, or kNotStored if the key is already there.
  virtual Outcome Add(std::string_view key, std::string_view value, uint32_t ttl_s = 0,
                      uint32_t client_flags = 0) = 0;
  // kStored, or kNotStored if the key is absent.
  virtual Outcome Replace(std::string_view key, std::string_view value, uint32_t ttl_s = 0,
                          uint32_t client_flags = 0) = 0;
  // Keeps the object's expiry and flags. kStored or kNotStored.
  virtual Outcome Append(std::string_view key, std::string_view tail) = 0;
  virtual Outcome Prepend(std::string_view key, std::string_view head) = 0;
  // kStored; kExists if the object has another version; kMiss.
  virtual Outcome CompareAndSwap(std::string_view key, std::string_view value, uint64_t cas,
                                 uint32_t ttl_s = 0, uint32_t client_flags = 0) = 0;
  // Unsigned 64-bit: Increment wraps, Decrement stops at 0. kNumber, kNotNumeric or kMiss.
  virtual Outcome Increment(std::string_view key, uint64_t delta, uint64_t* number) = 0;
  virtual Outcome Decrement(std::string_view key, uint64_t delta, uint64_t* number) = 0;
  // kTouched or kMiss.
  virtual Outcome Touch(std::string_view key, uint32_t ttl_s) = 0;
  // kDeleted or kMiss.
  virtual Outcome Delete(std::string_view key) = 0;
  // Drops every object stored before the call.
  virtual void Clear() = 0;

  virtual CacheStats Stats() const = 0;
};

}  // namespace weft
