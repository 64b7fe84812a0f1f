// lsm/memtable_entry.h: one change as it lies in a memtable's arena, and how it is compared.
//
// Layout    user key bytes (4), value bytes (4), user key, trailer (8), value: key and trailer
//           together are the internal key, so iterators hand it out where it lies. At any address.
// Threads   written once, before its address is published; read by anyone from then on.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/coding.h"
#include "table/internal_key.h"

namespace weft::lsm {

class MemTableEntry {
 public:
  static constexpr size_t kHeaderBytes = 8;

  static size_t BytesFor(std::string_view user_key, std::string_view value) {
    return kHeaderBytes + user_key.size() + table::kTrailerBytes + value.size();
  }
  // REQUIRES: BytesFor(user_key, value) at `to`; both below 4 GiB
  static void Encode(char* to, std::string_view user_key, uint64_t trailer,
                     std::string_view value) {
    base::EncodeFixed32(to, static_cast<uint32_t>(user_key.size()));
    base::EncodeFixed32(to + 4, static_cast<uint32_t>(value.size()));
    to += kHeaderBytes;
    if (!user_key.empty()) std::memcpy(to, user_key.data(), user_key.size());
    to += user_key.size();
    base::EncodeFixed64(to, trailer);
    if (!value.empty()) std::memcpy(to + table::kTrailerBytes, value.data(), value.size());
  }

  explicit MemTableEntry(const char* at) : at_(at) {}

  std::string_view user_key() const { return {at_ + kHeaderBytes, key_bytes()}; }
  uint64_t trailer() const { return base::DecodeFixed64(at_ + kHeaderBytes + key_bytes()); }
  std::string_view internal_key() const {
    return {at_ + kHeaderBytes, key_bytes() + table::kTrailerBytes};
  }
  std::string_view value() const {
    return {at_ + kHeaderBytes + key_bytes() + table::kTrailerBytes, base::DecodeFixed32(at_ + 4)};
  }

 private:
  size_t key_bytes() const { return base::DecodeFixed32(at_); }

  const char* at_;
};

// A place in the order of internal keys, to look for.
struct MemTableTarget {
  std::string_view user_key;
  uint64_t trailer;
};

inline int CompareEntry(const table::InternalComparator& comparator, const char* entry,
                        const MemTableTarget& target) {
  const MemTableEntry decoded(entry);
  const int order = comparator.CompareUser(decoded.user_key(), target.user_key);
  if (order != 0) return order;
  const uint64_t trailer = decoded.trailer();
  if (trailer == target.trailer) return 0;
  return trailer > target.trailer ? -1 : 1;  // the newer comes first
}

// Bytes [skip, skip + 8) of a key as a number that orders as they do; zeros stand for what the key
// lacks. Of keys whose first `skip` bytes agree, a smaller slice means a smaller key; equal slices
// mean nothing: "a" and "a\0" have the same.
inline uint64_t KeySlice(std::string_view key, size_t skip) {
  if (key.size() <= skip) return 0;
  const size_t rest = key.size() - skip;
  const char* from = key.data() + skip;
  uint64_t word = 0;
  if (rest >= sizeof word) {
    std::memcpy(&word, from, sizeof word);
  } else if (key.size() >= sizeof word) {
    std::memcpy(&word, key.data() + key.size() - sizeof word, sizeof word);
    word >>= 8 * (sizeof word - rest);
  } else {
    std::memcpy(&word, from, rest);
  }
  return __builtin_bswap64(word);
}

inline size_t SharedPrefixBytes(std::string_view a, std::string_view b) {
  const size_t limit = a.size() < b.size() ? a.size() : b.size();
  size_t bytes = 0;
  while (bytes < limit && a[bytes] == b[bytes]) ++bytes;
  return bytes;
}

}  // namespace weft::lsm
