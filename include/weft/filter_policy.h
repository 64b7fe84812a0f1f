// weft/filter_policy.h: small summaries of a table's keys that spare reads of keys it lacks.
//
// Threads   every call may be made from any thread at once.
// Source    the contract is LevelDB's; the Bloom filter gives the same bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weft {

// What must be known of Bloom filters to make the same ones elsewhere, on a GPU.
struct BloomShape {
  uint32_t bits_per_key = 0;
  uint32_t probes = 0;
  // Keys are a store's own, and the trailers at their ends are no part of what is hashed.
  bool of_user_keys = false;
};

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

  // Of a policy whose filters are those of NewBloomFilterPolicy, bit for bit; of others none, and
  // compactions that a GPU could do are done by the CPU.
  virtual std::optional<BloomShape> bloom() const { return std::nullopt; }
};

// A Bloom filter ("leveldb.BuiltinBloomFilter2"). 10 bits a key pass about one absent key in 100.
std::shared_ptr<const FilterPolicy> NewBloomFilterPolicy(int bits_per_key);

}  // namespace weft
