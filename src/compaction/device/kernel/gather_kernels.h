// compaction/device/kernel/gather_kernels.h: copies some entries out of a piece: keys that the host
// asks for, and all that is carried over to the next piece.
//
// Threads   as compaction/device/kernel/unpack_kernels.h says.
#pragma once

#include "compaction/device/kernel/pack_kernels.h"

namespace weft::compaction::device {

// Keys of the live entries in `which`, one after the other.
struct MeasureKeys {
  Entries entries;
  const uint32_t* live;
  const uint32_t* which;
  uint32_t* bytes;

  WEFT_HOST_DEVICE void operator()(uint64_t i) const {
    bytes[i] = entries.Key(live[which[i]]).size;
  }
};
struct CopyKeys {
  Entries entries;
  const uint32_t* live;
  const uint32_t* which;
  const uint64_t* at;
  uint8_t* out;

  WEFT_HOST_DEVICE uint32_t Lane(uint64_t i, uint32_t lane) const {
    CopyByLane(out + at[i], entries.Key(live[which[i]]), lane);
    return 0;
  }
  WEFT_HOST_DEVICE void Finish(uint64_t, uint32_t) const {}
};

// Live entries from `begin` on, as columns of their own: keys and values in `room`.
struct MeasureCarry {
  Entries entries;
  const uint32_t* live;
  uint32_t begin;
  uint32_t* bytes;

  WEFT_HOST_DEVICE void operator()(uint64_t i) const {
    const uint32_t entry = live[begin + i];
    bytes[i] = entries.Key(entry).size + entries.Value(entry).size;
  }
};
struct CarryOut {
  Entries from;
  const uint32_t* live;
  uint32_t begin;
  const uint64_t* at;
  uint8_t* room;
  Entries to;

  WEFT_HOST_DEVICE uint32_t Lane(uint64_t i, uint32_t lane) const {
    const Bytes key = from.Key(live[begin + i]);
    const Bytes value = from.Value(live[begin + i]);
    uint8_t* const key_to = room + at[i];
    CopyByLane(key_to, key, lane);
    CopyByLane(key_to + key.size, value, lane);
    if (lane == 0) {
      to.key[i] = key_to;
      to.key_bytes[i] = key.size;
      to.value[i] = key_to + key.size;
      to.value_bytes[i] = value.size;
    }
    return 0;
  }
  WEFT_HOST_DEVICE void Finish(uint64_t, uint32_t) const {}
};

}  // namespace weft::compaction::device
