// compaction/entry_walk.h: walks the entries of block after block, forwards, and checks their
// order.
//
// What merging and verifying share: keys are put together in one place, and every key is held
// against the one before it, across blocks and tables too. With prefix compression that costs one
// comparison of two bytes for most keys: those behind the part that both share.
//
// Threads   one thread at a time.
// Errors    kDamaged where the bytes are no block's or keys do not ascend; damage() says which. No
//           bytes make it read outside the block.
// Cost      the end of a key that differs is copied; values stay in the block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "base/coding.h"
#include "table/key_order.h"
#include "table/output_buffer.h"

namespace weft::compaction {

template <typename Order>
class EntryWalk {
 public:
  enum class Step : uint8_t { kEntry, kEndOfBlock, kDamaged };

  explicit EntryWalk(Order order) : order_(order) {}

  // Goes on before the first entry of `block`, which must outlive the walk through it. False, and
  // damage, where the bytes are no block. While the walk passes a line of the block it asks the
  // memory for that which lies `fetch_ahead` bytes behind; 0: it does not.
  bool StartBlock(std::string_view block, size_t fetch_ahead = 0);
  Step Next();

  // Of the entry; until the next one.
  std::string_view key() const { return {key_.data(), key_.size()}; }
  std::string_view value() const { return value_; }
  // Bytes at the key's beginning that it took over from the key before.
  size_t shared() const { return shared_; }
  const char* damage() const { return damage_; }

 private:
  Step Damage(const char* what) {
    damage_ = what;
    return Step::kDamaged;
  }
  const char* DecodeLengths(const char* from, uint32_t* shared, uint32_t* rest,
                            uint32_t* value_bytes) const;
  void FetchAhead(const char* from, const char* to) const {
    constexpr ptrdiff_t kLineBytes = 64;
    for (; from < to; from += kLineBytes) __builtin_prefetch(from + fetch_ahead_, 0, 2);
  }
  bool Ascends(size_t shared, std::string_view rest) {
    if (key_.size() >= table::kTrailerBytes && shared + rest.size() > table::kTrailerBytes) {
      const size_t before_bytes = key_.size() - table::kTrailerBytes;
      const size_t bytes = shared + rest.size() - table::kTrailerBytes;
      if (IsBytewise() && shared < std::min(before_bytes, bytes)) {
        // rest is not empty: the trailer's bytes at least are in it
        const auto before = static_cast<uint8_t>(key_.data()[shared]);
        const auto now = static_cast<uint8_t>(rest.front());
        if (before != now) return before < now;
      }
    }
    return !has_key_ || AscendsWhole(shared, rest);
  }
  [[gnu::noinline]] bool AscendsWhole(size_t shared, std::string_view rest);
  static constexpr bool IsBytewise() { return std::is_same_v<Order, table::InternalBytewiseOrder>; }

  const Order order_;
  const char* next_ = nullptr;
  const char* limit_ = nullptr;  // behind the entries
  size_t fetch_ahead_ = 0;
  bool block_begins_ = false;
  bool has_key_ = false;
  size_t shared_ = 0;
  std::string_view value_;
  const char* damage_ = nullptr;
  table::OutputBuffer key_;
  table::OutputBuffer whole_;  // where a key is put together to be compared
};

template <typename Order>
bool EntryWalk<Order>::StartBlock(std::string_view block, size_t fetch_ahead) {
  constexpr size_t kWord = sizeof(uint32_t);
  damage_ = "is too short for a block";
  if (block.size() < kWord) return false;
  const size_t restarts_max = (block.size() - kWord) / kWord;
  const size_t restarts = base::DecodeFixed32(block.data() + block.size() - kWord);
  damage_ = "has more restart points than bytes";
  if (restarts > restarts_max) return false;
  damage_ = nullptr;
  next_ = block.data();
  limit_ = block.data() + block.size() - (restarts + 1) * kWord;
  block_begins_ = true;
  fetch_ahead_ = fetch_ahead;
  return true;
}

template <typename Order>
inline const char* EntryWalk<Order>::DecodeLengths(const char* from, uint32_t* shared,
                                                   uint32_t* rest, uint32_t* value_bytes) const {
  // Keys below 128 bytes, values below 16 KiB: nearly always.
  if (limit_ - from >= 4) [[likely]] {
    const auto* const byte = reinterpret_cast<const uint8_t*>(from);
    if (((byte[0] | byte[1]) & 0x80) == 0) [[likely]] {
      *shared = byte[0];
      *rest = byte[1];
      if (byte[2] < 0x80) {
        *value_bytes = byte[2];
        return from + 3;
      }
      if (byte[3] < 0x80) {
        *value_bytes = (byte[2] & 0x7fu) | (uint32_t{byte[3]} << 7);
        return from + 4;
      }
    }
  }
  from = base::DecodeVarint32(from, limit_, shared);
  if (from != nullptr) from = base::DecodeVarint32(from, limit_, rest);
  if (from != nullptr) from = base::DecodeVarint32(from, limit_, value_bytes);
  return from;
}

template <typename Order>
inline typename EntryWalk<Order>::Step EntryWalk<Order>::Next() {
  if (next_ == limit_) return Step::kEndOfBlock;
  uint32_t shared;
  uint32_t rest_bytes;
  uint32_t value_bytes;
  const char* const at = DecodeLengths(next_, &shared, &rest_bytes, &value_bytes);
  if (at == nullptr || uint64_t{rest_bytes} + value_bytes > static_cast<uint64_t>(limit_ - at))
      [[unlikely]] {
    return Damage("holds an entry that extends beyond it");
  }
  if (shared > key_.size() || (block_begins_ && shared != 0)) [[unlikely]] {
    return Damage("holds a key that shares more bytes than the key before has");
  }
  const std::string_view rest(at, rest_bytes);
  if (!Ascends(shared, rest)) [[unlikely]] {
    return Damage("holds keys out of order");
  }
  block_begins_ = false;
  has_key_ = true;
  shared_ = shared;
  key_.CutTo(shared);
  key_.Append(rest);
  value_ = {at + rest_bytes, value_bytes};
  if (fetch_ahead_ != 0) FetchAhead(next_, at + rest_bytes + value_bytes);
  next_ = at + rest_bytes + value_bytes;
  return Step::kEntry;
}

template <typename Order>
bool EntryWalk<Order>::AscendsWhole(size_t shared, std::string_view rest) {
  std::string_view now = rest;
  if (shared != 0) {
    whole_.Clear();
    whole_.Append(key().substr(0, shared));
    whole_.Append(rest);
    now = whole_.From(0);
  }
  return order_.Compare(key(), now) < 0;
}

}  // namespace weft::compaction
