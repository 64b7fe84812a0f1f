// compaction/device/kernel/block_cut.h: where blocks end, for all entries at once.
//
// LevelDB fills a block entry by entry and ends it with the entry that reaches the block size. The
// bytes of entry j depend on where its block began. At a restart point (every R'th entry from the
// block's first) it is whole; elsewhere it lacks what its key shares with the key before. Let
//     plain(j)  be its bytes if it is not at a restart point,
//     extra(j)  the further bytes that it takes if it is.
// A block of the entries i to j, with m = (j - i) / R, then has
//     plain(i) + ... + plain(j)  +  extra(i) + extra(i + R) + ... + extra(i + mR)  +  4 (m + 2)
// bytes: the entries, m + 1 restart points and their number. Both sums are differences of running
// sums. The second runs over the entries ordered by their number modulo R (Stride), where i, i + R,
// i + 2R, ... are neighbours. The bytes grow with j, so a search finds the block's end for any i,
// without a look at other blocks.
//
// A worked example, and how the chain of blocks is followed: docs/design/0018-where-blocks-end.md.
//
// Threads   pure.
// Source    the rule is LevelDB's (table/block_builder.h); its parallel form is ours.
#pragma once

#include "compaction/device/kernel/first_where.h"
#include "compaction/device/kernel/key_bytes.h"

namespace weft::compaction::device {

// The order of entries by their number modulo the restart interval, then by their number.
struct Stride {
  uint32_t count = 0;     // of entries
  uint32_t interval = 1;  // R

  WEFT_HOST_DEVICE uint64_t Place(uint32_t entry) const {
    const uint32_t remainder = entry % interval;
    const uint32_t longer = count % interval;  // these remainders have one entry more
    return uint64_t{remainder} * (count / interval) + Smaller(remainder, longer) + entry / interval;
  }
};

struct BlockSizes {
  const uint64_t* plain_before = nullptr;  // by entry, one more at the end
  const uint64_t* extra_before = nullptr;  // by place, one more at the end
  Stride stride;

  // The further bytes of the first `restarts` restart points of a block that begins with `first`.
  WEFT_HOST_DEVICE uint64_t Extra(uint32_t first, uint32_t restarts) const {
    const uint64_t place = stride.Place(first);
    return extra_before[place + restarts] - extra_before[place];
  }
  // Where entry `entry` of that block begins in it.
  WEFT_HOST_DEVICE uint64_t OffsetIn(uint32_t first, uint32_t entry) const {
    const uint32_t restarts = (entry - first + stride.interval - 1) / stride.interval;
    return plain_before[entry] - plain_before[first] + Extra(first, restarts);
  }
  // The whole block's bytes if `last` is its last entry.
  WEFT_HOST_DEVICE uint64_t BlockBytes(uint32_t first, uint32_t last) const {
    const uint32_t restarts = (last - first) / stride.interval + 1;
    return plain_before[last + 1] - plain_before[first] + Extra(first, restarts) +
           4 * (uint64_t{restarts} + 1);
  }
  // The entry with which a block that begins with `first` reaches `bytes`; stride.count if none
  // does.
  WEFT_HOST_DEVICE uint32_t LastOfBlock(uint32_t first, uint64_t bytes) const {
    uint32_t low = first;  // it is not before this one
    uint32_t step = 1;
    uint32_t high = first;  // this one, or none before it
    while (high < stride.count && BlockBytes(first, high) < bytes) {
      low = high + 1;
      high = stride.count - high > step ? high + step : stride.count;
      step *= 2;
    }
    return FirstWhere(low, high, [&](uint32_t last) { return BlockBytes(first, last) >= bytes; });
  }
};

}  // namespace weft::compaction::device
