#include "leveldb/write_batch.h"

#include <memory>

#include "convert.h"

namespace leveldb {

using weft::compat::ToSlice;
using weft::compat::View;

WriteBatch::Handler::~Handler() = default;

WriteBatch::WriteBatch() { std::construct_at(reinterpret_cast<weft::WriteBatch*>(batch_)); }

WriteBatch::WriteBatch(const WriteBatch& other) {
  std::construct_at(reinterpret_cast<weft::WriteBatch*>(batch_), *WriteBatchAccess::Get(&other));
}

WriteBatch& WriteBatch::operator=(const WriteBatch& other) {
  *WriteBatchAccess::Get(this) = *WriteBatchAccess::Get(&other);
  return *this;
}

WriteBatch::~WriteBatch() { std::destroy_at(WriteBatchAccess::Get(this)); }

void WriteBatch::Put(const Slice& key, const Slice& value) {
  WriteBatchAccess::Get(this)->Put(View(key), View(value));
}

void WriteBatch::Delete(const Slice& key) { WriteBatchAccess::Get(this)->Delete(View(key)); }

void WriteBatch::Clear() { WriteBatchAccess::Get(this)->Clear(); }

size_t WriteBatch::ApproximateSize() const {
  return WriteBatchAccess::Get(this)->ApproximateSize();
}

void WriteBatch::Append(const WriteBatch& source) {
  WriteBatchAccess::Get(this)->Append(*WriteBatchAccess::Get(&source));
}

Status WriteBatch::Iterate(Handler* handler) const {
  class Forward final : public weft::WriteBatch::Handler {
   public:
    explicit Forward(WriteBatch::Handler* to) : to_(to) {}
    void Put(std::string_view key, std::string_view value) override {
      to_->Put(ToSlice(key), ToSlice(value));
    }
    void Delete(std::string_view key) override { to_->Delete(ToSlice(key)); }

   private:
    WriteBatch::Handler* const to_;
  };
  if (handler == nullptr) return Status::InvalidArgument("no handler");
  Forward forward(handler);
  return weft::compat::ToLevelDb(WriteBatchAccess::Get(this)->Iterate(&forward));
}

}  // namespace leveldb
