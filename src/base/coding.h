// base/coding.h: numbers and byte strings as they stand in the files of the durable store.
//
// Fixed-width numbers are little-endian; varints are base 128, low group first, the high bit set in
// all bytes but the last; a length-prefixed string is a varint32 and that many bytes.
//
// Threads   pure.
// Errors    Get* and Decode* return false or null where the bytes end early or say too much, and
//           never read past their limit: input may come from a damaged file.
// Source    LevelDB's table and log formats.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace weft::base {

static_assert(std::endian::native == std::endian::little, "fixed numbers are copied as they are");

inline constexpr size_t kVarint32BytesMax = 5;
inline constexpr size_t kVarint64BytesMax = 10;

inline void EncodeFixed32(char* to, uint32_t value) { std::memcpy(to, &value, sizeof value); }
inline void EncodeFixed64(char* to, uint64_t value) { std::memcpy(to, &value, sizeof value); }

inline uint32_t DecodeFixed32(const char* from) {
  uint32_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
inline uint64_t DecodeFixed64(const char* from) {
  uint64_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Writes a varint and returns the byte behind it. REQUIRES: room for kVarint64BytesMax (32: 5).
inline char* EncodeVarint64(char* to, uint64_t value) {
  while (value >= 0x80) {
    *to++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<char>(value);
  return to;
}
inline char* EncodeVarint32(char* to, uint32_t value) { return EncodeVarint64(to, value); }

inline size_t VarintBytes(uint64_t value) {
  return static_cast<size_t>(std::bit_width(value | 1) + 6) / 7;
}

// Reads a varint from [from, limit) and returns the byte behind it, or null.
inline const char* DecodeVarint64(const char* from, const char* limit, uint64_t* value) {
  uint64_t result = 0;
  for (int shift = 0; shift <= 63 && from < limit; shift += 7) {
    const uint64_t byte = static_cast<uint8_t>(*from++);
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return from;
    }
  }
  return nullptr;
}
inline const char* DecodeVarint32(const char* from, const char* limit, uint32_t* value) {
  if (from < limit && static_cast<uint8_t>(*from) < 0x80) {
    *value = static_cast<uint8_t>(*from);
    return from + 1;
  }
  uint32_t result = 0;
  for (int shift = 0; shift <= 28 && from < limit; shift += 7) {
    const uint32_t byte = static_cast<uint8_t>(*from++);
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return from;
    }
  }
  return nullptr;
}

inline void PutFixed32(std::string* to, uint32_t value) {
  char bytes[sizeof value];
  EncodeFixed32(bytes, value);
  to->append(bytes, sizeof bytes);
}
inline void PutFixed64(std::string* to, uint64_t value) {
  char bytes[sizeof value];
  EncodeFixed64(bytes, value);
  to->append(bytes, sizeof bytes);
}
inline void PutVarint64(std::string* to, uint64_t value) {
  char bytes[kVarint64BytesMax];
  to->append(bytes, static_cast<size_t>(EncodeVarint64(bytes, value) - bytes));
}
inline void PutVarint32(std::string* to, uint32_t value) { PutVarint64(to, value); }
inline void PutLengthPrefixed(std::string* to, std::string_view text) {
  PutVarint32(to, static_cast<uint32_t>(text.size()));
  to->append(text);
}

// These take what they read off the front of *input, and leave it alone where they return false.
inline bool GetVarint32(std::string_view* input, uint32_t* value) {
  const char* end = input->data() + input->size();
  const char* next = DecodeVarint32(input->data(), end, value);
  if (next == nullptr) return false;
  *input = {next, static_cast<size_t>(end - next)};
  return true;
}
inline bool GetVarint64(std::string_view* input, uint64_t* value) {
  const char* end = input->data() + input->size();
  const char* next = DecodeVarint64(input->data(), end, value);
  if (next == nullptr) return false;
  *input = {next, static_cast<size_t>(end - next)};
  return true;
}
inline bool GetLengthPrefixed(std::string_view* input, std::string_view* text) {
  std::string_view rest = *input;
  uint32_t bytes;
  if (!GetVarint32(&rest, &bytes) || rest.size() < bytes) return false;
  *text = rest.substr(0, bytes);
  *input = rest.substr(bytes);
  return true;
}

}  // namespace weft::base
