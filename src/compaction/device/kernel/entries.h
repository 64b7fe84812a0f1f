// compaction/device/kernel/entries.h: the entries of a piece, as columns in the device's memory.
//
// Entry i of a piece is element i of each column. First come those carried over from the piece
// before, in order; then the entries of each run, run after run, in order. Keys are whole there,
// with their trailers; values stay where their blocks lie.
//
// Flips     whatever a flipped bit makes of a length, no key or value counts as longer than any can
//           be. Otherwise a kernel that walks along one would run for hours.
//
// Threads   pure.
#pragma once

#include "compaction/device/kernel/key_bytes.h"

namespace weft::compaction::device {

struct Entries {
  uint8_t** key = nullptr;  // in the piece's own room for keys
  uint32_t* key_bytes = nullptr;
  const uint8_t** value = nullptr;
  uint32_t* value_bytes = nullptr;
  uint64_t* prefix = nullptr;         // PrefixOf the key; 0 for keys carried over
  uint32_t bytes_max = ~uint32_t{0};  // of a key, and of a value
  uint64_t all_bytes = ~uint64_t{0};  // of all of them together, at most

  WEFT_HOST_DEVICE Bytes Key(uint32_t entry) const {
    return {key[entry], Smaller(key_bytes[entry], bytes_max)};
  }
  WEFT_HOST_DEVICE Bytes Value(uint32_t entry) const {
    return {value[entry], Smaller(value_bytes[entry], bytes_max)};
  }
};

// A list of keys: spans, tables' ends. Key i is bytes [at[i], at[i + 1]).
struct KeyList {
  const uint8_t* bytes = nullptr;
  const uint64_t* at = nullptr;
  uint32_t count = 0;

  WEFT_HOST_DEVICE Bytes Key(uint32_t i) const {
    return {bytes + at[i], static_cast<uint32_t>(at[i + 1] - at[i])};
  }
};

// All user keys of the job share their first `common` bytes. The next eight form one big-endian
// number, with zeros where the key ends (compaction/key_prefix.h). 0 for short keys.
WEFT_HOST_DEVICE inline uint64_t PrefixOf(Bytes internal_key, uint32_t common) {
  uint64_t prefix = 0;
  for (uint32_t i = 0; i < 8; i++) {
    const uint32_t at = common + i;
    const bool inside = at + kTrailerBytes < internal_key.size;
    prefix = prefix << 8 | (inside ? internal_key.at[at] : 0);
  }
  return prefix;
}

// Below 0, 0 or above; by prefixes if those differ.
WEFT_HOST_DEVICE inline int CompareEntries(const Entries& entries, uint32_t a, uint32_t b) {
  const uint64_t prefix_a = entries.prefix[a];
  const uint64_t prefix_b = entries.prefix[b];
  if (prefix_a != prefix_b) return prefix_a < prefix_b ? -1 : 1;
  return CompareInternal(entries.Key(a), entries.Key(b));
}

}  // namespace weft::compaction::device
