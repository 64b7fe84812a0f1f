// compat/leveldb/native_iterator.h: one of our iterators, as a program sees it.
//
// Threads, lifetime   as of leveldb::Iterator. Keys and values are handed on, not copied.
#pragma once

#include <memory>
#include <utility>

#include "convert.h"
#include "leveldb/iterator.h"
#include "weft/iterator.h"

namespace weft::compat {

class NativeIterator final : public leveldb::Iterator {
 public:
  explicit NativeIterator(std::unique_ptr<weft::Iterator> ours) : ours_(std::move(ours)) {}

  bool Valid() const override { return ours_->Valid(); }
  void SeekToFirst() override { ours_->SeekToFirst(); }
  void SeekToLast() override { ours_->SeekToLast(); }
  void Seek(const leveldb::Slice& target) override { ours_->Seek(View(target)); }
  void Next() override { ours_->Next(); }
  void Prev() override { ours_->Prev(); }
  leveldb::Slice key() const override { return ToSlice(ours_->key()); }
  leveldb::Slice value() const override { return ToSlice(ours_->value()); }
  leveldb::Status status() const override { return ToLevelDb(ours_->status()); }

 private:
  const std::unique_ptr<weft::Iterator> ours_;
};

}  // namespace weft::compat
