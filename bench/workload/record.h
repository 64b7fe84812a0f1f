// bench/workload/record.h: keys and values of records, computed from their numbers. So whoever
// reads a value can tell whether it was written for that key, byte for byte.
//
// Layout    key: a prefix, then the record's number in sixteen hexadecimal digits, scattered by a
//           permutation of the 64-bit words unless `ordered`; longer keys repeat a filler between
//           the two. Keys below sixteen bytes have eight digits, of the number's 32 bits and
//           scattered among those. value: number (4 bytes), exclusive-or'd with a permutation of
//           the version, so that neither can be spoiled by itself; version (4); then a piece of a
//           fixed pool, half of which a compressor can save; where in the pool follows from number
//           and version.
// Units     bytes.
// Threads   const calls: any at once.
// Cost      a key is some fifteen instructions; a value one copy, its check one comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "bench/workload/key_text.h"
#include "bench/workload/size_distribution.h"
#include "weft/status.h"

namespace weft::bench {

inline constexpr uint32_t kRecordKeyBytesMin = 8;
inline constexpr uint32_t kRecordKeyBytesMax = 250;  // memcached's limit
inline constexpr uint32_t kRecordValueBytesMin = 8;
inline constexpr uint32_t kRecordValueBytesMax = 1u << 20;  // memcached's, by default
inline constexpr uint64_t kRecordsMax = uint64_t{1} << 32;

struct RecordOptions {
  SizeDistribution key_bytes = SizeDistribution::Fixed(24);
  SizeDistribution value_bytes = SizeDistribution::Fixed(1000);
  bool ordered = false;  // keys of neighbouring numbers are neighbours; all as long
  // A version is its value's size in bytes, so that whoever writes chooses it, from
  // value_bytes.min() to value_bytes.max().
  bool version_is_size = false;
  // By record, if keys have different sizes; instead of key_bytes.
  std::shared_ptr<const std::vector<uint8_t>> key_bytes_of = nullptr;
};

// Whether two pieces of as many bytes are the same: without a call, if they are short.
inline bool SameBytes(const char* one, const char* other, size_t bytes) {
  if (bytes < 16 || bytes > 256) return std::memcmp(one, other, bytes) == 0;
  const size_t last = bytes - sizeof(Text16);
  Text16 differing = LoadText(one + last) ^ LoadText(other + last);
  for (size_t at = 0; at < last; at += sizeof(Text16))
    differing |= LoadText(one + at) ^ LoadText(other + at);
  return IsZero(differing);
}

class RecordFormat {
 public:
  // kInvalidArgument if sizes are beyond the limits above, or if those of ordered keys differ.
  static Status Check(const RecordOptions& options);
  static Result<RecordFormat> Make(const RecordOptions& options);
  // Of keys and values of one size each. REQUIRES: both are within the limits above
  static RecordFormat OfSizes(uint32_t key_bytes, uint32_t value_bytes, bool ordered = false);

  uint32_t KeyBytes(uint64_t record) const {
    if (fixed_key_bytes_ != 0) return fixed_key_bytes_;
    if (options_.key_bytes_of != nullptr) return (*options_.key_bytes_of)[record];
    return options_.key_bytes.Of(base::Mix(record));
  }
  // Writes the key at `out` and returns it. REQUIRES: record < kRecordsMax, room for KeyBytes()
  std::string_view WriteKey(uint64_t record, char* out) const {
    const uint32_t bytes = KeyBytes(record);
    if (bytes < kLongDigits) return WriteShortKey(record, bytes, out);
    const uint32_t before = bytes - kLongDigits;
    // By sixteen, over the place of the digits, which follow.
    for (uint32_t at = 0; at < before; at += kLongDigits)
      std::memcpy(out + at, before_digits_.data() + at, kLongDigits);
    const Text16 digits = LongDigits(record);
    std::memcpy(out + before, &digits, kLongDigits);
    return {out, bytes};
  }
  // Whether the KeyBytes() at `text` are the record's key.
  bool IsKey(uint64_t record, const char* text) const {
    const uint32_t bytes = KeyBytes(record);
    if (bytes < kLongDigits) return IsShortKey(record, bytes, text);
    const uint32_t before = bytes - kLongDigits;
    return IsZero(LoadText(text + before) ^ LongDigits(record)) &&
           (before == 0 || std::memcmp(text, before_digits_.data(), before) == 0);
  }
  // The record of one of these keys; none for any other.
  std::optional<uint64_t> RecordOf(std::string_view key) const;

