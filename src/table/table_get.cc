// Table::Get: index, filter, block.
#include <utility>

#include "table/block.h"
#include "table/internal_key.h"
#include "table/table.h"

namespace weft::table {

namespace {

// Makes *lookup say what the entry at `it` says of its key, if it is the key's.
void TakeEntry(const KeyOrder& order, const BlockIterator& it, TableLookup* lookup) {
  const std::string_view key = it.key();
  if (!order.is_internal()) {
    if (!order.SameUserKey(key, lookup->key)) return;
    lookup->found = TableLookup::Found::kValue;
    lookup->value = it.value();
    return;
  }
  ParsedKey parsed;
  if (!ParseInternalKey(key, &parsed)) {
    lookup->found = TableLookup::Found::kError;
    return;
  }
  if (!order.SameUserKey(parsed.user_key, UserKey(lookup->key))) return;
  lookup->sequence = parsed.sequence;
  if (parsed.type == ValueType::kDeletion) {
    lookup->found = TableLookup::Found::kDeletion;
    return;
  }
  lookup->found = TableLookup::Found::kValue;
  lookup->value = it.value();
}

void Fail(Status status, TableLookup* lookup) {
  lookup->found = TableLookup::Found::kError;
  lookup->status = std::move(status);
}

}  // namespace

void Table::Get(const ReadOptions& options, TableLookup* lookup) const {
  lookup->Begin();
  const size_t i = index_.LowerBound(lookup->key);
  if (i == index_.size()) return;
  const BlockHandle handle = index_.HandleAt(i);
  if (!filter_.empty() && !filter_.KeyMayMatch(handle.offset, lookup->key)) {
    lookup->found = TableLookup::Found::kFiltered;
    return;
  }
  SearchBlock(options, handle, lookup);
}

void Table::SearchBlock(const ReadOptions& options, const BlockHandle& handle,
                        TableLookup* lookup) const {
  Result<PinnedBlock> block = DataBlockAt(options, handle);
  if (!block) return Fail(block.error(), lookup);
  BlockIterator it(order_, block->data);
  it.Seek(lookup->key);
  if (it.Valid()) TakeEntry(order_, it, lookup);
  if (it.damaged() || lookup->found == TableLookup::Found::kError) {
    return Fail(BlockCorruption(blocks_, handle.offset, "bad entry"), lookup);
  }
  if (lookup->found == TableLookup::Found::kValue) lookup->pin = std::move(block->pin);
}

}  // namespace weft::table
