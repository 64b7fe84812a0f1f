#include "weft/write_batch.h"

#include "base/check.h"
#include "base/coding.h"
#include "lsm/memtable.h"
#include "lsm/write_batch_internal.h"

namespace weft {
namespace {

using table::ValueType;

constexpr size_t kCountAt = 8;

Status Malformed(std::string_view what) {
  return Status(Code::kCorruption, "write batch: " + std::string(what));
}

void AddToCount(std::string* rep, uint32_t more) {
  base::EncodeFixed32(rep->data() + kCountAt, base::DecodeFixed32(rep->data() + kCountAt) + more);
}

// Makes room for `bytes` more, so that appending them finds memory: a batch for which there is none
// stays as it was.
void Reserve(std::string* rep, size_t bytes) {
  if (rep->capacity() - rep->size() < bytes) rep->reserve(rep->size() + bytes);
}

size_t PrefixedBytesMax(std::string_view text) { return base::kVarint32BytesMax + text.size(); }

// Calls change(type, key, value) for each, as far as the bytes are a batch's.
template <typename Change>
Status ForEach(std::string_view contents, Change&& change) {
  if (contents.size() < WriteBatchInternal::kHeaderBytes)
    return Malformed("shorter than its header");
  const uint32_t count = WriteBatchInternal::CountOf(contents);
  std::string_view rest = contents.substr(WriteBatchInternal::kHeaderBytes);
  uint32_t seen = 0;
  for (; !rest.empty(); ++seen) {
    const auto type = static_cast<ValueType>(rest.front());
    rest.remove_prefix(1);
    if (type != ValueType::kValue && type != ValueType::kDeletion) {
      return Malformed("unknown kind of change");
    }
    std::string_view key;
    std::string_view value;
    if (!base::GetLengthPrefixed(&rest, &key)) return Malformed("a key is cut short");
    if (type == ValueType::kValue && !base::GetLengthPrefixed(&rest, &value)) {
      return Malformed("a value is cut short");
    }
    if (seen == count) return Malformed("more changes than its header says");
    change(type, key, value);
  }
  return seen == count ? Status() : Malformed("fewer changes than its header says");
}

}  // namespace

WriteBatch::WriteBatch() { Clear(); }

void WriteBatch::Clear() { rep_.assign(WriteBatchInternal::kHeaderBytes, '\0'); }

void WriteBatch::Put(std::string_view key, std::string_view value) {
  Reserve(&rep_, 1 + PrefixedBytesMax(key) + PrefixedBytesMax(value));
  rep_.push_back(static_cast<char>(ValueType::kValue));
  base::PutLengthPrefixed(&rep_, key);
  base::PutLengthPrefixed(&rep_, value);
  AddToCount(&rep_, 1);
}

void WriteBatch::Delete(std::string_view key) {
  Reserve(&rep_, 1 + PrefixedBytesMax(key));
  rep_.push_back(static_cast<char>(ValueType::kDeletion));
  base::PutLengthPrefixed(&rep_, key);
  AddToCount(&rep_, 1);
}

void WriteBatch::Append(const WriteBatch& source) {
  const uint32_t count = source.Count();
  // By position: `source` may be ourselves, and grow under the hand.
  rep_.append(source.rep_, WriteBatchInternal::kHeaderBytes);
  AddToCount(&rep_, count);
}

uint32_t WriteBatch::Count() const { return WriteBatchInternal::CountOf(rep_); }

Status WriteBatch::Iterate(Handler* handler) const {
  if (handler == nullptr) return {Code::kInvalidArgument, "the handler is null"};
  return WriteBatchInternal::Iterate(rep_, handler);
}

Status WriteBatch::SetContents(std::string_view contents) {
  Status status = WriteBatchInternal::Check(contents);
  if (status.ok()) {
    rep_.assign(contents);
  } else {
    Clear();
  }
  return status;
}

table::SequenceNumber WriteBatchInternal::SequenceOf(std::string_view contents) {
  WEFT_DCHECK(contents.size() >= kHeaderBytes);
  return base::DecodeFixed64(contents.data());
}

uint32_t WriteBatchInternal::CountOf(std::string_view contents) {
  WEFT_DCHECK(contents.size() >= kHeaderBytes);
  return base::DecodeFixed32(contents.data() + kCountAt);
}

table::SequenceNumber WriteBatchInternal::Sequence(const WriteBatch& batch) {
  return SequenceOf(batch.rep_);
}

void WriteBatchInternal::SetSequence(WriteBatch* batch, table::SequenceNumber sequence) {
  base::EncodeFixed64(batch->rep_.data(), sequence);
}

Status WriteBatchInternal::InsertInto(std::string_view contents, lsm::MemTable* memtable) {
  if (contents.size() < kHeaderBytes) return Malformed("shorter than its header");
  table::SequenceNumber sequence = SequenceOf(contents);
  if (sequence > table::kSequenceMax - CountOf(contents)) {
    return Malformed("no such sequence number");
  }
  return ForEach(contents, [&](ValueType type, std::string_view key, std::string_view value) {
    memtable->Add(sequence++, type, key, value);
  });
}

Status WriteBatchInternal::Check(std::string_view contents) {
  return ForEach(contents, [](ValueType, std::string_view, std::string_view) {});
}

Status WriteBatchInternal::Iterate(std::string_view contents, WriteBatch::Handler* handler) {
  return ForEach(contents, [&](ValueType type, std::string_view key, std::string_view value) {
    if (type == ValueType::kValue) {
      handler->Put(key, value);
    } else {
      handler->Delete(key);
    }
  });
}

}  // namespace weft
