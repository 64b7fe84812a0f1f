// bench/durable/payload.h: keys and values of the durable benchmarks, computed from a number and a
// version. So whoever reads a value can tell whether it is the one written last.
//
// Layout    key: the number in sixteen decimal digits, as LevelDB's own benchmark has it.
//           value: number (4), version (4), then a piece of a fixed pool whose bytes Snappy halves.
// Threads   const calls: any at once.
// Cost      a key is a dozen divisions; a value one copy.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/random.h"

namespace weft::bench {

inline constexpr size_t kDurableKeyBytes = 16;
inline constexpr size_t kDurableValueBytesMin = 8;

// Writes the key of `id` at `out`.
inline void WriteDurableKey(uint64_t id, char* out) {
  for (size_t i = kDurableKeyBytes; i-- > 0; id /= 10) out[i] = static_cast<char>('0' + id % 10);
}

class DurableKey {
 public:
  explicit DurableKey(uint64_t id) { WriteDurableKey(id, bytes_); }
  operator std::string_view() const { return {bytes_, kDurableKeyBytes}; }  // NOLINT: a view of it

 private:
  char bytes_[kDurableKeyBytes];
};

// The id of a key; UINT64_MAX if it is none of ours.
inline uint64_t IdOfDurableKey(std::string_view key) {
  if (key.size() != kDurableKeyBytes) return UINT64_MAX;
  uint64_t id = 0;
  for (const char c : key) {
    if (c < '0' || c > '9') return UINT64_MAX;
    id = id * 10 + static_cast<uint64_t>(c - '0');
  }
  return id;
}

// Values of one length.
class ValueMaker {
 public:
  // REQUIRES: kDurableValueBytesMin <= value_bytes <= 1 MiB
  explicit ValueMaker(size_t value_bytes);

  size_t value_bytes() const { return value_bytes_; }
  // Writes value_bytes() at `out`.
  void Write(uint32_t id, uint32_t version, char* out) const {
    std::memcpy(out, &id, 4);
    std::memcpy(out + 4, &version, 4);
    std::memcpy(out + 8, PieceOf(id, version), value_bytes_ - 8);
  }
  // Length and number only: cheap enough for a timed loop.
  bool BelongsTo(uint32_t id, std::string_view value) const {
    return value.size() == value_bytes_ && std::memcmp(value.data(), &id, 4) == 0;
  }
  // Every byte.
  bool Matches(uint32_t id, uint32_t version, std::string_view value) const {
    return BelongsTo(id, value) && std::memcmp(value.data() + 4, &version, 4) == 0 &&
           std::memcmp(value.data() + 8, PieceOf(id, version), value_bytes_ - 8) == 0;
  }

 private:
  const char* PieceOf(uint32_t id, uint32_t version) const {
    const uint64_t mixed = base::Mix((uint64_t{id} << 32) | version);
    return pool_.data() + mixed % (pool_.size() - value_bytes_);
  }

  const size_t value_bytes_;
  std::string pool_;
};

}  // namespace weft::bench
