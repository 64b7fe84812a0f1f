// compaction/device/kernel/pack_kernels.h: the third phase: makes blocks, filters and index entries
// of the entries that stay.
//
// Entries are numbered here by their place among those that stay (`live`). The last block of a
// piece is left to the next: the entries there decide its end, its index entry and its table's end.
//
// Threads   as compaction/device/kernel/unpack_kernels.h says.
#pragma once

#include "compaction/device/kernel/block_cut.h"
#include "compaction/device/kernel/checksum_lanes.h"
#include "compaction/device/kernel/entries.h"
#include "table/bloom_hash.h"

namespace weft::compaction::device {

// Copies by a warp: lane l takes bytes l, l + 32, ...
WEFT_HOST_DEVICE inline void CopyByLane(uint8_t* to, Bytes from, uint32_t lane) {
  for (uint32_t i = lane; i < from.size; i += kLanes) to[i] = from.at[i];
}

// shared[s], plain[s], extra[place of s] of each entry (compaction/device/kernel/block_cut.h), and
// the hash that filters use.
struct MeasureEntries {
  Entries entries;
  const uint32_t* live;
  Stride stride;
  uint32_t* shared;
  uint32_t* plain;
  uint32_t* extra;
  uint32_t* hash;

  WEFT_HOST_DEVICE void operator()(uint64_t item) const {
    const auto s = static_cast<uint32_t>(item);
    const Bytes key = entries.Key(live[s]);
    const uint32_t value_bytes = entries.Value(live[s]).size;
    const uint32_t common = s == 0 ? 0 : SharedBytes(entries.Key(live[s - 1]), key);
    const uint32_t rest = key.size - common;
    const uint32_t lengths = VarintBytes(common) + VarintBytes(rest);
    shared[s] = common;
    plain[s] = lengths + VarintBytes(value_bytes) + rest + value_bytes;
    extra[stride.Place(s)] = 1 + VarintBytes(key.size) + key.size - lengths - rest;
    const Bytes hashed = IsShort(key) ? key : UserKey(key);
    hash[s] = table::BloomHash(hashed.at, hashed.size);
  }
};

// next[s]: where the block after the one that begins with s begins; `count` at the end. cuts: where
// the rule about the level below ends tables, ascending.
struct FindNextBlocks {
  BlockSizes sizes;
  uint64_t block_bytes;
  const uint32_t* cuts;
  uint32_t cut_count;
  uint32_t* next;

  WEFT_HOST_DEVICE void operator()(uint64_t item) const {
    const auto s = static_cast<uint32_t>(item);
    const uint32_t last = sizes.LastOfBlock(s, block_bytes);
    const uint32_t end = last == sizes.stride.count ? last : last + 1;
    next[s] = Smaller(end, NextCut(s));
  }
  WEFT_HOST_DEVICE uint32_t NextCut(uint32_t s) const {
    const uint32_t cut = FirstWhere(0, cut_count, [&](uint32_t i) { return cuts[i] > s; });
    return cut == cut_count ? ~uint32_t{0} : cuts[cut];
  }
};

// The chain of blocks from entry 0 is followed in three steps, so that few of its links are
// followed one after the other. Entries are taken in chunks of kChunk. A link that leads back,
// because one of its bits flipped, ends the chain: otherwise it would never end.
inline constexpr uint32_t kChunkBits = 11;
inline constexpr uint32_t kChunk = 1u << kChunkBits;

// 1. leave[s], which begins as next[s]: where a chain through s leaves the chunk of s. Each round
//    follows twice as many links as the one before; kChunkBits rounds are enough. In place: another
//    entry's value lies on the chain, whichever round it is from.
struct LeaveChunk {
  uint32_t count;
  uint32_t* leave;

  WEFT_HOST_DEVICE void operator()(uint64_t item) const {
    const uint32_t to = leave[item];
    if (to < count && to >> kChunkBits == item >> kChunkBits) leave[item] = leave[to];
  }
};
// 2. enter[c]: where the chain from entry 0 enters chunk c, or `count` if it skips it. One thread.
struct EnterChunks {
  uint32_t count;
  const uint32_t* leave;
  uint32_t* enter;  // filled with `count`

