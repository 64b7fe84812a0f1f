// table/block.h: the entries of one block, in order, both ways.
//
// Layout    entries {varint32 shared, varint32 not shared, varint32 value bytes, key's end, value};
//           then the offset of each restart point, where a key is whole (4 each); then their count
//           (4). `shared` bytes of a key are those of the key before it.
// Threads   one at a time. The block must outlive the iterator, and stay in place.
// Errors    damaged bytes end the iterator; damaged() and status() say so. No bytes make it read
//           outside the block, loop without end, or take memory without bound.
// Cost      Next decodes one entry; whole keys are not copied. Seek is a binary search over the
//           restart points and a walk from one of them. The first Prev behind a restart point walks
//           its entries once and keeps them, so that the rest cost a step each.
// Source    LevelDB's block format.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/coding.h"
#include "table/key_order.h"
#include "weft/iterator.h"

namespace weft::table {

// A bound on the keys of a block, where they cost memory or work: this many times the block's size,
// at least a mebibyte. Keys that share all with the one before are many times their bytes. Those
// that TableBuilder writes are at most as many times as keys have one restart point.
inline constexpr size_t kRestoredGainMax = 16;
inline size_t RestoredKeysBytesMax(size_t block_bytes, size_t gain_max = kRestoredGainMax) {
  constexpr size_t kBytesMin = 1u << 20;
  return std::max(kBytesMin, block_bytes * gain_max);
}

class BlockIterator final : public Iterator {
 public:
  BlockIterator() = default;
  BlockIterator(const KeyOrder& order, std::string_view block) { Reset(order, block); }

  // Takes another block; not positioned then. `order` is copied.
  void Reset(const KeyOrder& order, std::string_view block);
  // Without a block it is neither valid nor damaged.
  void Clear() { entry_ = nullptr, damaged_ = false, next_ = limit_ = data_ = nullptr; }

  bool Valid() const override { return entry_ != nullptr; }
  void SeekToFirst() override;
  void SeekToLast() override;
  // REQUIRES: target is not this iterator's own key().
  void Seek(std::string_view target) override;
  void Next() override {
    WEFT_DCHECK(Valid());
    DecodeNext();
  }
  void Prev() override;
  std::string_view key() const override { return {key_, key_bytes_}; }
  std::string_view value() const override { return {value_, value_bytes_}; }
  Status status() const override;

  bool damaged() const { return damaged_; }
  // The current entry: where it begins, and whether its key is whole there.
  const char* entry() const { return entry_; }
  bool key_stands_whole() const { return key_ != room_; }
  // Fetches the part that Seek will walk through, as far as the block's ends and first entry show
  // it. They should be near already; Reset has touched the end.
  void PrefetchWalk();

 private:
  static constexpr size_t kInlineKeyBytes = 128;
  // Short ends of keys are copied as this many bytes, whatever their length: no loop, no call.
  static constexpr size_t kCopyBytes = 16;

  // An entry that the walk to an earlier one passed.
  struct Step {
    const char* entry;
    const char* key;  // null: at key_at of the walk's keys
    size_t key_at;
    uint32_t key_bytes;
    const char* value;
    uint32_t value_bytes;
  };
  struct Walk {
    std::vector<Step> steps;
    std::string keys;
    size_t at = 0;  // the step of the current entry, if it is one of them
  };

  uint32_t RestartOffset(uint32_t i) const { return base::DecodeFixed32(limit_ + 4 * size_t{i}); }
  void End() { entry_ = nullptr; }
  void Damage() { entry_ = nullptr, damaged_ = true; }

  // Moves to the entry at next_. False at the end and on damage: not valid then.
  bool DecodeNext();
  const char* DecodeLengths(const char* from, uint32_t* shared, uint32_t* unshared,
                            uint32_t* value_bytes) const;
  void AppendToKey(uint32_t shared, const char* from, uint32_t unshared);
  void GrowKey(uint32_t keep, size_t bytes);

