#include "db/write_batch_internal.h"

#include <map>
#include <string>

#include "db/memtable.h"
#include "util/coding.h"

namespace leveldb {

namespace {

constexpr size_t kHeader = 8 + 4;  // sequence number, count

std::map<const WriteBatch*, SequenceNumber>& Sequences() {
  static std::map<const WriteBatch*, SequenceNumber> sequences;
  return sequences;
}

class Counter final : public WriteBatch::Handler {
 public:
  void Put(const Slice&, const Slice&) override { ++count_; }
  void Delete(const Slice&) override { ++count_; }
  int count() const { return count_; }

 private:
  int count_ = 0;
};

class Writer final : public WriteBatch::Handler {
 public:
  explicit Writer(std::string* to) : to_(to) {}
  void Put(const Slice& key, const Slice& value) override {
    to_->push_back(static_cast<char>(kTypeValue));
    PutLengthPrefixedSlice(to_, key);
    PutLengthPrefixedSlice(to_, value);
  }
  void Delete(const Slice& key) override {
    to_->push_back(static_cast<char>(kTypeDeletion));
    PutLengthPrefixedSlice(to_, key);
  }

 private:
  std::string* const to_;
};

class Inserter final : public WriteBatch::Handler {
 public:
  Inserter(SequenceNumber first, MemTable* to) : next_(first), to_(to) {}
  void Put(const Slice& key, const Slice& value) override {
    to_->Add(next_++, kTypeValue, key, value);
  }
  void Delete(const Slice& key) override { to_->Add(next_++, kTypeDeletion, key, Slice()); }

 private:
  SequenceNumber next_;
  MemTable* const to_;
};

}  // namespace

int WriteBatchInternal::Count(const WriteBatch* batch) {
  Counter counter;
  const Status whole = batch->Iterate(&counter);
  return whole.ok() ? counter.count() : -1;
}

SequenceNumber WriteBatchInternal::Sequence(const WriteBatch* batch) {
  const auto found = Sequences().find(batch);
  return found == Sequences().end() ? 0 : found->second;
}

void WriteBatchInternal::SetSequence(WriteBatch* batch, SequenceNumber sequence) {
  Sequences()[batch] = sequence;
}

Slice WriteBatchInternal::Contents(const WriteBatch* batch) {
  static std::string bytes;
  bytes.clear();
  PutFixed64(&bytes, Sequence(batch));
  PutFixed32(&bytes, static_cast<uint32_t>(Count(batch)));
  Writer writer(&bytes);
  const Status whole = batch->Iterate(&writer);
  return whole.ok() ? Slice(bytes) : Slice();
}

void WriteBatchInternal::SetContents(WriteBatch* batch, const Slice& contents) {
  batch->Clear();
  if (contents.size() < kHeader) return;
  SetSequence(batch, DecodeFixed64(contents.data()));
  Slice rest = contents;
  rest.remove_prefix(kHeader);
  Slice key, value;
  while (!rest.empty()) {
    const char type = rest[0];
    rest.remove_prefix(1);
    if (!GetLengthPrefixedSlice(&rest, &key)) return;
    if (type == kTypeDeletion) {
      batch->Delete(key);
    } else if (type == kTypeValue && GetLengthPrefixedSlice(&rest, &value)) {
      batch->Put(key, value);
    } else {
      return;
    }
  }
}

Status WriteBatchInternal::InsertInto(const WriteBatch* batch, MemTable* table) {
  Inserter inserter(Sequence(batch), table);
  return batch->Iterate(&inserter);
}

}  // namespace leveldb
