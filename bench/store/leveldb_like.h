// bench/store/leveldb_like.h: what the adapters of LevelDB and of RocksDB, which began as LevelDB,
// have in common.
//
// Library   names a library's types: Db, Iterator, Slice, LibraryStatus, ReadOptions and
//           WriteOptions; Held, which a store uses and which goes after it; kName, for messages.
// Threads, errors and cost   as bench/store/store.h has them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "bench/store/store.h"

namespace weft::bench::store_internal {

template <typename Library>
typename Library::Slice SliceOf(std::string_view text) {
  return {text.data(), text.size()};
}

template <typename Slice>
std::string_view ViewOf(const Slice& slice) {
  return {slice.data(), slice.size()};
}

template <typename Library>
Status StatusOf(const typename Library::LibraryStatus& status) {
  if (status.ok()) return Status::Ok();
  return Status(status.IsCorruption() ? Code::kCorruption : Code::kIoError,
                std::string(Library::kName) + ": " + status.ToString());
}

template <typename Library>
class LevelDbLikeCursor final : public Cursor {
 public:
  // Takes `iterator`.
  explicit LevelDbLikeCursor(typename Library::Iterator* iterator) : iterator_(iterator) {}

  void SeekToFirst() override { iterator_->SeekToFirst(); }
  void SeekToLast() override { iterator_->SeekToLast(); }
  void Seek(std::string_view key) override { iterator_->Seek(SliceOf<Library>(key)); }
  bool Valid() const override { return iterator_->Valid(); }
  void Next() override { iterator_->Next(); }
  void Prev() override { iterator_->Prev(); }
  std::string_view Key() const override { return ViewOf(iterator_->key()); }
  std::string_view Value() const override { return ViewOf(iterator_->value()); }
  Status status() const override { return StatusOf<Library>(iterator_->status()); }

 private:
  const std::unique_ptr<typename Library::Iterator> iterator_;
};

template <typename Library>
class LevelDbLikeStore : public Store {
 public:
  // Takes `db`.
  LevelDbLikeStore(typename Library::Held held, typename Library::Db* db)
      : held_(std::move(held)), db_(db) {}

  Status Put(std::string_view key, std::string_view value, bool sync) final {
    typename Library::WriteOptions options;
    options.sync = sync;
    return StatusOf<Library>(db_->Put(options, SliceOf<Library>(key), SliceOf<Library>(value)));
  }
  Status Delete(std::string_view key, bool sync) final {
    typename Library::WriteOptions options;
    options.sync = sync;
    return StatusOf<Library>(db_->Delete(options, SliceOf<Library>(key)));
  }
  std::unique_ptr<Cursor> NewCursor() final {
    return std::make_unique<LevelDbLikeCursor<Library>>(
        db_->NewIterator(typename Library::ReadOptions()));
  }

 protected:
  typename Library::Db* db() const { return db_.get(); }

 private:
  // In this order: the store goes before what it uses.
  typename Library::Held held_;
  std::unique_ptr<typename Library::Db> db_;
};

}  // namespace weft::bench::store_internal