  WEFT_HOST_DEVICE void operator()(uint64_t) const {
    uint32_t end = 0;  // of the chunks passed
    for (uint32_t s = 0; s >= end && s < count; s = leave[s]) {
      enter[s >> kChunkBits] = s;
      end = s + 1;
    }
  }
};
// 3. begins[s]: 1 where a block does. By chunk.
struct MarkBlocks {
  uint32_t count;
  const uint32_t* next;
  const uint32_t* enter;
  uint32_t* begins;  // filled with 0

  WEFT_HOST_DEVICE void operator()(uint64_t chunk) const {
    uint32_t end = 0;
    for (uint32_t s = enter[chunk]; s >= end && s < count && s >> kChunkBits == chunk;
         s = next[s]) {
      begins[s] = 1;
      end = s + 1;
    }
  }
};
// first[b], bytes[b]: block b's first entry, and how long it is.
struct GatherBlocks {
  BlockSizes sizes;
  const uint32_t* begins;
  const uint64_t* blocks_before;  // by entry, one more at the end
  const uint32_t* next;
  uint32_t* first;
  uint32_t* bytes;

  WEFT_HOST_DEVICE void operator()(uint64_t item) const {
    if (begins[item] == 0) return;
    const auto s = static_cast<uint32_t>(item);
    const uint32_t end = Smaller(next[s], sizes.stride.count);
    first[blocks_before[item]] = s;
    bytes[blocks_before[item]] = static_cast<uint32_t>(sizes.BlockBytes(s, end - 1));
  }
};

inline constexpr uint32_t kTypeAndChecksumBytes = 5;  // table::kBlockTrailerBytes

// Bytes of blocks with their trailers.
struct AddTrailers {
  const uint32_t* bytes;
  uint32_t* stored_bytes;
  WEFT_HOST_DEVICE void operator()(uint64_t block) const {
    stored_bytes[block] = bytes[block] + kTypeAndChecksumBytes;
  }
};

// Writes entry s into its block, by lanes.
struct WriteEntries {
  Entries entries;
  const uint32_t* live;
  const uint32_t* shared;
  const uint32_t* begins;
  const uint64_t* blocks_before;
  const uint32_t* first;
  BlockSizes sizes;
  const uint64_t* block_at;  // in `out`
  uint8_t* out;

  WEFT_HOST_DEVICE uint32_t Lane(uint64_t item, uint32_t lane) const {
    const auto s = static_cast<uint32_t>(item);
    const uint64_t block = blocks_before[s] + begins[s] - 1;
    const uint32_t block_first = first[block];
    const Bytes key = entries.Key(live[s]);
    const Bytes value = entries.Value(live[s]);
    const bool is_restart = (s - block_first) % sizes.stride.interval == 0;
    const uint32_t common = is_restart ? 0 : Smaller(shared[s], key.size);
    const Bytes rest = {key.at + common, key.size - common};
    uint8_t* to = out + block_at[block] + sizes.OffsetIn(block_first, s);
    uint8_t* behind = to;
    if (lane == 0) {
      behind = PutVarint(PutVarint(PutVarint(to, common), rest.size), value.size);
    } else {
      behind += VarintBytes(common) + VarintBytes(rest.size) + VarintBytes(value.size);
    }
    CopyByLane(behind, rest, lane);
    CopyByLane(behind + rest.size, value, lane);
    return 0;
  }
  WEFT_HOST_DEVICE void Finish(uint64_t, uint32_t) const {}
};

// Whether the block lies with its trailer in `out_bytes`: always, unless a bit has flipped.
WEFT_HOST_DEVICE inline bool IsInside(uint64_t at, uint32_t bytes, uint64_t out_bytes) {
  return at <= out_bytes && uint64_t{bytes} + kTypeAndChecksumBytes <= out_bytes - at;
}

// Writes the end of a block: restart points, their number, and that it is uncompressed.
struct WriteRestarts {
  const uint32_t* first;  // one more at the end
  const uint32_t* bytes;
  BlockSizes sizes;
  const uint64_t* block_at;
  uint8_t* out;
  uint64_t out_bytes;

