// table/filter_block_reader.h: a table's filters: one for each stretch of the file.
//
// Layout    the filters one behind the other; for each its offset (4); the offset of these offsets
//           (4); log2 of the stretch (1). A filter covers the data blocks that begin in its stretch
//           of the file; a stretch in which none begins has an empty one.
// Threads   pure; a view: the block and the policy must outlive it.
// Errors    none: a filter that makes no sense excludes no key.
// Source    LevelDB's filter block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weft/filter_policy.h"

namespace weft::table {

class FilterBlockReader {
 public:
  FilterBlockReader() = default;
  // Empty where the bytes are no filter block.
  FilterBlockReader(const FilterPolicy* policy, std::string_view block);

  bool empty() const { return policy_ == nullptr; }
  // The filter for a block that begins at `block_offset`; false where all keys must be taken to
  // match.
  bool FilterOf(uint64_t block_offset, std::string_view* filter) const;
  // True where the block may hold the key.
  bool KeyMayMatch(uint64_t block_offset, std::string_view key) const {
    std::string_view filter;
    return !FilterOf(block_offset, &filter) || Matches(filter, key);
  }
  // REQUIRES: `filter` is FilterOf's
  bool Matches(std::string_view filter, std::string_view key) const {
    return !filter.empty() && policy_->KeyMayMatch(key, filter);
  }
  // What filters are offsets into.
  const char* data() const { return data_; }

 private:
  const FilterPolicy* policy_ = nullptr;
  const char* data_ = nullptr;
  const char* offsets_ = nullptr;
  uint32_t data_bytes_ = 0;  // where the offsets begin
  uint64_t filters_ = 0;
  int stretch_log2_ = 0;
};

}  // namespace weft::table
