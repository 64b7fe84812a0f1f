// The cache of blocks that NewLruBlockCache gives: sixteen shards, each a hash table of entries and
// two lists, of entries that are held and of those that may go.
#include "weft/block_cache.h"

#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "base/mutex.h"

namespace weft {

namespace {

constexpr size_t kShardsLog2 = 4;
constexpr size_t kShards = size_t{1} << kShardsLog2;

// One cached value; its key lies right behind it.
struct Entry : BlockCache::Handle {
  void* value;
  BlockCache::Deleter deleter;
  Entry* chain;  // the next of its bucket, or of a list of entries to free
  Entry* newer;
  Entry* older;
  uint64_t hash;
  size_t charge;
  uint32_t key_bytes;
  uint32_t holders;  // handles not yet released
  bool in_cache;

  char* key_data() { return reinterpret_cast<char*>(this + 1); }
  std::string_view key() { return {key_data(), key_bytes}; }
};

// Freed by FreeEntries.
Entry* NewEntry(std::string_view key, uint64_t hash, void* value, size_t charge,
                BlockCache::Deleter deleter) {
  auto* entry = new (::operator new(sizeof(Entry) + key.size())) Entry;
  entry->value = value;
  entry->deleter = deleter;
  entry->chain = entry->newer = entry->older = nullptr;
  entry->hash = hash;
  entry->charge = charge;
  entry->key_bytes = static_cast<uint32_t>(key.size());
  entry->holders = 1;
  entry->in_cache = false;
  std::memcpy(entry->key_data(), key.data(), key.size());
  return entry;
}

// Out of any lock: deleters are the caller's code.
void FreeEntries(Entry* entry) {
  while (entry != nullptr) {
    Entry* next = entry->chain;
    if (entry->deleter != nullptr) entry->deleter(entry->key(), entry->value);
    ::operator delete(entry);
    entry = next;
  }
}

// Entries by key. Chains are short: there are as many buckets as entries at least.
class EntryTable {
 public:
  EntryTable() : buckets_(kBucketsMin) {}

  Entry** Find(std::string_view key, uint64_t hash) {
    Entry** at = &buckets_[hash & (buckets_.size() - 1)];
    while (*at != nullptr && ((*at)->hash != hash || (*at)->key() != key)) at = &(*at)->chain;
    return at;
  }
  // The entry that was there under the same key, taken out, or null.
  Entry* Insert(Entry* entry) {
    Entry** at = Find(entry->key(), entry->hash);
    Entry* displaced = *at;
    entry->chain = displaced != nullptr ? displaced->chain : nullptr;
    *at = entry;
    if (displaced == nullptr && ++size_ > buckets_.size()) Grow();
    return displaced;
  }
  // REQUIRES: entry is in the table
  void Remove(Entry* entry) {
    Entry** at = &buckets_[entry->hash & (buckets_.size() - 1)];
    while (*at != entry) at = &(*at)->chain;
    *at = entry->chain;
    --size_;
  }

 private:
  static constexpr size_t kBucketsMin = 16;

  void Grow() {
    std::vector<Entry*> old(buckets_.size() * 2);
    old.swap(buckets_);
    for (Entry* entry : old) {
      while (entry != nullptr) {
        Entry* next = entry->chain;
        Entry** bucket = &buckets_[entry->hash & (buckets_.size() - 1)];
        entry->chain = *bucket;
        *bucket = entry;
        entry = next;
      }
    }
  }

  std::vector<Entry*> buckets_;
  size_t size_ = 0;
};

class alignas(64) Shard {
 public:
  Shard() { lru_.newer = lru_.older = &lru_; }
  ~Shard() {
    // Handles that are still out would be used after this.
    while (lru_.newer != &lru_) {
      Entry* entry = lru_.newer;
      Unlink(entry);
      entry->chain = nullptr;
      FreeEntries(entry);
    }
  }

  void SetCapacity(size_t capacity) { capacity_ = capacity; }

  Entry* Insert(std::string_view key, uint64_t hash, void* value, size_t charge,
                BlockCache::Deleter deleter) {
    Entry* entry = NewEntry(key, hash, value, charge, deleter);
    Entry* to_free = nullptr;
    {
      base::MutexLock lock(&mutex_);
      charge_ += charge;
      if (capacity_ > 0) {
        entry->in_cache = true;
        Entry* displaced = table_.Insert(entry);
        if (displaced != nullptr) LeaveCacheLocked(displaced, &to_free);
        EvictLocked(&to_free);
      }
    }
    FreeEntries(to_free);
    return entry;
  }

  Entry* Lookup(std::string_view key, uint64_t hash) {
    base::MutexLock lock(&mutex_);
    Entry* entry = *table_.Find(key, hash);
    if (entry == nullptr) return nullptr;
    if (entry->holders++ == 0) Unlink(entry);
    return entry;
  }

