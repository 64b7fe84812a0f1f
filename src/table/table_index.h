// table/table_index.h: a table's index block, arranged so that a search waits for few cache lines.
//
// For each data block the index keeps the places of the block, of its filter and of its entry in
// the index block. For keys in bytewise order it also keeps a number for each separator: the eight
// bytes after the prefix that all have in common. Eight numbers and their blocks lie side by side
// as a leaf. Above the leaves are levels that keep the last number of each group below. A search
// takes one group of sixteen a level, all of it fetched at once. It looks at separators only if
// eight bytes do not decide. Other orders compare whole separators.
//
// Threads   const calls from any thread; a view: the block must outlive it.
// Errors    Parse: kCorruption without the file's name (the caller adds it) if the block is
//           damaged, separators or handles do not ascend, or a handle points outside the file.
// Memory    about 34 bytes a data block.
// Cost      65,536 data blocks: two levels that are mostly cached and one wait for a leaf.
// Source    the levels are a B+ tree without pointers ("S-tree", Slotin's Algorithms for Modern
//           Hardware); the numbers are the normalised key prefixes of sorting (Graefe 2006).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "table/filter_block_reader.h"
#include "table/format.h"
#include "table/key_order.h"
#include "weft/status.h"

namespace weft::table {

class TableIndex {
 public:
  // A data block.
  struct Entry {
    uint64_t offset;
    uint32_t bytes;         // without the trailer
    uint32_t index_at;      // of its entry in the index block
    uint32_t filter_at;     // in the filter block
    uint32_t filter_bytes;  // kNoFilter: any key may match

    BlockHandle handle() const { return {offset, bytes}; }
  };
  static constexpr uint32_t kNoFilter = UINT32_MAX;

  TableIndex() = default;
  TableIndex(const TableIndex&) = delete;
  TableIndex& operator=(const TableIndex&) = delete;

  // `data_end`: blocks must end, with their trailers, at or before it.
  Status Parse(const KeyOrder& order, std::string_view block, uint64_t data_end);
  // Looks up each block's filter once for all lookups.
  void TakeFilters(const FilterBlockReader& filters);

  size_t size() const { return size_; }
  // The first entry whose separator is not below `key`: only its block can hold the key. size() if
  // there is none.
  size_t LowerBound(std::string_view key) const;
  // REQUIRES of the two: i < size()
  const Entry& At(size_t i) const { return leaves_[i / kLeaf].entries[i % kLeaf]; }
  std::string_view SeparatorAt(size_t i) const;
  size_t MemoryUsage() const;

  // The search in two steps, so that several can overlap. FindLeaf returns the leaf where the
  // search ends and fetches it; LowerBoundIn searches it. For other orders than bytewise,
  // FindLeaf's result means nothing, and LowerBoundIn searches everything.
  size_t FindLeaf(std::string_view key) const;
  size_t LowerBoundIn(size_t leaf, std::string_view key) const;

 private:
  static constexpr size_t kLeaf = 8;
  static constexpr size_t kGroup = 16;  // numbers of a level that are searched together

  struct alignas(64) Leaf {
    std::array<int64_t, kLeaf> numbers;
    std::array<Entry, kLeaf> entries;
  };
  static_assert(sizeof(Leaf) == 256);
  struct alignas(64) Group {
    std::array<int64_t, kGroup> numbers;
  };

  Status TakeEntry(std::string_view key, std::string_view value, uint64_t data_end,
                   uint32_t index_at);
  std::string_view BytesOf(std::string_view key) const;
  int64_t NumberOf(std::string_view bytes) const;
  void BuildLevels();
  bool Settle(std::string_view key, int64_t* number, size_t* result) const;
  size_t LowerBoundByOrder(size_t low, size_t high, std::string_view key) const;
  int64_t NumberAt(size_t i) const { return leaves_[i / kLeaf].numbers[i % kLeaf]; }

  KeyOrder order_ = BytewiseComparator();
  bool by_number_ = false;
  const char* block_ = nullptr;
  const char* end_ = nullptr;  // of the entries
  size_t size_ = 0;
  std::vector<Leaf> leaves_;
  std::vector<std::vector<Group>> levels_;  // the top one first; the last is over the leaves
  std::string common_;                      // the prefix of all separators except the last
  std::string restored_;  // the entries anew, if the block held them compressed by prefix
};

}  // namespace weft::table
