// table/filter_block_builder.h: collects the filters of a table's blocks.
//
// Layout    filters; the offset of each (fixed32); where those offsets begin (fixed32); the byte
//           11. Filter i is of all keys in blocks that begin in bytes [2048 i, 2048 (i + 1)) of the
//           file; windows without a beginning have empty filters.
// Threads   one thread at a time.
// Source    LevelDB's filter block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/filter_policy.h"

namespace weft::table {

inline constexpr int kFilterWindowBits = 11;

class FilterBlockBuilder {
 public:
  // `policy` must outlive this.
  explicit FilterBlockBuilder(const FilterPolicy* policy) : policy_(policy) {}

  // Keys added from here on are in blocks that begin at `offset` or later.
  void StartBlock(uint64_t offset);
  void AddKey(std::string_view key) {
    key_ends_.push_back(keys_.size() + key.size());
    keys_.append(key);
  }
  // The whole block; valid until Clear.
  std::string_view Finish();
  // Back to the beginning, for the next table.
  void Clear();

 private:
  void MakeFilter();

  const FilterPolicy* policy_;
  std::string keys_;              // of the window, one behind the other
  std::vector<size_t> key_ends_;  // in keys_
  std::vector<std::string_view> views_;
  std::string result_;
  std::vector<uint32_t> filter_offsets_;  // in result_
};

}  // namespace weft::table
