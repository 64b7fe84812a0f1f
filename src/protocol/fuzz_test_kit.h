// protocol/fuzz_test_kit.h: what both fuzzers of the parser assert. Fuzzers only.
//
// The bytes are parsed at once and in pieces; both must give the same requests, and every request
// must keep the limits that parse.h states. A broken rule stops the program.
// Threads   one.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "protocol/parse.h"
#include "protocol/reply.h"

namespace weft::protocol {

// Small, so that inputs reach the limits.
inline constexpr uint32_t kFuzzItemBytesMax = 4096;

// A request as text, without addresses.
inline std::string Summary(const Request& request) {
  const cache::Command& command = request.command;
  std::string text = std::to_string(static_cast<int>(request.kind));
  const auto add = [&text](auto number) { text += ' ' + std::to_string(number); };
  add(request.noreply | request.quiet << 1 | request.close << 2 | request.graceful << 3 |
      request.drop_key << 4 | request.return_value << 5);
  add(request.number);
  add(request.flush_at_s);
  add(request.swallow_bytes);
  add(static_cast<int>(command.verb));
  add(static_cast<int>(command.store_mode));
  add(command.compare_cas | command.explicit_cas << 1 | command.update_expiry << 2 |
      command.vivify << 3 | command.recache << 4 | command.invalidate << 5 |
      command.drop_value << 6 | command.decrement << 7 | command.want_cas << 8 |
      command.binary_key << 9);
  add(command.expiry);
  add(command.delta);
  add(command.cas_expected);
  for (const std::string_view part : {command.key, command.value, request.keys, request.meta_tokens,
                                      request.arguments, request.text}) {
    text += '|';
    text += part;
  }
  return text;
}

inline void CheckLimits(Request request, const ParseResult& result, size_t input_bytes) {
  WEFT_CHECK(result.consumed_bytes > 0 && result.consumed_bytes <= input_bytes);
  WEFT_CHECK(request.command.value.size() <= kFuzzItemBytesMax);
  WEFT_CHECK(request.swallow_bytes <= 0x7FFFFFFFu);
  if (request.kind <= RequestKind::kMetaDebug || request.drop_key) {
    WEFT_CHECK(!request.command.key.empty() && request.command.key.size() <= kKeyBytesMax);
  }
  if (request.kind == RequestKind::kText) WEFT_CHECK(request.text.ends_with("\r\n"));
  std::string_view key;
  while (NextKey(&request.keys, &key)) {
    WEFT_CHECK(key.size() <= kKeyBytesMax && key.find(' ') == std::string_view::npos);
  }
}

// Writes the longest reply there can be and holds it to its bound.
inline void CheckReply(const Request& request) {
  if (request.kind > RequestKind::kMetaDebug) return;
  cache::Reply reply;
  reply.stale = reply.won = reply.win_taken = true;
  reply.binary_key = request.command.binary_key;
  reply.client_flags = reply.last_access_s = reply.object_bytes = ~0u;
  reply.ttl_s = 0x7FFFFFFF;
  reply.cas = reply.number = ~uint64_t{0};
  const size_t bytes_max = ReplyBytesMax(request, request.command.key.size());
  std::vector<char> out(bytes_max);
  for (int outcome = 0; outcome <= static_cast<int>(Outcome::kBadKey); ++outcome) {
    reply.outcome = static_cast<Outcome>(outcome);
    const char* const end = WriteReply(request, request.command.key, reply, out.data());
    WEFT_CHECK(static_cast<size_t>(end - out.data()) <= bytes_max);
    if (!IsPlainHit(request, reply)) continue;
    const std::string_view written(out.data(), static_cast<size_t>(end - out.data()));
    std::vector<char> hit(kPlainHitBytesMax + request.command.key.size() - kEndText.size());
    const char* const hit_end =
        WritePlainHit(request.command.key, reply.client_flags, reply.value, hit.data());
    WEFT_CHECK(written == std::string_view(hit.data(), static_cast<size_t>(hit_end - hit.data())));
  }
}

// A get of one key is the same to whoever looks for that alone.
inline void CheckPlainGet(Window input, const Request& request, const ParseResult& result) {
  const std::string_view key = PlainGetKey(input, input.begin);
  if (key.empty()) return;
  WEFT_CHECK(result.status == ParseStatus::kRequest && request.kind == RequestKind::kRead);
  WEFT_CHECK(request.command.key == key && request.keys.empty() && !request.command.want_cas);
  WEFT_CHECK(result.consumed_bytes == key.size() + 6);
}

// The requests of `bytes` when they arrive in pieces of the lengths that `cuts` gives in turn.
inline std::vector<std::string> Requests(std::string_view bytes, std::string_view cuts) {
  char scratch[kScratchBytes];
  ParseContext context;
  context.now_s = 1'700'000'000;
  context.start_s = context.now_s - 1000;
  context.item_bytes_max = kFuzzItemBytesMax;
  context.read_line_bytes_max = 8192;
  context.scratch = scratch;
  std::vector<std::string> requests;
  std::string buffer;  // exact size: the sanitizer sees any read past the input
  uint64_t swallow_bytes = 0;
  size_t arrived = 0;
  size_t scanned = 0;
  for (size_t piece = 0; arrived < bytes.size(); ++piece) {
    const size_t cut =
        cuts.empty() ? bytes.size() : static_cast<unsigned char>(cuts[piece % cuts.size()]) + 1u;
    const std::string_view more = bytes.substr(arrived, cut);
    arrived += more.size();
    buffer += more;
    for (;;) {
      const size_t skipped = std::min<uint64_t>(swallow_bytes, buffer.size());
      buffer.erase(0, skipped);
      swallow_bytes -= skipped;
      const std::vector<char> input(buffer.begin(), buffer.end());
      context.line_scanned_bytes = scanned;
      Request request;
      const ParseResult result = Parse({input.data(), input.size()}, context, &request);
      scanned = result.scanned_bytes;
      CheckPlainGet({input.data(), input.data() + input.size()}, request, result);
      if (result.status == ParseStatus::kClose) {
        requests.push_back("close");
        return requests;
      }
      if (result.status == ParseStatus::kNeedMore) {
        WEFT_CHECK(result.needed_bytes == 0 || result.needed_bytes > input.size());
        WEFT_CHECK(result.needed_bytes <= kLineBytesMax + kFuzzItemBytesMax + 3);
        break;
      }
      CheckLimits(request, result, input.size());
      CheckReply(request);
      requests.push_back(Summary(request));
      if (request.close) return requests;
      buffer.erase(0, result.consumed_bytes);
      swallow_bytes = request.swallow_bytes;
    }
  }
  return requests;
}

// The last byte of the input says how many of the bytes before it are cut lengths.
inline void FuzzParser(std::string_view prefix, std::string_view input) {
  if (input.empty()) return;
  const size_t cuts_count =
      std::min<size_t>(static_cast<unsigned char>(input.back()) % 8, input.size() - 1);
  input.remove_suffix(1);
  const std::string_view cuts = input.substr(input.size() - cuts_count);
  const std::string bytes =
      std::string(prefix) + std::string(input.substr(0, input.size() - cuts_count));
  const std::vector<std::string> whole = Requests(bytes, "");
  WEFT_CHECK(whole == Requests(bytes, cuts));
  // Byte by byte takes the square of the length.
  if (bytes.size() <= 300) WEFT_CHECK(whole == Requests(bytes, std::string_view("\0", 1)));
}

}  // namespace weft::protocol
