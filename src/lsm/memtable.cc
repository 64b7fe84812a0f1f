// lsm/memtable.cc: see memtable.h.
#include "lsm/memtable.h"

#include <utility>

#include "base/check.h"

namespace weft::lsm {
namespace {

// The first internal key of all, or of a user key at or after a sequence.
MemTableTarget TargetOf(std::string_view internal_key) {
  return {table::UserKey(internal_key), table::Trailer(internal_key)};
}

}  // namespace

// Walks copies of leaves: an entry added to a leaf after it was copied is not seen, which is fine
// since its sequence is above that of any reader who was there before.
class MemTable::EntryIterator final : public Iterator {
 public:
  explicit EntryIterator(const MemTableTree& tree) : tree_(tree) {}

  bool Valid() const override { return index_ < leaf_.count; }

  void SeekToFirst() override {
    tree_.CopyFirstLeaf(&leaf_);
    index_ = 0;
  }

  void SeekToLast() override {
    tree_.CopyLastLeaf(&leaf_);
    index_ = leaf_.count == 0 ? 0 : leaf_.count - 1;
  }

  void Seek(std::string_view target) override {
    if (target.size() < table::kTrailerBytes) return SeekToFirst();  // such keys come first
    index_ = tree_.CopyLeafOf(TargetOf(target), &leaf_);
    GoToNextLeafAtEnd();
  }

  void Next() override {
    WEFT_DCHECK(Valid());
    ++index_;
    if (index_ + kEntriesAhead < leaf_.count) {
      __builtin_prefetch(leaf_.entries[index_ + kEntriesAhead]);
    }
    GoToNextLeafAtEnd();
  }

  void Prev() override {
    WEFT_DCHECK(Valid());
    if (index_ > 0) {
      --index_;
    } else if (leaf_.low == nullptr) {
      leaf_.count = 0;
    } else {
      tree_.CopyLeafBefore(leaf_.low, &leaf_);
      index_ = leaf_.count - 1;
    }
  }

  std::string_view key() const override { return entry().internal_key(); }
  std::string_view value() const override { return entry().value(); }
  Status status() const override { return Status::Ok(); }

 private:
  // Entries lie anywhere: the line of one is asked for while those before it are read.
  static constexpr uint32_t kEntriesAhead = 6;

  MemTableEntry entry() const {
    WEFT_DCHECK(Valid());
    return MemTableEntry(leaf_.entries[index_]);
  }

  void GoToNextLeafAtEnd() {
    if (index_ < leaf_.count || leaf_.next == nullptr) return;
    tree_.CopyLeaf(leaf_.next, &leaf_);
    index_ = 0;
    for (uint32_t i = 0; i < kEntriesAhead && i < leaf_.count; ++i) {
      __builtin_prefetch(leaf_.entries[i]);
    }
  }

  const MemTableTree& tree_;
  MemTableTree::LeafCopy leaf_;
  uint32_t index_ = 0;
};

MemTable::MemTable(const table::InternalComparator& comparator, std::shared_ptr<BlockPool> blocks)
    : comparator_(comparator), arena_(std::move(blocks)), tree_(comparator, &arena_) {}

void MemTable::Add(table::SequenceNumber sequence, table::ValueType type, std::string_view user_key,
                   std::string_view value) {
  char* entry = arena_.Allocate(MemTableEntry::BytesFor(user_key, value));
  MemTableEntry::Encode(entry, user_key, table::PackTrailer(sequence, type), value);
  tree_.Insert(entry);
  entries_.fetch_add(1, std::memory_order_relaxed);  // a count that guards nothing
}

MemTable::Found MemTable::Get(std::string_view user_key, table::SequenceNumber sequence,
                              std::string* value) const {
  return Read(Locate(user_key, sequence), user_key, value);
}

const char* MemTable::Locate(std::string_view user_key, table::SequenceNumber sequence,
                             const MemTableTree::Way* way) const {
  return tree_.FindCandidate({user_key, table::PackTrailer(sequence, table::kTypeForSeek)}, way);
}

void MemTable::PrefetchEntry(const char* at) {
  for (size_t line = 0; line < kEntryLinesAhead; ++line) {
    __builtin_prefetch(at + line * Arena::kLineBytes);
  }
}

MemTable::Found MemTable::Read(const char* at, std::string_view user_key,
                               std::string* value) const {
  if (at == nullptr) return Found::kNothing;
  const MemTableEntry entry(at);
  if (comparator_.CompareUser(entry.user_key(), user_key) != 0) return Found::kNothing;
  if ((entry.trailer() & 0xff) == static_cast<uint64_t>(table::ValueType::kDeletion)) {
    return Found::kDeletion;
  }
  if (value != nullptr) value->assign(entry.value());
  return Found::kValue;
}

MemTableTree::Way MemTable::Approach(std::string_view user_key,
                                     table::SequenceNumber sequence) const {
  return tree_.Approach({user_key, table::PackTrailer(sequence, table::kTypeForSeek)});
}

std::unique_ptr<Iterator> MemTable::NewIterator() const {
  return std::make_unique<EntryIterator>(tree_);
}

}  // namespace weft::lsm
