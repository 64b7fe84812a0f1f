// table/copy_short.h: copies few bytes without the call that memcpy is when their number is not
// known.
//
// Threads   pure.
// Cost      two loads and two stores, which may overlap, up to 16 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft::table {

// Either pointer may be null where `bytes` is 0. REQUIRES: the ranges do not overlap
inline void CopyShort(char* to, const char* from, size_t bytes) {
  if (bytes > 16) {
    std::memcpy(to, from, bytes);
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

}  // namespace weft::table
