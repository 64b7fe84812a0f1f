// weft/filter_policy.h: small summaries of a table's keys that save reads of keys it lacks.
//
// Threads   any thread may make any call at any time.
// Source    the contract is LevelDB's; the Bloom filter's bytes are the same.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weft {

// What it takes to make the same Bloom filters elsewhere, on a GPU.
struct BloomShape {
  uint32_t bits_per_key = 0;
  uint32_t probes = 0;
  // Keys are the store's internal keys, and the trailers at their ends are not hashed.
  bool of_user_keys = false;
};

class FilterPolicy {
 public:
  virtual ~FilterPolicy() = default;

  // Kept in each table; a table's filter is used only by a policy of the same name.
  virtual const char* Name() const = 0;

  // Appends a filter of `keys` to *filter. Keys are in order and may repeat.
  virtual void CreateFilter(std::span<const std::string_view> keys, std::string* filter) const = 0;

  // True if `key` was among the keys. Otherwise it should be false, but may be wrong. `filter` may
  // come from a damaged file: the call must survive any bytes.
  virtual bool KeyMayMatch(std::string_view key, std::string_view filter) const = 0;

  // The shape, if the filters are those of NewBloomFilterPolicy, bit for bit. Otherwise none: then
  // the CPU does the compactions that a GPU could do.
  virtual std::optional<BloomShape> bloom() const { return std::nullopt; }
};

// A Bloom filter ("leveldb.BuiltinBloomFilter2"). 10 bits a key pass about one absent key in 100.
std::shared_ptr<const FilterPolicy> NewBloomFilterPolicy(int bits_per_key);

}  // namespace weft