  WEFT_HOST_DEVICE uint32_t Lane(uint64_t block, uint32_t lane) const {
    const uint32_t entries = first[block + 1] - first[block];
    const uint32_t restarts = (entries - 1) / sizes.stride.interval + 1;
    if (!IsInside(block_at[block], bytes[block], out_bytes) || restarts >= bytes[block] / 4)
      return 0;
    uint8_t* const end = out + block_at[block] + bytes[block];
    uint8_t* const at = end - 4 * (uint64_t{restarts} + 1);
    for (uint32_t i = lane; i < restarts; i += kLanes) {
      const uint32_t entry = first[block] + i * sizes.stride.interval;
      base::StoreLittleEndian32(at + 4 * uint64_t{i},
                                static_cast<uint32_t>(sizes.OffsetIn(first[block], entry)));
    }
    if (lane == 0) {
      base::StoreLittleEndian32(end - 4, restarts);
      *end = 0;
    }
    return 0;
  }
  WEFT_HOST_DEVICE void Finish(uint64_t, uint32_t) const {}
};

// After WriteEntries and WriteRestarts: the checksum of block and type.
struct WriteChecksums {
  const uint32_t* bytes;
  const uint64_t* block_at;
  const ChecksumTables* tables;
  uint8_t* out;
  uint64_t out_bytes;

  WEFT_HOST_DEVICE uint32_t Lane(uint64_t block, uint32_t lane) const {
    if (!IsInside(block_at[block], bytes[block], out_bytes)) return 0;
    return ChecksumOfLane(*tables, out + block_at[block], uint64_t{bytes[block]} + 1, lane);
  }
  WEFT_HOST_DEVICE void Finish(uint64_t block, uint32_t sum) const {
    if (!IsInside(block_at[block], bytes[block], out_bytes)) return;
    base::StoreLittleEndian32(out + block_at[block] + bytes[block] + 1, MaskedChecksum(sum));
  }
};

// Collects what WriteChecksums has written, block by block.
struct GatherChecksums {
  const uint32_t* bytes;
  const uint64_t* block_at;
  const uint8_t* blocks;
  uint32_t* out;

  WEFT_HOST_DEVICE void operator()(uint64_t block) const {
    out[block] = base::LoadLittleEndian32(blocks + block_at[block] + bytes[block] + 1);
  }
};

// A table's index names each block by a short key, not below its last one and below all that
// follow. It is the block's last key, or its beginning with the last byte one up.
struct Separator {
  Bytes key;              // whole, or the part of it that stays
  uint32_t is_shortened;  // its last byte is one up, and a trailer for seeking follows

  WEFT_HOST_DEVICE uint32_t size() const {
    return key.size + (is_shortened != 0 ? kTrailerBytes : 0);
  }
};

// Between two blocks (table::InternalComparator::FindShortestSeparator).
WEFT_HOST_DEVICE inline Separator SeparatorBetween(Bytes last, Bytes next) {
  if (IsShort(last) || IsShort(next)) return {last, 0};
  const Bytes user = UserKey(last);
  const Bytes limit = UserKey(next);
  const uint32_t at = SharedBytes(user, limit);
  if (at >= Smaller(user.size, limit.size)) return {last, 0};
  const uint32_t byte = user.at[at];
  if (byte == 0xff || byte + 1 >= limit.at[at] || at + 1 >= user.size) return {last, 0};
  return {{last.at, at + 1}, 1};
}
// At the table's end (table::InternalComparator::FindShortSuccessor).
WEFT_HOST_DEVICE inline Separator SuccessorOf(Bytes last) {
  if (IsShort(last)) return {last, 0};
  const Bytes user = UserKey(last);
  uint32_t at = 0;
  while (at < user.size && user.at[at] == 0xff) at++;
  return at + 1 < user.size ? Separator{{last.at, at + 1}, 1} : Separator{last, 0};
}

// Where the host has put a block in its table.
struct BlockPlace {
  uint64_t offset = 0;        // in the table's file
  uint64_t stored_bytes = 0;  // without trailer
  uint32_t ends_table = 0;

