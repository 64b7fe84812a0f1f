// compaction/device/kernel/unpack_kernels.h: the first phase: checks blocks and takes their entries
// apart.
//
// A kernel is a value that holds pointers into the device's memory. operator()(i) does item i;
// items may run at once, in any order. If it has Lane and Finish, 32 lanes run each item: Finish
// gets the exclusive or of what Lane returned.
//
// Threads   as said.
// Errors    none are returned: Findings counts what a kernel finds wrong.
#pragma once

#include "compaction/device/kernel/block_decode.h"
#include "compaction/device/kernel/checksum_lanes.h"
#include "compaction/device/kernel/first_where.h"
#include "compaction/device/kernel/snappy_decode.h"
#include "weft/db_options.h"

namespace weft::compaction::device {

// Findings that end a device's work. The CPU's executor then does the job, and finds what is wrong.
struct Findings {
  uint32_t damaged = 0;    // malformed blocks, and wrong checksums;
  uint32_t mistyped = 0;   // sound blocks compressed otherwise than assumed;
  uint32_t unordered = 0;  // keys that do not ascend
  uint32_t outside = 0;    // keys without the prefix that all keys of the job share;
  uint32_t undecided = 0;  // entries whose fate depends on more than the one before;
  uint32_t unparsed = 0;   // not wrong: malformed keys, which are kept
  uint32_t ended = 0;      // not wrong either: values that have ended

  bool any_wrong() const { return (damaged | mistyped | unordered | outside | undecided) != 0; }
};

// Finds the loaded blocks in the bytes that have arrived.
struct FindBlocks {
  const LoadedBlock* loaded;
  const uint8_t* bytes;
  InputBlock* blocks;

  WEFT_HOST_DEVICE void operator()(uint64_t item) const {
    const LoadedBlock& block = loaded[item];
    blocks[item] = {bytes + block.at, block.bytes, block.is_stored};
  }
};

struct CheckBlocks {
  const LoadedBlock* loaded;
  InputBlocks blocks;
  const ChecksumTables* tables;
  Findings* findings;

  WEFT_HOST_DEVICE uint32_t Lane(uint64_t item, uint32_t lane) const {
    const InputBlock block = blocks[item];
    if (block.is_stored == 0) return 0;
    return ChecksumOfLane(*tables, block.data, uint64_t{block.bytes} + 1, lane);
  }
  WEFT_HOST_DEVICE void Finish(uint64_t item, uint32_t sum) const {
    const InputBlock block = blocks[item];
    if (block.is_stored == 0) return;
    const uint32_t stored = base::LoadLittleEndian32(block.data + block.bytes + 1);
    // Nobody has seen the type of a block that the device has read itself.
    const bool is_compressed = block.data[block.bytes] != static_cast<uint8_t>(Compression::kNone);
    if (stored != MaskedChecksum(sum)) {
      base::AtomicAdd(&findings->damaged, 1);
    } else if (is_compressed != (loaded[item].opened_bytes != 0)) {
      base::AtomicAdd(&findings->mistyped, 1);
    }
  }
};

// Decompresses blocks, once their checksums were checked.
struct OpenBlocks {
  const LoadedBlock* loaded;
  uint8_t* room;
  InputBlocks blocks;
  Findings* findings;

  WEFT_HOST_DEVICE void operator()(uint64_t item) const {
    const LoadedBlock& of = loaded[item];
    if (of.opened_bytes == 0) return;
    const InputBlock block = blocks[item];
    uint8_t* const to = room + of.opened_at;
    if (SnappyDecoder(block.data, block.bytes, to, of.opened_bytes).Run()) {
      blocks.at[item] = {to, of.opened_bytes, 0};
    } else {
      base::AtomicAdd(&findings->damaged, 1);
      blocks.at[item] = {to, 0, 0};
    }
  }
};

// groups[i]: of block i.
struct CountBlockGroups {
  InputBlocks blocks;
  uint32_t* groups;
  Findings* findings;

