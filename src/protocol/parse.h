// protocol/parse.h: bytes from a client to requests: memcached's classic text and meta commands.
//
// One call takes one request off the front of the input. Replies to malformed requests, how much
// of the stream each error costs, and every number's range are memcached 1.6.18's.
// Not for: the binary protocol (protocol/binary.h), UDP frames, authentication, metadump
// (answered as a server without them would).
//
// Threads   pure: no state but the arguments.
// Errors    none are returned: a bad request is a Request of kind kText that holds its answer.
// Cost      two passes over a line, one over a get of one key. Of a value only the last two bytes
// are
//           touched.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "protocol/request.h"
#include "protocol/scan.h"

namespace weft::protocol {

// Room for any decoded base64 key.
inline constexpr size_t kScratchBytes = 256;

// A line that is longer ends the connection, which is told why, unless it is a read of keys, which
// may be long.
inline constexpr size_t kLineBytesMax = 2048;

// What memcached adds to key and value when it compares an item with its size limit (-I):
// header, cas, key terminator and value terminator; and four bytes for client flags other than 0.
inline constexpr uint32_t kItemOverheadBytes = 48 + 8 + 1 + 2;
inline constexpr uint32_t kItemFlagsBytes = 4;

// Whether clients of the binary protocol must log in.
enum class Sasl : uint8_t {
  kOff,     // they can't: its opcodes are unknown
  kBefore,  // this one must, and has not yet: little else is served
  kAfter,   // this one has
};

struct ParseContext {
  uint32_t now_s = 0;  // the store's clock

  // When the server started. Absolute expiries up to then end at once.
  uint32_t start_s = 0;
  uint32_t item_bytes_max = 1u << 20;            // -I, overheads included
  size_t read_line_bytes_max = size_t{4} << 20;  // longest line of keys
  bool shutdown_enabled = false;                 // -A
  Sasl sasl = Sasl::kOff;                        // for ParseBinary
  bool gets_alone = false;                       // plain gets of the binary protocol: kBinaryReads
  size_t line_scanned_bytes = 0;  // front of the input known to hold no newline (ParseResult)
  char* scratch = nullptr;        // kScratchBytes; a base64 key goes here, over the last one
};

enum class ParseStatus : uint8_t {
  kRequest,   // one request, `consumed_bytes` of input; then skip swallow_bytes
  kNeedMore,  // nothing consumed; call again with more input
  kClose,     // the client speaks another protocol (protocol/foreign.h): close without a word
};

struct ParseResult {
  ParseStatus status = ParseStatus::kNeedMore;
  size_t consumed_bytes = 0;
  size_t needed_bytes = 0;   // kNeedMore: the whole request's bytes; 0 where its line is not over
  size_t scanned_bytes = 0;  // kNeedMore: hand back as line_scanned_bytes with the longer input
};

// Takes a request off the front of `input`.
// REQUIRES: `request` is as constructed; context.scratch points at kScratchBytes. With kNeedMore
// and kClose, `request` is unspecified.
ParseResult ParseNew(std::string_view input, const ParseContext& context, Request* request);
// The same into any request.
inline ParseResult Parse(std::string_view input, const ParseContext& context, Request* request) {
  std::construct_at(request);  // in place: an assignment would build it elsewhere and copy it
  return ParseNew(input, context, request);
}

// The key of a whole "get KEY" line at `from`, which is what most requests are; empty where there
// is anything else: Parse says what. No request is made of it. REQUIRES: from <= window.end
inline std::string_view PlainGetKey(Window window, const char* from) {
  if (window.end - from < 7 || std::memcmp(from, "get ", 4) != 0) return {};
  const char* const key = from + 4;
  const size_t left_bytes = static_cast<size_t>(window.end - key);
  window.end = key + std::min<size_t>(left_bytes, kKeyBytesMax + 2);
  const char* const end = FindBlankOrControl(window, key);
  if (end == key || window.end - end < 2 || std::memcmp(end, "\r\n", 2) != 0) return {};
  return {key, static_cast<size_t>(end - key)};
}

// A client's exptime: 0 never, negative at once, up to 30 days from now, otherwise a Unix time.
cache::Expiry ExpiryFrom(int32_t exptime, const ParseContext& context);

}  // namespace weft::protocol