  friend bool operator==(const BlockPlace&, const BlockPlace&) = default;
};

// A block's entry in its table's index block. The index block has a restart point at each entry, so
// that entries do not depend on each other.
struct IndexEntry {
  Entries entries;
  const uint32_t* live;
  const uint32_t* first;  // one more at the end
  uint32_t count;         // of live entries
  const BlockPlace* places;

  WEFT_HOST_DEVICE Separator SeparatorOf(uint64_t block) const {
    const uint32_t next = first[block + 1];
    const Bytes last = entries.Key(live[next - 1]);
    if (places[block].ends_table != 0 || next == count) return SuccessorOf(last);
    return SeparatorBetween(last, entries.Key(live[next]));
  }
  WEFT_HOST_DEVICE uint32_t HandleBytes(uint64_t block) const {
    return VarintBytes(places[block].offset) + VarintBytes(places[block].stored_bytes);
  }
};
struct MeasureIndexEntries {
  IndexEntry index;
  uint32_t* bytes;

  WEFT_HOST_DEVICE void operator()(uint64_t block) const {
    const uint32_t separator = index.SeparatorOf(block).size();
    const uint32_t handle = index.HandleBytes(block);
    bytes[block] = 1 + VarintBytes(separator) + VarintBytes(handle) + separator + handle;
  }
};
struct WriteIndexEntries {
  IndexEntry index;
  const uint64_t* at;
  uint8_t* out;

  WEFT_HOST_DEVICE void operator()(uint64_t block) const {
    // The largest sequence number, and the type that is sought (table::kTypeForSeek).
    constexpr uint64_t kSeekTrailer = ~uint64_t{0} << 8 | 1;
    const Separator separator = index.SeparatorOf(block);
    uint8_t* to = out + at[block];
    to = PutVarint(to, 0);
    to = PutVarint(to, separator.size());
    to = PutVarint(to, index.HandleBytes(block));
    for (uint32_t i = 0; i < separator.key.size; i++) *to++ = separator.key.at[i];
    if (separator.is_shortened != 0) {
      to[-1]++;
      base::StoreLittleEndian64(to, kSeekTrailer);
      to += kTrailerBytes;
    }
    to = PutVarint(to, index.places[block].offset);
    PutVarint(to, index.places[block].stored_bytes);
  }
};

// One window of a table's filter block: all keys of the blocks that begin in it.
struct FilterWindow {
  uint32_t first = 0;  // live entries
  uint32_t end = 0;
  uint32_t bits = 0;  // a multiple of 8
  uint32_t probes = 0;
  uint64_t at = 0;  // in the filters' bytes, a multiple of 4
};
struct WriteFilters {
  const FilterWindow* windows;
  const uint32_t* hash;  // by live entry
  uint32_t count;        // of these
  uint32_t probes_max;
  uint8_t* out;  // zeros

  WEFT_HOST_DEVICE uint32_t Lane(uint64_t item, uint32_t lane) const {
    const FilterWindow& window = windows[item];
    auto* const words = reinterpret_cast<uint32_t*>(out + window.at);
    const uint32_t end = Smaller(window.end, count);
    const uint32_t probes = Smaller(window.probes, probes_max);
    for (uint32_t s = window.first + lane; s < end; s += kLanes) {
      uint32_t probe = hash[s];
      const uint32_t step = probe >> 17 | probe << 15;
      for (uint32_t i = 0; i < probes; i++, probe += step) {
        const uint32_t bit = probe % window.bits;
        base::AtomicOr(&words[bit / 32], 1u << (bit % 32));
      }
    }
    if (lane == 0) {
      // By a whole word, as the bits beside it are.
      const uint32_t byte = window.bits / 8;
      base::AtomicOr(&words[byte / 4], window.probes << (8 * (byte % 4)));
    }
    return 0;
  }
  WEFT_HOST_DEVICE void Finish(uint64_t, uint32_t) const {}
};

}  // namespace weft::compaction::device
