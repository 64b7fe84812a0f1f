// base/base64.h: base64 (RFC 4648, padded), as keys of the meta commands and logs have it.
//
// Threads   pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace weft::base {

constexpr size_t Base64Bytes(size_t bytes) { return (bytes + 2) / 3 * 4; }

// Decodes `text` to `out`, which has room for three bytes per four of text. The bytes written, or
// 0 where text is empty or not base64. Stray bits under the padding are ignored, as memcached does.
size_t Base64Decode(std::string_view text, char* out);

// Writes Base64Bytes(bytes.size()) bytes and returns their end.
char* Base64Encode(std::string_view bytes, char* out);

}  // namespace weft::base