  // Moves before the entry at `offset`, with no key to share with.
  void GoBefore(uint32_t offset) {
    next_ = data_ + offset;
    key_bytes_ = 0;
    value_ = nullptr;
    damaged_ = false;
  }
  // The whole key at restart point i; false, and damage, if there is none.
  bool RestartKey(uint32_t i, std::string_view* key);
  template <typename Order>
  bool FindRestart(const Order& order, std::string_view target, uint32_t* restart);
  template <typename Order>
  void SeekIn(const Order& order, std::string_view target);
  void PrefetchStretch(const char* from, const char* first_end, const char* to) const;

  // Moves to the entry that ends at `before`, an entry's start or limit_.
  void StepBackFrom(const char* before);
  bool LastRestartBefore(uint32_t offset, uint32_t* restart_offset) const;
  void TakeStep(size_t i);

  KeyOrder order_ = BytewiseComparator();
  const char* data_ = nullptr;
  const char* limit_ = nullptr;  // behind the entries: the restart points
  const char* end_ = nullptr;    // of the block
  uint32_t restarts_ = 0;
  bool damaged_ = false;

  const char* entry_ = nullptr;  // the current one; null: not valid
  const char* next_ = nullptr;
  const char* key_ = nullptr;  // in the block if the key is whole there, otherwise room_
  const char* value_ = nullptr;
  uint32_t key_bytes_ = 0;
  uint32_t value_bytes_ = 0;

  char* room_ = inline_room_;
  size_t room_bytes_ = kInlineKeyBytes;
  std::unique_ptr<char[]> more_room_;
  std::unique_ptr<Walk> walk_;
  char inline_room_[kInlineKeyBytes];
};

inline const char* BlockIterator::DecodeLengths(const char* from, uint32_t* shared,
                                                uint32_t* unshared, uint32_t* value_bytes) const {
  // Keys below 128 bytes, values below 16 KiB: nearly always.
  if (limit_ - from >= 4) [[likely]] {
    const auto* byte = reinterpret_cast<const uint8_t*>(from);
    if ((byte[0] | byte[1]) < 0x80) [[likely]] {
      *shared = byte[0];
      *unshared = byte[1];
      if (byte[2] < 0x80) {
        *value_bytes = byte[2];
        return from + 3;
      }
      if (byte[3] < 0x80) {
        *value_bytes = (byte[2] & 0x7fu) | static_cast<uint32_t>(byte[3]) << 7;
        return from + 4;
      }
    }
  }
  from = base::DecodeVarint32(from, limit_, shared);
  if (from != nullptr) from = base::DecodeVarint32(from, limit_, unshared);
  if (from != nullptr) from = base::DecodeVarint32(from, limit_, value_bytes);
  return from;
}

inline void BlockIterator::AppendToKey(uint32_t shared, const char* from, uint32_t unshared) {
  const size_t needed = size_t{shared} + unshared + kCopyBytes;
  if (needed > room_bytes_) [[unlikely]] {
    GrowKey(shared, needed);
  } else if (key_ != room_) {
    std::memcpy(room_, key_, shared);
  }
  if (unshared <= kCopyBytes && static_cast<size_t>(end_ - from) >= kCopyBytes) [[likely]] {
    std::memcpy(room_ + shared, from, kCopyBytes);
  } else {
    std::memcpy(room_ + shared, from, unshared);
  }
  key_ = room_;
}

inline bool BlockIterator::DecodeNext() {
  const char* entry = next_;
  if (entry >= limit_) {
    End();
    return false;
  }
  uint32_t shared;
  uint32_t unshared;
  uint32_t value_bytes;
  const char* at = DecodeLengths(entry, &shared, &unshared, &value_bytes);
  if (at == nullptr || shared > key_bytes_ ||
      uint64_t{unshared} + value_bytes > static_cast<uint64_t>(limit_ - at)) [[unlikely]] {
    Damage();
    return false;
  }
  if (shared == 0) {
    key_ = at;
  } else {
    AppendToKey(shared, at, unshared);
  }
  key_bytes_ = shared + unshared;
  value_ = at + unshared;
  value_bytes_ = value_bytes;
  next_ = value_ + value_bytes;
  entry_ = entry;
  return true;
}

}  // namespace weft::table