  void Release(Entry* entry) {
    Entry* to_free = nullptr;
    {
      base::MutexLock lock(&mutex_);
      WEFT_DCHECK(entry->holders > 0);
      if (--entry->holders > 0) return;
      if (!entry->in_cache) {
        GiveUpLocked(entry, &to_free);
      } else {
        LinkNewestLocked(entry);
        EvictLocked(&to_free);
      }
    }
    FreeEntries(to_free);
  }

  void Erase(std::string_view key, uint64_t hash) {
    Entry* to_free = nullptr;
    {
      base::MutexLock lock(&mutex_);
      Entry* entry = *table_.Find(key, hash);
      if (entry == nullptr) return;
      table_.Remove(entry);
      LeaveCacheLocked(entry, &to_free);
    }
    FreeEntries(to_free);
  }

  void Prune() {
    Entry* to_free = nullptr;
    {
      base::MutexLock lock(&mutex_);
      while (lru_.newer != &lru_) EvictOldestLocked(&to_free);
    }
    FreeEntries(to_free);
  }

  size_t TotalCharge() {
    base::MutexLock lock(&mutex_);
    return charge_;
  }

 private:
  static void Unlink(Entry* entry) {
    entry->newer->older = entry->older;
    entry->older->newer = entry->newer;
    entry->newer = entry->older = nullptr;
  }
  void LinkNewestLocked(Entry* entry) WEFT_REQUIRES(mutex_) {
    entry->newer = &lru_;
    entry->older = lru_.older;
    entry->older->newer = entry;
    lru_.older = entry;
  }
  // For one that nobody holds and that is in no table or list any more.
  void GiveUpLocked(Entry* entry, Entry** to_free) WEFT_REQUIRES(mutex_) {
    charge_ -= entry->charge;
    entry->chain = *to_free;
    *to_free = entry;
  }
  // For one that is in the table no more.
  void LeaveCacheLocked(Entry* entry, Entry** to_free) WEFT_REQUIRES(mutex_) {
    entry->in_cache = false;
    if (entry->holders > 0) return;
    Unlink(entry);
    GiveUpLocked(entry, to_free);
  }
  void EvictOldestLocked(Entry** to_free) WEFT_REQUIRES(mutex_) {
    Entry* entry = lru_.newer;
    table_.Remove(entry);
    LeaveCacheLocked(entry, to_free);
  }
  void EvictLocked(Entry** to_free) WEFT_REQUIRES(mutex_) {
    while (charge_ > capacity_ && lru_.newer != &lru_) EvictOldestLocked(to_free);
  }

  size_t capacity_ = 0;  // constant after construction of the cache

  base::Mutex mutex_;
  size_t charge_ WEFT_GUARDED_BY(mutex_) = 0;
  EntryTable table_ WEFT_GUARDED_BY(mutex_);
  // Entries that nobody holds, a ring: lru_.newer is the oldest, lru_.older the newest.
  Entry lru_ WEFT_GUARDED_BY(mutex_);
};

class LruBlockCache final : public BlockCache {
 public:
  explicit LruBlockCache(size_t capacity) {
    for (Shard& shard : shards_) shard.SetCapacity(capacity / kShards + (capacity % kShards != 0));
  }

  Handle* Insert(std::string_view key, void* value, size_t charge, Deleter deleter) override {
    const uint64_t hash = base::HashBytes(key);
    return ShardOf(hash).Insert(key, hash, value, charge, deleter);
  }
  Handle* Lookup(std::string_view key) override {
    const uint64_t hash = base::HashBytes(key);
    return ShardOf(hash).Lookup(key, hash);
  }
  void Release(Handle* handle) override {
    auto* entry = static_cast<Entry*>(handle);
    ShardOf(entry->hash).Release(entry);
  }
  void* Value(Handle* handle) override { return static_cast<Entry*>(handle)->value; }
  void Erase(std::string_view key) override {
    const uint64_t hash = base::HashBytes(key);
    ShardOf(hash).Erase(key, hash);
  }
  uint64_t NewId() override { return next_id_.fetch_add(1, std::memory_order_relaxed); }
  void Prune() override {
    for (Shard& shard : shards_) shard.Prune();
  }
  size_t TotalCharge() const override {
    size_t total = 0;
    for (Shard& shard : shards_) total += shard.TotalCharge();
    return total;
  }

 private:
  // By the high bits: the low ones choose the bucket.
  Shard& ShardOf(uint64_t hash) const { return shards_[hash >> (64 - kShardsLog2)]; }

  mutable std::array<Shard, kShards> shards_;
  std::atomic<uint64_t> next_id_{1};
};

}  // namespace

std::shared_ptr<BlockCache> NewLruBlockCache(size_t capacity) {
  return std::make_shared<LruBlockCache>(capacity);
}

}  // namespace weft
