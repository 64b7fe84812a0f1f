// compaction/device/kernel/block_decode.h: reads input blocks, with one thread for the entries
// behind each restart point.
//
// Keys are whole at restart points. So the entries from one to the next (a *group*) can be read
// without those before. LevelDB's readers walk through a block without looking at restart points.
// So the CPU may read a block whose restart points do not agree with its entries; here it counts as
// damage, and the CPU says what is wrong with it.
//
// Layout    table/block_builder.h.
// Threads   pure; distinct groups at once.
// Errors    no bytes make it read outside the block.
#pragma once

#include "compaction/device/kernel/entries.h"

namespace weft::compaction::device {

// A block among a piece's bytes.
struct LoadedBlock {
  uint64_t at = 0;
  uint32_t bytes = 0;
  uint32_t is_stored = 0;  // with its trailer, not checked yet
  // Not 0: compressed by Snappy; opens to this many, which go to opened_at of the room for them.
  uint32_t opened_bytes = 0;
  uint64_t opened_at = 0;
};

// A data block of an input table, uncompressed once OpenBlocks has been run.
struct InputBlock {
  const uint8_t* data = nullptr;
  uint32_t bytes = 0;  // entries and restart points
  // The block's bytes lie as in the file, followed by the trailer: its checksum was not checked
  // yet.
  uint32_t is_stored = 0;
};

// A piece's blocks. None counts as longer than any can be (compaction/device/kernel/entries.h,
// Flips).
struct InputBlocks {
  InputBlock* at = nullptr;
  uint32_t bytes_max = 0;

  WEFT_HOST_DEVICE InputBlock operator[](uint64_t i) const {
    return {at[i].data, Smaller(at[i].bytes, bytes_max), at[i].is_stored};
  }
};

// Where the restart points begin; false if the bytes are no block.
WEFT_HOST_DEVICE inline bool FindRestarts(const InputBlock& block, uint32_t* at, uint32_t* count) {
  constexpr uint32_t kWord = 4;
  if (block.bytes < kWord) return false;
  const uint32_t restarts = base::LoadLittleEndian32(block.data + block.bytes - kWord);
  if (restarts > (block.bytes - kWord) / kWord) return false;
  *at = block.bytes - (restarts + 1) * kWord;
  *count = restarts;
  return true;
}

// Groups of the block; false if its restart points are damaged.
WEFT_HOST_DEVICE inline bool CountGroups(const InputBlock& block, uint32_t* groups) {
  uint32_t at;
  *groups = 0;
  if (!FindRestarts(block, &at, groups)) return false;
  if (*groups == 0) return at == 0;
  return base::LoadLittleEndian32(block.data + at) == 0;
}

// Walks the entries of one group.
class GroupWalk {
 public:
  enum class Step : uint8_t { kEntry, kEnd, kDamaged };

  // REQUIRES: CountGroups(block) passed, and counted more than `group`
  WEFT_HOST_DEVICE GroupWalk(const InputBlock& block, uint32_t group) {
    uint32_t at = 0;
    uint32_t count = 0;
    FindRestarts(block, &at, &count);
    const uint32_t begin = base::LoadLittleEndian32(block.data + at + 4 * group);
    const uint32_t end =
        group + 1 == count ? at : base::LoadLittleEndian32(block.data + at + 4 * (group + 1));
    damaged_ = begin > end || end > at || (begin == end && at != 0);
    next_ = block.data + begin;
    limit_ = block.data + end;
  }

  WEFT_HOST_DEVICE Step Next() {
    if (damaged_) return Step::kDamaged;
    if (next_ == limit_) return Step::kEnd;
    const uint8_t* at = TakeVarint32(next_, limit_, &shared);
    if (at != nullptr) at = TakeVarint32(at, limit_, &rest_bytes);
    if (at != nullptr) at = TakeVarint32(at, limit_, &value_bytes);
    if (at == nullptr || shared > key_bytes ||
        uint64_t{rest_bytes} + value_bytes > static_cast<uint64_t>(limit_ - at)) {
      damaged_ = true;
      return Step::kDamaged;
    }
    rest = at;
    value = at + rest_bytes;
    next_ = value + value_bytes;
    key_bytes = shared + rest_bytes;
    return Step::kEntry;
  }

  // Of the entry.
  uint32_t shared = 0;  // bytes of the key before that its key begins with
  uint32_t rest_bytes = 0;
  uint32_t value_bytes = 0;
  uint32_t key_bytes = 0;
  const uint8_t* rest = nullptr;
  const uint8_t* value = nullptr;

 private:
  const uint8_t* next_ = nullptr;
  const uint8_t* limit_ = nullptr;
  bool damaged_ = false;
};

}  // namespace weft::compaction::device
