// protocol/parse_internal.h: what the command families of the parsers share. Only the parsers of
// this folder include it: parse*.cc, binary.cc, gate.cc.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#include "protocol/number.h"
#include "protocol/parse.h"

namespace weft::protocol::internal {

inline constexpr std::string_view kUnknownCommand = "ERROR\r\n";
inline constexpr std::string_view kLineTooLong = "CLIENT_ERROR line too long\r\n";
inline constexpr std::string_view kOk = "OK\r\n";
inline constexpr std::string_view kBadFormat = "CLIENT_ERROR bad command line format\r\n";
inline constexpr std::string_view kBadExptime = "CLIENT_ERROR invalid exptime argument\r\n";
inline constexpr std::string_view kBadChunk = "CLIENT_ERROR bad data chunk\r\n";
inline constexpr std::string_view kTooLarge = "SERVER_ERROR object too large for cache\r\n";

// A command line behind its command word. It goes by reference: a copy of what was just written
// waits for the stores before it (docs/design/0016).
struct Line {
  Window window;     // the whole input
  const char* rest;  // what is not read yet
  const char* end;   // of the text: no line end, nothing from a NUL on
  size_t bytes;      // of the line with its newline: what it consumes
};

// Takes the next word of the line from `*rest` on; false, with `token` empty, at its end.
inline bool TokenFrom(const Line& line, const char** rest, std::string_view* token) {
  const char* begin = *rest;
  while (begin != line.end && *begin == ' ') ++begin;
  const char* const stop = FindByteBefore(line.window, begin, line.end, ' ');
  *token = {begin, static_cast<size_t>(stop - begin)};
  *rest = stop;
  return begin != stop;
}
// Takes the next word off the line; false, with `token` empty, at its end.
inline bool NextToken(Line* line, std::string_view* token) {
  return TokenFrom(*line, &line->rest, token);
}

// What is left of the line, without the blanks before it.
inline std::string_view RestOf(const Line& line) {
  const char* rest = line.rest;
  while (rest != line.end && *rest == ' ') ++rest;
  return {rest, static_cast<size_t>(line.end - rest)};
}

// Splits the rest of the line. The number of words, or tokens_max + 1 where there are more.
inline size_t SplitTokens(const Line& line, std::string_view* tokens, size_t tokens_max) {
  const char* rest = line.rest;
  std::string_view extra;
  for (size_t count = 0; count < tokens_max; ++count) {
    if (!TokenFrom(line, &rest, &tokens[count])) return count;
  }
  return TokenFrom(line, &rest, &extra) ? tokens_max + 1 : tokens_max;
}

// What memcached compares with its size limit.
inline uint64_t ItemBytes(const cache::Command& command, uint64_t value_bytes) {
  return kItemOverheadBytes + (command.client_flags != 0 ? kItemFlagsBytes : 0) +
         command.key.size() + value_bytes;
}

inline ParseResult Done(size_t consumed_bytes) {
  return {ParseStatus::kRequest, consumed_bytes, 0, 0};
}

inline ParseResult Text(const Line& line, std::string_view text, Request* request) {
  request->kind = RequestKind::kText;
  request->text = text;
  return Done(line.bytes);
}

// Classic commands hide every reply, errors too, where their last word is noreply.
inline bool IsNoreply(std::string_view last_token) { return last_token == "noreply"; }

// Whether the length of a value is one that memcached reads.
inline bool IsValueLength(int32_t value_bytes) {
  return value_bytes >= 0 && value_bytes <= 0x7FFFFFFF - 2;
}

// The value behind the line, into command.value; the store is over when it has arrived. Refuses
// what exceeds the item limit. `any_mode_drops`: a refused store drops the key in every mode, not
// in plain set alone.
ParseResult TakeValue(const Line& line, const ParseContext& context, int32_t value_bytes,
                      bool any_mode_drops, Request* request);

// One per command family; `word` is the command. ParseMeta takes words off the line.
ParseResult ParseStore(std::string_view word, const Line& line, const ParseContext& context,
                       Request* request);
ParseResult ParseDelete(const Line& line, Request* request);
ParseResult ParseArithmetic(bool decrement, const Line& line, Request* request);
ParseResult ParseTouch(const Line& line, const ParseContext& context, Request* request);
ParseResult ParseMeta(char letter, Line* line, const ParseContext& context, Request* request);
ParseResult ParseAdmin(std::string_view word, const Line& line, const ParseContext& context,
                       Request* request);

}  // namespace weft::protocol::internal
