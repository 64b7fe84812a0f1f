// weft/filter_policy.h: small summaries of a table's keys that spare reads of keys it lacks.
//
// Threads   every call may be made from any thread at once.
// Source    the contract is LevelDB's; the Bloom filter gives the same bytes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace weft {

class FilterPolicy {
 public:
  virtual ~FilterPolicy() = default;

  // Kept in each table; a table's filter is used only by a policy of the same name.
  virtual const char* Name() const = 0;

  // Appends a filter of `keys` to *filter. Keys are in order and may repeat.
  virtual void CreateFilter(std::span<const std::string_view> keys, std::string* filter) const = 0;

  // True where `key` was among the keys; should be false where it was not, and may be wrong then.
  // `filter` may come from a damaged file: any bytes must be survived.
  virtual bool KeyMayMatch(std::string_view key, std::string_view filter) const = 0;
};

// A Bloom filter ("leveldb.BuiltinBloomFilter2"). 10 bits a key pass about one absent key in 100.
std::shared_ptr<const FilterPolicy> NewBloomFilterPolicy(int bits_per_key);

}  // namespace weft
