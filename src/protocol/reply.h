// protocol/reply.h: the store's answers to bytes for a client, in memcached's words.
//
// Every function appends at `out` and returns the new end. A reply with a value is written in
// three parts. So the caller copies a large value once, from the log to the socket's buffer:
//   WriteHead, the value's bytes, WriteValueEnd.
// A line of reads (kRead) ends with WriteEnd after its last key.
// What a client asked not to see (noreply, q) comes out as no bytes.
//
// Threads   pure.
// Units     ReplyBytesMax is an upper bound that holds for all parts but the value's bytes.
// Cost      no allocation; meta flags are read again, in the request's order.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/copy_short.h"
#include "protocol/request.h"

namespace weft::protocol {

// REQUIRES: key_bytes <= kKeyBytesMax, or a kText request.
size_t ReplyBytesMax(const Request& request, size_t key_bytes);

// The whole reply, or for a value shown to the client (`*value_follows`) the line before it: the
// caller then appends reply.value and calls WriteValueEnd. `key` is the one that was looked up.
// REQUIRES: a request about keys.
char* WriteHead(const Request& request, std::string_view key, const cache::Reply& reply, char* out,
                bool* value_follows);

char* WriteValueEnd(char* out);

// Why a line of reads has no whole answer. That is no miss and must not read as one.
enum class ReadFailure : uint8_t {
  kNone,
  kTooLarge,  // a gat would have had to write more than an object may be
  kNoMemory,  // a gat could not write; or whatever else is neither a hit nor a miss
  kIoError,   // the durable store could not be read or written
};
// `before`, or what the outcome of one more key makes of it.
inline ReadFailure Worse(ReadFailure before, Outcome outcome) {
  switch (outcome) {
    case Outcome::kHit:
    case Outcome::kMiss: return before;
    case Outcome::kIoError: return ReadFailure::kIoError;
    case Outcome::kTooLarge: return before == ReadFailure::kNone ? ReadFailure::kTooLarge : before;
    default: return before == ReadFailure::kIoError ? before : ReadFailure::kNoMemory;
  }
}

// After the last key of a kRead; nothing for other kinds. `failure`: of its keys.
char* WriteEnd(const Request& request, ReadFailure failure, char* out);

// Whether it is a hit of a get, gat or bget. Nearly all answers are: they are written with no other
// question asked.
inline bool IsPlainHit(const Request& request, const cache::Reply& reply) {
  return request.kind == RequestKind::kRead && reply.outcome == Outcome::kHit &&
         !request.command.want_cas;
}
// Of its reply, beside the key's bytes and the value's: words, two numbers, kEndText.
inline constexpr size_t kPlainHitBytesMax = 64;
inline constexpr std::string_view kEndText = "END\r\n";
// "VALUE", the key, the flags and the value's length: how the line before each value begins.
inline char* WriteValueFront(std::string_view key, uint32_t client_flags, size_t value_bytes,
                             char* out) {
  std::memcpy(out, "VALUE ", 6);
  out += 6;
  base::CopyShort(out, key.data(), key.size());
  out += key.size();
  std::memcpy(out, " 0 ", 3);
  out += 3;
  if (client_flags != 0) {
    out = std::to_chars(out - 2, out + 10, client_flags).ptr;
    *out++ = ' ';
  }
  return std::to_chars(out, out + 20, value_bytes).ptr;
}
// The same bytes as WriteReply of a reply that IsPlainHit and has these.
inline char* WritePlainHit(std::string_view key, uint32_t client_flags, std::string_view value,
                           char* out) {
  out = WriteValueFront(key, client_flags, value.size(), out);
  std::memcpy(out, "\r\n", 2);
  out += 2;
  base::CopyShort(out, value.data(), value.size());
  out += value.size();
  std::memcpy(out, "\r\n", 2);
  return out + 2;
}

// Head, value and its end at once, for small values.
char* WriteReply(const Request& request, std::string_view key, const cache::Reply& reply,
                 char* out);

// `text`, or nothing with noreply: Request::text, or what a command about the server answers.
char* WriteText(const Request& request, std::string_view text, char* out);

inline constexpr std::string_view kOkText = "OK\r\n";
inline constexpr std::string_view kNoTlsText = "Error TLS not enabled\r\n";  // refresh_certs
// Where the durable store behind the cache could not be read or written.
inline constexpr std::string_view kIoErrorText = "SERVER_ERROR i/o error in the durable store\r\n";

}  // namespace weft::protocol
