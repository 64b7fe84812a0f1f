// table/bloom_hash.h: the hash whose values the filters in the files rest on.
//
// Threads   pure; the host and devices call it.
// Source    LevelDB's filters: the values are part of the format.
#pragma once

#include "base/host_device.h"

namespace weft::table {

WEFT_HOST_DEVICE inline uint32_t BloomHash(const uint8_t* key, uint32_t bytes) {
  constexpr uint32_t kFactor = 0xc6a4a793;
  uint32_t hash = 0xbc9f1d34u ^ (bytes * kFactor);
  uint32_t at = 0;
  for (; at + 4 <= bytes; at += 4) {
    hash = (hash + base::LoadLittleEndian32(key + at)) * kFactor;
    hash ^= hash >> 16;
  }
  if (at == bytes) return hash;
  for (int shift = 0; at < bytes; at++, shift += 8) hash += static_cast<uint32_t>(key[at]) << shift;
  hash *= kFactor;
  return hash ^ (hash >> 24);
}

}  // namespace weft::table
