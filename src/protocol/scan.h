// protocol/scan.h: finding bytes in a request, sixteen at a time.
//
// Threads   pure.
// Cost      one 16-byte load per sixteen bytes; no byte loop but in inputs shorter than sixteen.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace weft::protocol {

// Bytes that may be read. A search may look past the text it is about, never past these.
struct Window {
  const char* begin;
  const char* end;
};

namespace internal {

// Bytes that are `a` or `b`.
struct Either {
  bool operator()(char byte) const { return byte == a || byte == b; }
#if defined(__SSE2__)
  __m128i operator()(__m128i bytes) const {
    return _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(a)),
                        _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b)));
  }
#endif
  char a, b;
};

// Blanks, and all bytes below them.
struct BlankOrControl {
  bool operator()(char byte) const { return static_cast<unsigned char>(byte) <= ' '; }
#if defined(__SSE2__)
  __m128i operator()(__m128i bytes) const {
    return _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(' ')), bytes);
  }
#endif
};

// Bit i: byte i of the sixteen at `data` is one of `set`.
template <typename Set>
uint32_t MatchMask(const char* data, Set set) {
#if defined(__SSE2__)
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data));
  return static_cast<uint32_t>(_mm_movemask_epi8(set(bytes)));
#else
  uint32_t mask = 0;
  for (uint32_t i = 0; i < 16; ++i) mask |= static_cast<uint32_t>(set(data[i])) << i;
  return mask;
#endif
}

// The first byte of `set` at or after `from`, or window.end.
template <typename Set>
const char* FindAny(Window window, const char* from, Set set) {
  while (window.end - from >= 16) {
    const uint32_t mask = MatchMask(from, set);
    if (mask != 0) return from + std::countr_zero(mask);
    from += 16;
  }
  const size_t left_bytes = static_cast<size_t>(window.end - from);
  if (left_bytes != 0 && window.end - window.begin >= 16) {
    // The last sixteen bytes, those before `from` shifted out.
    const uint32_t mask = MatchMask(window.end - 16, set) >> (16 - left_bytes);
    return mask != 0 ? from + std::countr_zero(mask) : window.end;
  }
  while (from != window.end && !set(*from)) ++from;
  return from;
}

}  // namespace internal

// The first `a` or `b` at or after `from`, or window.end.
inline const char* FindEither(Window window, const char* from, char a, char b) {
  return internal::FindAny(window, from, internal::Either{a, b});
}

// The first blank or control character at or after `from`, or window.end.
inline const char* FindBlankOrControl(Window window, const char* from) {
  return internal::FindAny(window, from, internal::BlankOrControl{});
}

inline const char* FindByte(Window window, const char* from, char byte) {
  return FindEither(window, from, byte, byte);
}

// The first `byte` at or after `from`, or `limit`: so much text is looked at, and at most fifteen
// bytes behind it, however long the window is. REQUIRES: from <= limit <= window.end
inline const char* FindByteBefore(Window window, const char* from, const char* limit, char byte) {
  while (window.end - from >= 16) {
    const uint32_t mask = internal::MatchMask(from, internal::Either{byte, byte});
    if (mask != 0) return std::min(from + std::countr_zero(mask), limit);
    from += 16;
    if (from >= limit) return limit;
  }
  return std::min(FindByte(window, from, byte), limit);
}

}  // namespace weft::protocol
