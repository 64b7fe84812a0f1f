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
  const TableIndex::Entry& entry = index_.At(i);
  // While the filter is on its way.
  PrefetchBlock(entry.handle());
  if (!MayMatch(entry, lookup->key)) {
    lookup->found = TableLookup::Found::kFiltered;
    return;
  }
  SearchDataBlock(options, entry.handle(), lookup);
}

void Table::SearchDataBlock(const ReadOptions& options, const BlockHandle& handle,
                            TableLookup* lookup) const {
  Count(ReadCounters::kBlocksRead);
  if (!options.verify_checksums) {
    const char* block = BlockInPlace(blocks_, handle);
    if (block != nullptr) return SearchBytes({block, handle.bytes}, handle, lookup);
  }
  Result<PinnedBlock> block = DataBlockAt(options, handle);
  if (!block) return Fail(block.error(), lookup);
  SearchBytes(block->data, handle, lookup);
  if (lookup->found == TableLookup::Found::kValue) lookup->pin = std::move(block->pin);
}

void Table::SearchBytes(std::string_view block, const BlockHandle& handle,
                        TableLookup* lookup) const {
  BlockIterator it(order_, block);
  it.Seek(lookup->key);
  if (it.Valid()) TakeEntry(order_, it, lookup);
  if (it.damaged() || lookup->found == TableLookup::Found::kError) {
    Fail(BlockCorruption(blocks_, handle.offset, "bad entry"), lookup);
  }
}

}  // namespace weft::table
