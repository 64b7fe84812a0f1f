// table/internal_key.h: the keys inside a durable store: the user's key and which write it was.
//
// Layout    user key, then 8 bytes: fixed64(sequence << 8 | type).
// Order     user keys ascending by the user's comparator, then the trailer descending: the newest
//           version of a key comes first.
// Threads   pure.
// Source    LevelDB's dbformat.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/coding.h"
#include "weft/comparator.h"
#include "weft/filter_policy.h"

namespace weft::table {

using SequenceNumber = uint64_t;
inline constexpr SequenceNumber kSequenceMax = (uint64_t{1} << 56) - 1;

// The numbers stand in the files.
enum class ValueType : uint8_t { kDeletion = 0, kValue = 1 };
// Of a key to seek: comes before all entries of the same user key and sequence.
inline constexpr ValueType kTypeForSeek = ValueType::kValue;

inline constexpr size_t kTrailerBytes = 8;

inline uint64_t PackTrailer(SequenceNumber sequence, ValueType type) {
  return (sequence << 8) | static_cast<uint64_t>(type);
}

struct ParsedKey {
  std::string_view user_key;
  SequenceNumber sequence = 0;
  ValueType type = ValueType::kValue;
};

inline void AppendInternalKey(std::string* to, std::string_view user_key, SequenceNumber sequence,
                              ValueType type) {
  to->append(user_key);
  base::PutFixed64(to, PackTrailer(sequence, type));
}
inline std::string MakeInternalKey(std::string_view user_key, SequenceNumber sequence,
                                   ValueType type) {
  std::string key;
  key.reserve(user_key.size() + kTrailerBytes);
  AppendInternalKey(&key, user_key, sequence, type);
  return key;
}

// REQUIRES of both: internal_key.size() >= kTrailerBytes
inline std::string_view UserKey(std::string_view internal_key) {
  WEFT_DCHECK(internal_key.size() >= kTrailerBytes);
  return internal_key.substr(0, internal_key.size() - kTrailerBytes);
}
inline uint64_t Trailer(std::string_view internal_key) {
  WEFT_DCHECK(internal_key.size() >= kTrailerBytes);
  return base::DecodeFixed64(internal_key.data() + internal_key.size() - kTrailerBytes);
}

// False where the bytes are no internal key.
inline bool ParseInternalKey(std::string_view internal_key, ParsedKey* parsed) {
  if (internal_key.size() < kTrailerBytes) return false;
  const uint64_t trailer = Trailer(internal_key);
  if ((trailer & 0xff) > static_cast<uint64_t>(ValueType::kValue)) return false;
  parsed->user_key = UserKey(internal_key);
  parsed->sequence = trailer >> 8;
  parsed->type = static_cast<ValueType>(trailer & 0xff);
  return true;
}

// The order of internal keys over a user's order. A value: cheap to copy; the user's comparator
// must outlive it.
class InternalComparator final : public Comparator {
 public:
  explicit InternalComparator(const Comparator* user)
      : user_(user), bytewise_(user == BytewiseComparator()) {}

  const Comparator* user() const { return user_; }
  // True: user keys may be compared as bytes, without the virtual call.
  bool is_bytewise() const { return bytewise_; }

  int CompareUser(std::string_view a, std::string_view b) const {
    return bytewise_ ? a.compare(b) : user_->Compare(a, b);
  }
  // Keys too short to hold a trailer, as damaged files have them, come first, as bytes.
  int Compare(std::string_view a, std::string_view b) const override;
  const char* Name() const override { return "leveldb.InternalKeyComparator"; }
  void FindShortestSeparator(std::string* start, std::string_view limit) const override;
  void FindShortSuccessor(std::string* key) const override;

 private:
  const Comparator* user_;
  bool bytewise_;
};

// A user's filter policy over internal keys: filters hold user keys.
class InternalFilterPolicy final : public FilterPolicy {
 public:
  explicit InternalFilterPolicy(std::shared_ptr<const FilterPolicy> user)
      : user_(std::move(user)) {}
  const char* Name() const override { return user_->Name(); }
  void CreateFilter(std::span<const std::string_view> keys, std::string* filter) const override;
  bool KeyMayMatch(std::string_view key, std::string_view filter) const override;
  std::optional<BloomShape> bloom() const override {
    std::optional<BloomShape> shape = user_->bloom();
    if (shape.has_value()) shape->of_user_keys = true;
    return shape;
  }

 private:
  std::shared_ptr<const FilterPolicy> user_;
};

}  // namespace weft::table
