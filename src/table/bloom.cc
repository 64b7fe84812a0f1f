#include <algorithm>
#include <bit>
#include <cstdint>

#include "table/bloom_hash.h"
#include "weft/filter_policy.h"

namespace weft {

namespace {

uint32_t BloomHash(std::string_view key) {
  return table::BloomHash(reinterpret_cast<const uint8_t*>(key.data()),
                          static_cast<uint32_t>(key.size()));
}

// hash % divisor by two multiplications: exact for 32-bit hashes (Lemire, Kaser and Kurz, "Faster
// remainder by direct computation", 2019).
class Remainder {
 public:
  // REQUIRES: divisor > 1
  explicit Remainder(uint64_t divisor) : divisor_(divisor), inverse_(~uint64_t{0} / divisor + 1) {}

  uint64_t operator()(uint32_t hash) const {
    if (divisor_ > ~uint32_t{0}) return hash;
    return static_cast<uint64_t>((static_cast<unsigned __int128>(inverse_ * hash) * divisor_) >>
                                 64);
  }

 private:
  uint64_t divisor_;
  uint64_t inverse_;
};

class Bloom final : public FilterPolicy {
 public:
  explicit Bloom(int bits_per_key)
      : bits_per_key_(static_cast<size_t>(std::max(bits_per_key, 0))),
        probes_(std::clamp(static_cast<int>(static_cast<double>(bits_per_key) * 0.69), 1,
                           kProbesMax)) {}

  const char* Name() const override { return "leveldb.BuiltinBloomFilter2"; }

  void CreateFilter(std::span<const std::string_view> keys, std::string* filter) const override {
    const size_t bytes = (std::max<size_t>(keys.size() * bits_per_key_, 64) + 7) / 8;
    const Remainder remainder(bytes * 8);
    const size_t start = filter->size();
    filter->resize(start + bytes, '\0');
    filter->push_back(static_cast<char>(probes_));
    auto* const bits = reinterpret_cast<uint8_t*>(filter->data() + start);
    for (const std::string_view key : keys) {
      uint32_t hash = BloomHash(key);
      const uint32_t step = std::rotr(hash, 17);
      for (int probe = 0; probe < probes_; probe++, hash += step) {
        const uint64_t bit = remainder(hash);
        bits[bit / 8] = static_cast<uint8_t>(bits[bit / 8] | (1u << (bit % 8)));
      }
    }
  }

  // The number of probes is the filter's own, so that filters made with other settings serve.
  bool KeyMayMatch(std::string_view key, std::string_view filter) const override {
    if (filter.size() < 2) return false;
    const uint64_t bit_count = (filter.size() - 1) * 8;
    const int probes = static_cast<uint8_t>(filter.back());
    if (probes > kProbesMax) return true;  // kept for other kinds of filter: passes all
    uint32_t hash = BloomHash(key);
    const uint32_t step = std::rotr(hash, 17);
    for (int probe = 0; probe < probes; probe++, hash += step) {
      const uint64_t bit = hash % bit_count;
      if ((static_cast<uint8_t>(filter[bit / 8]) & (1u << (bit % 8))) == 0) return false;
    }
    return true;
  }

  std::optional<BloomShape> bloom() const override {
    return BloomShape{.bits_per_key = static_cast<uint32_t>(bits_per_key_),
                      .probes = static_cast<uint32_t>(probes_)};
  }

 private:
  static constexpr int kProbesMax = 30;

  size_t bits_per_key_;
  int probes_;
};

}  // namespace

std::shared_ptr<const FilterPolicy> NewBloomFilterPolicy(int bits_per_key) {
  return std::make_shared<Bloom>(bits_per_key);
}

}  // namespace weft
