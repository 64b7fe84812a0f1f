// base/copy_short.h: copies few bytes without the call that memcpy is when their number is not
// known.
//
// Threads   pure.
// Cost      up to 16 bytes two loads and two stores, which may overlap; up to 64 four, of 16 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft::base {

// Either pointer may be null where `bytes` is 0. REQUIRES: the ranges do not overlap
inline void CopyShort(char* to, const char* from, size_t bytes) {
  if (bytes > 64) {
    std::memcpy(to, from, bytes);
  } else if (bytes > 32) {
    std::memcpy(to, from, 32);
    std::memcpy(to + bytes - 32, from + bytes - 32, 32);
  } else if (bytes >= 16) {
    std::memcpy(to, from, 16);
    std::memcpy(to + bytes - 16, from + bytes - 16, 16);
  } else if (bytes >= 8) {
    uint64_t head, tail;
    std::memcpy(&head, from, sizeof head);
    std::memcpy(&tail, from + bytes - sizeof tail, sizeof tail);
    std::memcpy(to, &head, sizeof head);
    std::memcpy(to + bytes - sizeof tail, &tail, sizeof tail);
  } else if (bytes >= 4) {
    uint32_t head, tail;
    std::memcpy(&head, from, sizeof head);
    std::memcpy(&tail, from + bytes - sizeof tail, sizeof tail);
    std::memcpy(to, &head, sizeof head);
    std::memcpy(to + bytes - sizeof tail, &tail, sizeof tail);
  } else if (bytes != 0) {
    to[0] = from[0];
    to[bytes / 2] = from[bytes / 2];
    to[bytes - 1] = from[bytes - 1];
  }
}

}  // namespace weft::base