  WEFT_HOST_DEVICE void operator()(uint64_t item) const {
    uint32_t count = 0;
    if (!CountGroups(blocks[item], &count)) {
      base::AtomicAdd(&findings->damaged, 1);
      count = 0;
    }
    groups[item] = count;
  }
};

// The last of `count` + 1 ascending sums that is not above `value`: in whose share it lies.
WEFT_HOST_DEVICE inline uint32_t FindShare(const uint64_t* sums, uint32_t count, uint64_t value) {
  return FirstWhere(0, count, [&](uint32_t i) { return sums[i + 1] > value; });
}

// By group: entries, and bytes of their keys.
struct CountGroupEntries {
  InputBlocks blocks;
  uint32_t block_count;
  const uint64_t* group_begin;  // by block, one more at the end
  uint32_t* entries;
  uint32_t* key_bytes;
  Findings* findings;

  WEFT_HOST_DEVICE void operator()(uint64_t item) const {
    const uint32_t block = FindShare(group_begin, block_count, item);
    GroupWalk walk(blocks[block], static_cast<uint32_t>(item - group_begin[block]));
    uint32_t count = 0;
    uint64_t bytes = 0;
    GroupWalk::Step step;
    for (step = walk.Next(); step == GroupWalk::Step::kEntry; step = walk.Next()) {
      count++;
      bytes += walk.key_bytes;
    }
    if (step == GroupWalk::Step::kDamaged || bytes > ~uint32_t{0}) {
      base::AtomicAdd(&findings->damaged, 1);
      count = 0;
      bytes = 0;
    }
    entries[item] = count;
    key_bytes[item] = static_cast<uint32_t>(bytes);
  }
};

// Puts each entry of a group into the columns, its key into the room for keys.
struct DecodeGroups {
  InputBlocks blocks;
  uint32_t block_count;
  const uint64_t* group_begin;
  const uint64_t* entry_begin;  // by group
  const uint64_t* key_begin;    // by group
  uint32_t first_entry;         // the number of the first entry here
  uint8_t* key_room;
  uint32_t common;  // bytes that all user keys begin with
  Entries entries;

  WEFT_HOST_DEVICE void operator()(uint64_t item) const {
    const uint32_t block = FindShare(group_begin, block_count, item);
    GroupWalk walk(blocks[block], static_cast<uint32_t>(item - group_begin[block]));
    uint32_t entry = first_entry + static_cast<uint32_t>(entry_begin[item]);
    uint8_t* to = key_room + key_begin[item];
    const uint8_t* before = to;
    for (; walk.Next() == GroupWalk::Step::kEntry; entry++) {
      for (uint32_t i = 0; i < walk.shared; i++) to[i] = before[i];
      for (uint32_t i = 0; i < walk.rest_bytes; i++) to[walk.shared + i] = walk.rest[i];
      entries.key[entry] = to;
      entries.key_bytes[entry] = walk.key_bytes;
      entries.value[entry] = walk.value;
      entries.value_bytes[entry] = walk.value_bytes;
      entries.prefix[entry] = PrefixOf({to, walk.key_bytes}, common);
      before = to;
      to += walk.key_bytes;
    }
  }
};

// Keys of a run must ascend, and begin with the common prefix. Item i is entry first_entry + i.
struct CheckOrder {
  Entries entries;
  uint32_t first_entry;
  const uint32_t* run_begin;  // entries; one more at the end
  uint32_t runs;
  Bytes common;
  Findings* findings;

  WEFT_HOST_DEVICE void operator()(uint64_t item) const {
    const uint32_t entry = first_entry + static_cast<uint32_t>(item);
    const Bytes key = entries.Key(entry);
    if (common.size != 0 && (key.size < common.size + kTrailerBytes ||
                             SharedBytes({key.at, common.size}, common) != common.size)) {
      base::AtomicAdd(&findings->outside, 1);
    }
    for (uint32_t run = 0; run < runs; run++) {
      if (run_begin[run] == entry) return;
    }
    if (CompareInternal(entries.Key(entry - 1), key) >= 0) {
      base::AtomicAdd(&findings->unordered, 1);
    }
  }
};

}  // namespace weft::compaction::device
