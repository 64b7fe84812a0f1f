#include "leveldb/cache.h"

#include <memory>

#include "convert.h"
#include "own_objects.h"
#include "policies.h"

namespace {

// A value under one library's deleter, kept in a cache that calls the other's.
template <typename Deleter>
struct Wrapped {
  Deleter deleter;
  void* value;
};

using LevelDbDeleter = void (*)(const leveldb::Slice& key, void* value);

void DeleteForLevelDb(std::string_view key, void* wrapped) {
  const std::unique_ptr<Wrapped<LevelDbDeleter>> entry(
      static_cast<Wrapped<LevelDbDeleter>*>(wrapped));
  entry->deleter(weft::compat::ToSlice(key), entry->value);
}

void DeleteForWeft(const leveldb::Slice& key, void* wrapped) {
  const std::unique_ptr<Wrapped<weft::BlockCache::Deleter>> entry(
      static_cast<Wrapped<weft::BlockCache::Deleter>*>(wrapped));
  entry->deleter(weft::compat::View(key), entry->value);
}

}  // namespace

namespace leveldb {

namespace {

using weft::compat::View;
using Made = weft::compat::OwnObjects<Cache, weft::BlockCache>;

Made* MadeCaches() {
  static Made* const made = new Made;  // never freed: caches may be freed after main
  return made;
}

// Stores use the cache inside directly; these calls are for programs that keep entries of their own
// beside those.
class LruCache final : public Cache {
 public:
  explicit LruCache(size_t capacity) : ours_(weft::NewLruBlockCache(capacity)) {
    MadeCaches()->Add(this, ours_);
  }
  ~LruCache() override { MadeCaches()->Remove(this); }

  Handle* Insert(const Slice& key, void* value, size_t charge,
                 void (*deleter)(const Slice& key, void* value)) override {
    auto* wrapped = new Wrapped<LevelDbDeleter>{deleter, value};  // freed by DeleteForLevelDb
    return ToHandle(ours_->Insert(View(key), wrapped, charge, &DeleteForLevelDb));
  }
  Handle* Lookup(const Slice& key) override { return ToHandle(ours_->Lookup(View(key))); }
  void Release(Handle* handle) override { ours_->Release(FromHandle(handle)); }
  void* Value(Handle* handle) override {
    return static_cast<Wrapped<LevelDbDeleter>*>(ours_->Value(FromHandle(handle)))->value;
  }
  void Erase(const Slice& key) override { ours_->Erase(View(key)); }
  uint64_t NewId() override { return ours_->NewId(); }
  void Prune() override { ours_->Prune(); }
  size_t TotalCharge() const override { return ours_->TotalCharge(); }

 private:
  static Handle* ToHandle(weft::BlockCache::Handle* handle) {
    return reinterpret_cast<Handle*>(handle);
  }
  static weft::BlockCache::Handle* FromHandle(Handle* handle) {
    return reinterpret_cast<weft::BlockCache::Handle*>(handle);
  }

  const std::shared_ptr<weft::BlockCache> ours_;
};

}  // namespace

Cache::~Cache() = default;

Cache* NewLRUCache(size_t capacity) {
  return new LruCache(capacity);  // freed by the caller
}

}  // namespace leveldb

namespace weft::compat {

namespace {

class UserCache final : public BlockCache {
 public:
  explicit UserCache(leveldb::Cache* user) : user_(user) {}

  Handle* Insert(std::string_view key, void* value, size_t charge, Deleter deleter) override {
    auto* wrapped = new Wrapped<Deleter>{deleter, value};  // freed by DeleteForWeft
    return ToHandle(user_->Insert(ToSlice(key), wrapped, charge, &DeleteForWeft));
  }
  Handle* Lookup(std::string_view key) override { return ToHandle(user_->Lookup(ToSlice(key))); }
  void Release(Handle* handle) override { user_->Release(FromHandle(handle)); }
  void* Value(Handle* handle) override {
    return static_cast<Wrapped<Deleter>*>(user_->Value(FromHandle(handle)))->value;
  }
  void Erase(std::string_view key) override { user_->Erase(ToSlice(key)); }
  uint64_t NewId() override { return user_->NewId(); }
  void Prune() override { user_->Prune(); }
  size_t TotalCharge() const override { return user_->TotalCharge(); }

 private:
  static Handle* ToHandle(leveldb::Cache::Handle* handle) {
    return reinterpret_cast<Handle*>(handle);
  }
  static leveldb::Cache::Handle* FromHandle(Handle* handle) {
    return reinterpret_cast<leveldb::Cache::Handle*>(handle);
  }

  leveldb::Cache* const user_;
};

}  // namespace

std::shared_ptr<BlockCache> ToWeft(leveldb::Cache* given) {
  if (given == nullptr) return nullptr;
  if (auto made = leveldb::MadeCaches()->Find(given)) return made;
  return std::make_shared<UserCache>(given);
}

}  // namespace weft::compat
