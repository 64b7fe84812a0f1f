// compaction/device/kernel/key_bytes.h: keys and varints as a device's threads read and write them.
//
// Threads   pure.
// Source    the rules are those of table/key_order.h, base/coding.h and table/shared_prefix.h,
//           which the host's own code uses; tests hold the two to each other.
#pragma once

#include "base/host_device.h"

namespace weft::compaction::device {

inline constexpr uint32_t kTrailerBytes = 8;

// A key, or any bytes, in the device's memory.
struct Bytes {
  const uint8_t* at;
  uint32_t size;
};

WEFT_HOST_DEVICE inline uint32_t Smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

// How many bytes the two begin with in common.
WEFT_HOST_DEVICE inline uint32_t SharedBytes(Bytes a, Bytes b) {
  const uint32_t limit = Smaller(a.size, b.size);
  uint32_t at = 0;
  while (at + 8 <= limit &&
         base::LoadLittleEndian64(a.at + at) == base::LoadLittleEndian64(b.at + at)) {
    at += 8;
  }
  while (at < limit && a.at[at] == b.at[at]) at++;
  return at;
}

// As memcmp, the shorter first on a tie: below 0, 0 or above.
WEFT_HOST_DEVICE inline int CompareBytes(Bytes a, Bytes b) {
  const uint32_t at = SharedBytes(a, b);
  if (at < a.size && at < b.size) return a.at[at] < b.at[at] ? -1 : 1;
  return a.size == b.size ? 0 : a.size < b.size ? -1 : 1;
}

WEFT_HOST_DEVICE inline bool IsShort(Bytes internal_key) {
  return internal_key.size < kTrailerBytes;
}
// REQUIRES of both: !IsShort(internal_key)
WEFT_HOST_DEVICE inline Bytes UserKey(Bytes internal_key) {
  return {internal_key.at, internal_key.size - kTrailerBytes};
}
WEFT_HOST_DEVICE inline uint64_t Trailer(Bytes internal_key) {
  return base::LoadLittleEndian64(internal_key.at + internal_key.size - kTrailerBytes);
}

// Whether the key has a trailer, with a type that there is (table::ParseInternalKey).
WEFT_HOST_DEVICE inline bool Parses(Bytes internal_key) {
  return !IsShort(internal_key) && (Trailer(internal_key) & 0xff) <= 1;
}

// Internal keys over bytewise user keys; those too short for a trailer come first.
WEFT_HOST_DEVICE inline int CompareInternal(Bytes a, Bytes b) {
  if (IsShort(a) || IsShort(b)) {
    if (IsShort(a) && IsShort(b)) return CompareBytes(a, b);
    return IsShort(a) ? -1 : 1;
  }
  const int order = CompareBytes(UserKey(a), UserKey(b));
  if (order != 0) return order;
  const uint64_t trailer_a = Trailer(a);
  const uint64_t trailer_b = Trailer(b);
  return trailer_a == trailer_b ? 0 : trailer_a > trailer_b ? -1 : 1;
}

// An internal key with a user key; short ones come first.
WEFT_HOST_DEVICE inline int CompareWithUserKey(Bytes internal_key, Bytes user_key) {
  return IsShort(internal_key) ? -1 : CompareBytes(UserKey(internal_key), user_key);
}

WEFT_HOST_DEVICE inline uint32_t VarintBytes(uint64_t value) {
  uint32_t bytes = 1;
  for (; value >= 0x80; value >>= 7) bytes++;
  return bytes;
}
WEFT_HOST_DEVICE inline uint8_t* PutVarint(uint8_t* to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<uint8_t>(value | 0x80);
  *to++ = static_cast<uint8_t>(value);
  return to;
}
// Reads a varint of 32 bits from [from, limit); returns the byte behind it, or null.
WEFT_HOST_DEVICE inline const uint8_t* TakeVarint32(const uint8_t* from, const uint8_t* limit,
                                                    uint32_t* value) {
  uint32_t result = 0;
  for (int shift = 0; shift <= 28 && from < limit; shift += 7) {
    const uint32_t byte = *from++;
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return from;
    }
  }
  return nullptr;
}

}  // namespace weft::compaction::device
