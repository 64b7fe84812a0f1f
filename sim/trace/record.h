// sim/trace/record.h: what a core of a key-value store did, one step a record: memory accesses, and
// the marks that prefetching needs.
//
//     offset  0        8      12     14     15    16     20    22     23    24
//             | addr   | gap  | size | kind | cls | aux  | tag | slot | dep |     little-endian
//
// Addresses are physical: offsets into the traced memory, index first, objects above it.
//
// Units     gap in instructions, everything else in bytes and counts.
// Threads   values.
// Source    the simulator's specification, section 3.4.
#pragma once

#include <cstdint>
#include <type_traits>

namespace weft::sim {

enum class RecordKind : uint8_t {
  kRead = 0,
  kWrite = 1,
  kPrefetch = 2,  // by software: doesn't wait for the data
  kOpBegin = 3,   // aux: OpType
  kOpEnd = 4,
  // The key of the lookup to come, for a unit that looks into the bucket: addr is the bucket's,
  // tag the key's, slot where it is (kNoSlot: nowhere, or in an overflow bucket).
  kKey = 5,
  kHit = 6,    // the lookup is over: bucket aux, found in slot (kNoSlot as above)
  kSlot = 7,   // the index changed: bucket aux, slot, tag now at addr with size; size 0: erased
  kChain = 8,  // slot of bucket aux became a pointer to an overflow bucket at addr
};
inline constexpr int kRecordKinds = 9;

enum class AccessClass : uint8_t {
  kOther = 0,
  kBucket = 1,
  kObjectHead = 2,  // header and key
  kObjectBody = 3,
  kLogAppend = 4,
  kStack = 5,  // and metadata
  kNetworkBuffer = 6,
};
inline constexpr int kAccessClasses = 7;

enum class OpType : uint32_t { kGet = 0, kPut = 1 };

inline constexpr uint8_t kNoSlot = 0xff;

struct Record {
  uint64_t addr = 0;
  uint32_t gap = 0;  // plain instructions before this one
  uint16_t size = 0;
  RecordKind kind = RecordKind::kRead;
  AccessClass cls = AccessClass::kOther;
  uint32_t aux = 0;
  uint16_t tag = 0;
  uint8_t slot = kNoSlot;
  // 0, or: waits for the data of an earlier read of its core: the one that many reads, writes and
  // prefetches before.
  uint8_t dep = 0;

  bool operator==(const Record&) const = default;
  bool IsAccess() const { return kind <= RecordKind::kPrefetch; }
};
static_assert(sizeof(Record) == 24 && std::is_trivially_copyable_v<Record>);

}  // namespace weft::sim
