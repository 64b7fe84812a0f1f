// table/table_index.h: a table's index block, arranged so that a search touches few cache lines.
//
// For keys in bytewise order the index keeps, beside the block, the eight bytes of each separator
// that follow what all separators have in common, as one number, and where its entry lies. A search
// is a binary search in the numbers; separators are looked at only where eight bytes do not tell.
// Other orders compare whole separators.
//
// Threads   const calls from any thread; a view: the block must outlive it.
// Errors    Parse: kCorruption without the file's name (the caller adds it) where the block is
//           damaged, its separators are not ascending, or a handle points outside the file.
// Memory    12 bytes an entry, 4 for orders other than bytewise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "table/format.h"
#include "table/key_order.h"
#include "weft/status.h"

namespace weft::table {

class TableIndex {
 public:
  struct Entry {
    std::string_view separator;
    BlockHandle handle;
  };

  TableIndex() = default;
  TableIndex(const TableIndex&) = delete;
  TableIndex& operator=(const TableIndex&) = delete;

  // `data_end`: blocks must end, with their trailers, at or before it.
  Status Parse(const KeyOrder& order, std::string_view block, uint64_t data_end);

  size_t size() const { return offsets_.size(); }
  // The first entry whose separator is not below `key`: its block is the only one that can hold the
  // key. size() where there is none.
  size_t LowerBound(std::string_view key) const;
  // REQUIRES: i < size()
  Entry At(size_t i) const;
  BlockHandle HandleAt(size_t i) const { return At(i).handle; }
  // Fetches towards the entry of HandleAt(i).
  void PrefetchEntry(size_t i) const { __builtin_prefetch(block_ + offsets_[i]); }
  size_t MemoryUsage() const;

 private:
  std::string_view BytesOf(std::string_view key) const;
  uint64_t PrefixOf(std::string_view bytes) const;
  void BuildPrefixes();
  size_t LowerBoundBytewise(std::string_view key) const;

  KeyOrder order_ = BytewiseComparator();
  const char* block_ = nullptr;
  const char* end_ = nullptr;      // of the entries
  std::vector<uint32_t> offsets_;  // of each entry in the block
  std::vector<uint64_t> prefixes_;
  std::string common_;    // what all separators begin with
  std::string restored_;  // the entries anew, where the block held them compressed by prefix
};

}  // namespace weft::table