  uint32_t ValueBytes(uint64_t record, uint32_t version) const {
    return options_.version_is_size ? version : options_.value_bytes.Of(Mixed(record, version));
  }
  uint32_t value_bytes_max() const { return options_.value_bytes.max(); }
  // The value is two pieces, so that its sender need not copy it: a head, written at `head`, and a
  // body that lies in the pool.
  std::string_view Body(uint64_t record, uint32_t version) const {
    return {PieceOf(record, version), ValueBytes(record, version) - kRecordValueBytesMin};
  }
  static void WriteHead(uint64_t record, uint32_t version, char* head) {
    const uint32_t number = static_cast<uint32_t>(record) ^ Spread(version);
    std::memcpy(head, &number, 4);
    std::memcpy(head + 4, &version, 4);
  }
  // Both, one behind the other. REQUIRES: room for ValueBytes()
  void WriteValue(uint64_t record, uint32_t version, char* out) const {
    WriteHead(record, version, out);
    const std::string_view body = Body(record, version);
    std::memcpy(out + kRecordValueBytesMin, body.data(), body.size());
  }
  // The version that the head of a value of `record` names; none if head or length are not its own.
  // A few instructions, whatever the length: for loops in which a whole check costs too much.
  std::optional<uint32_t> VersionOf(uint64_t record, std::string_view value) const {
    uint32_t version;
    return HasHead(record, value, &version) ? std::optional(version) : std::nullopt;
  }
  // Whether it is a value of `record`, to the last byte, and then its version.
  bool Verify(uint64_t record, std::string_view value, uint32_t* version) const {
    return HasHead(record, value, version) &&
           SameBytes(value.data() + kRecordValueBytesMin, PieceOf(record, *version),
                     value.size() - kRecordValueBytesMin);
  }
  // Likewise; none if it is not one.
  std::optional<uint32_t> Verify(uint64_t record, std::string_view value) const {
    uint32_t version;
    return Verify(record, value, &version) ? std::optional(version) : std::nullopt;
  }

  const RecordOptions& options() const { return options_; }

 private:
  static constexpr uint32_t kLongDigits = sizeof(Text16);

  explicit RecordFormat(const RecordOptions& options);

  Text16 LongDigits(uint64_t record) const {
    return HexDigits(options_.ordered ? record : Scatter(record));
  }
  std::string_view WriteShortKey(uint64_t record, uint32_t bytes, char* out) const;
  bool IsShortKey(uint64_t record, uint32_t bytes, const char* text) const;

  bool HasHead(uint64_t record, std::string_view value, uint32_t* version) const {
    if (value.size() < kRecordValueBytesMin || value.size() > options_.value_bytes.max())
      return false;
    uint32_t number;
    std::memcpy(&number, value.data(), 4);
    std::memcpy(version, value.data() + 4, 4);
    return (number ^ Spread(*version)) == static_cast<uint32_t>(record) &&
           value.size() == ValueBytes(record, *version);
  }
  // A permutation of the 32-bit words.
  static uint32_t Spread(uint32_t version) {
    version = (version ^ version >> 16) * 0x85ebca6bu;
    version = (version ^ version >> 13) * 0xc2b2ae35u;
    return version ^ version >> 16;
  }
  static uint64_t Mixed(uint64_t record, uint32_t version) {
    return base::Mix(record << 32 ^ version ^ 0x6a09e667f3bcc909u);
  }
  const char* PieceOf(uint64_t record, uint32_t version) const {
    return pool_.data() + (Mixed(record, version) & (pool_starts_ - 1));
  }

  RecordOptions options_;
  uint32_t fixed_key_bytes_;   // 0: keys have different sizes
  std::string before_digits_;  // of the longest key, and as much again as one digit's vector
  uint64_t pool_starts_;       // a power of two
  std::string pool_;
};

// The key of a record, written where it stands.
class RecordKey {
 public:
  RecordKey(const RecordFormat& format, uint64_t record) : key_(format.WriteKey(record, room_)) {}
  RecordKey(const RecordKey&) = delete;
  RecordKey& operator=(const RecordKey&) = delete;
  operator std::string_view() const { return key_; }  // NOLINT: a view of it

 private:
  char room_[kRecordKeyBytesMax];
  const std::string_view key_;
};

}  // namespace weft::bench
