// table/key_order.h: how the keys of a table compare, known well enough to compare without calls.
//
// Most stores order user keys as bytes. Code that compares much asks once which order it has
// (Visit) and runs a copy of itself made for that order; every other order goes through the virtual
// comparator.
//
// Threads   a value; pure. The comparator must outlive it.
// Errors    none: keys too short for a trailer, as damaged files have them, come first.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "table/internal_key.h"
#include "weft/comparator.h"

namespace weft::table {

inline uint64_t LoadBigEndian64(const char* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return __builtin_bswap64(word);
}

// As memcmp, the shorter first on a tie. Inline: keys are short, and a call costs as much again.
inline int CompareBytes(std::string_view a, std::string_view b) {
  const size_t common = a.size() < b.size() ? a.size() : b.size();
  size_t at = 0;
  for (; at + 8 <= common; at += 8) {
    const uint64_t word_a = LoadBigEndian64(a.data() + at);
    const uint64_t word_b = LoadBigEndian64(b.data() + at);
    if (word_a != word_b) return word_a < word_b ? -1 : 1;
  }
  for (; at < common; ++at) {
    const auto byte_a = static_cast<uint8_t>(a[at]);
    const auto byte_b = static_cast<uint8_t>(b[at]);
    if (byte_a != byte_b) return byte_a < byte_b ? -1 : 1;
  }
  return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

// Plain keys, as bytes.
struct BytewiseOrder {
  int Compare(std::string_view a, std::string_view b) const { return CompareBytes(a, b); }
};

// Internal keys whose user keys are ordered as bytes.
struct InternalBytewiseOrder {
  int Compare(std::string_view a, std::string_view b) const {
    if (a.size() < kTrailerBytes || b.size() < kTrailerBytes) {
      if (a.size() >= kTrailerBytes || b.size() >= kTrailerBytes) {
        return a.size() < b.size() ? -1 : 1;
      }
      return CompareBytes(a, b);
    }
    const int order = CompareBytes(UserKey(a), UserKey(b));
    if (order != 0) return order;
    const uint64_t trailer_a = Trailer(a);
    const uint64_t trailer_b = Trailer(b);
    return trailer_a == trailer_b ? 0 : trailer_a > trailer_b ? -1 : 1;
  }
};

// Any order.
struct VirtualOrder {
  const Comparator* comparator;
  int Compare(std::string_view a, std::string_view b) const { return comparator->Compare(a, b); }
};

class KeyOrder {
 public:
  enum class Kind : uint8_t { kBytewise, kInternalBytewise, kInternalVirtual, kVirtual };

  // Plain keys.
  KeyOrder(const Comparator* comparator)  // NOLINT: implicit by design
      : comparator_(comparator),
        kind_(comparator == BytewiseComparator() ? Kind::kBytewise : Kind::kVirtual) {}
  // A store's keys. Pass this type, not its base: what is inside shows only here.
  KeyOrder(const InternalComparator* comparator)  // NOLINT: implicit by design
      : comparator_(comparator),
        user_(comparator->user()),
        kind_(comparator->is_bytewise() ? Kind::kInternalBytewise : Kind::kInternalVirtual) {}

  Kind kind() const { return kind_; }
  const Comparator* comparator() const { return comparator_; }
  // Keys end in a trailer.
  bool is_internal() const { return user_ != nullptr; }
  // Keys without their trailers are ordered as bytes.
  bool is_bytewise() const { return kind_ == Kind::kBytewise || kind_ == Kind::kInternalBytewise; }

  int Compare(std::string_view a, std::string_view b) const {
    if (kind_ == Kind::kInternalBytewise) return InternalBytewiseOrder{}.Compare(a, b);
    if (kind_ == Kind::kBytewise) return CompareBytes(a, b);
    return comparator_->Compare(a, b);
  }
  // Of user keys, in a store's tables; of whole keys in others.
  bool SameUserKey(std::string_view a, std::string_view b) const {
    if (is_bytewise()) return a == b;
    return (user_ != nullptr ? user_ : comparator_)->Compare(a, b) == 0;
  }

  // Calls `body` with the order itself, one of the structs above.
  template <typename Body>
  auto Visit(Body&& body) const {
    if (kind_ == Kind::kInternalBytewise) return body(InternalBytewiseOrder{});
    if (kind_ == Kind::kBytewise) return body(BytewiseOrder{});
    return body(VirtualOrder{comparator_});
  }

 private:
  const Comparator* comparator_;
  const Comparator* user_ = nullptr;  // null: plain keys
  Kind kind_;
};

}  // namespace weft::table
