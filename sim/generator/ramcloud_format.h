// sim/generator/ramcloud_format.h: the sizes of RAMCloud's buckets and log entries, and where
// entries go in the log.
//
//     bucket     8 entries of 8 bytes: 16 bits of the key's hash, 1 bit "chain", 47 bits of pointer
//     log entry  1 byte of type, 1 of length (2 where that is 256 or more), then the object:
//                24 bytes of header, 1 of key count, 2 of key length, the key, the value
//     log        segments of 8 MiB, made of seglets of 64 KiB, which no entry straddles
//
// Units     bytes.
// Threads   values.
// Source    RAMCloud at b1866af1: HashTable, Segment, Object; the simulator's specification,
//           sections 1.2 and 3.5. That entries straddle no seglet is ours.
#pragma once

#include <cstdint>
#include <optional>

namespace weft::sim {

inline constexpr int kSlotsPerBucket = 8;
inline constexpr uint64_t kSlotBytes = 8;
inline constexpr uint64_t kBucketBytes = kSlotsPerBucket * kSlotBytes;
inline constexpr uint64_t kSegletBytes = 64 << 10;
inline constexpr uint64_t kSegmentBytes = 8 << 20;
inline constexpr int kKeyBytesMax = 1024;

// The bytes of a log entry, with a length of one byte, that are neither key nor value.
inline constexpr uint32_t kFixedOverheadBytes = 1 + 1 + 24 + 1 + 2;
// A log entry that has so many with a length of one byte has one of two instead.
inline constexpr uint32_t kLongEntryBytes = 256 + 1 + 1;

// All of a log entry before its value.
constexpr uint32_t OverheadBytes(int key_bytes, int value_bytes) {
  const uint32_t bytes = kFixedOverheadBytes + static_cast<uint32_t>(key_bytes);
  return bytes + (bytes + static_cast<uint32_t>(value_bytes) >= kLongEntryBytes ? 1 : 0);
}
constexpr uint32_t EntryBytes(int key_bytes, int value_bytes) {
  return OverheadBytes(key_bytes, value_bytes) + static_cast<uint32_t>(value_bytes);
}
static_assert(EntryBytes(23, 128) == 180 && EntryBytes(23, 256) == 309 &&
              EntryBytes(23, 512) == 565);

// Whoever appends to a log puts one entry after another into its own seglet.
struct LogHead {
  uint64_t next = 0;
  uint64_t end = 0;
};

// The seglets of a log, handed out in the order of their addresses.
class LogSpace {
 public:
  LogSpace(uint64_t base, uint64_t limit) : next_(base), limit_(limit) {}

  // Where the entry is; none: the log is full. REQUIRES: bytes <= kSegletBytes
  std::optional<uint64_t> Append(LogHead& head, uint32_t bytes) {
    if (head.end - head.next < bytes) {
      if (limit_ - next_ < kSegletBytes) return std::nullopt;
      head = {next_, next_ + kSegletBytes};
      next_ += kSegletBytes;
    }
    const uint64_t at = head.next;
    head.next += bytes;
    return at;
  }
  // Everything below was handed out.
  uint64_t next() const { return next_; }

 private:
  uint64_t next_;
  uint64_t limit_;
};

}  // namespace weft::sim
