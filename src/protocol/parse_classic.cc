// set and its kin, delete, incr, decr, touch.
#include "protocol/parse_internal.h"

namespace weft::protocol::internal {
namespace {

cache::StoreMode ModeOf(std::string_view word) {
  switch (word[0]) {
    case 'p': return cache::StoreMode::kPrepend;
    case 'r': return cache::StoreMode::kReplace;
    case 'a': return word[1] == 'd' ? cache::StoreMode::kAdd : cache::StoreMode::kAppend;
    default: return cache::StoreMode::kSet;
  }
}

// What is appended to stays: memcached finds no room for the whole after it had some for the piece.
bool MayClear(const cache::Command& command, bool any_mode_drops) {
  return any_mode_drops ? !IsConcatenation(command) : IsPlainSet(command);
}

}  // namespace

ParseResult TakeValue(const Line& line, const ParseContext& context, int32_t value_bytes,
                      bool any_mode_drops, Request* request) {
  cache::Command& command = request->command;
  const size_t block_bytes = static_cast<size_t>(value_bytes) + 2;
  if (ItemBytes(command, static_cast<uint64_t>(value_bytes)) > context.item_bytes_max) {
    request->swallow_bytes = block_bytes;
    request->refused = Refused::kTooLarge;
    request->drop_key = any_mode_drops || IsPlainSet(command);
    cache::Command drop;
    drop.verb = cache::Verb::kDelete;
    drop.key = command.key;
    drop.binary_key = command.binary_key;
    drop.store_mode = command.store_mode;
    drop.expiry = command.expiry;
    request->refused_cas = command.compare_cas;
    command = drop;
    return Text(line, kTooLarge, request);
  }
  const size_t request_bytes = line.bytes + block_bytes;
  const size_t input_bytes = static_cast<size_t>(line.window.end - line.window.begin);
  if (input_bytes < request_bytes) return {ParseStatus::kNeedMore, 0, request_bytes, 0};
  const char* const value = line.window.begin + line.bytes;
  command.value = {value, static_cast<size_t>(value_bytes)};
  command.clears_when_full = MayClear(command, any_mode_drops);
  if (std::memcmp(value + value_bytes, "\r\n", 2) != 0) {
    request->refused = Refused::kBadChunk;
    Text(line, kBadChunk, request);
  }
  return Done(request_bytes);
}

ParseResult ParseStore(std::string_view word, const Line& line, const ParseContext& context,
                       Request* request) {
  const bool compare_cas = word[0] == 'c';
  const size_t needed_count = compare_cas ? 5 : 4;
  std::string_view tokens[6];
  const size_t count = SplitTokens(line, tokens, needed_count + 1);
  if (count < needed_count || count > needed_count + 1) {
    return Text(line, kUnknownCommand, request);
  }
  request->noreply = IsNoreply(tokens[count - 1]);

  cache::Command& command = request->command;
  int32_t exptime = 0;
  int32_t value_bytes = 0;
  const bool well_formed =
      tokens[0].size() <= kKeyBytesMax && ParseU32(tokens[1], &command.client_flags) &&
      ParseI32(tokens[2], &exptime) && ParseI32(tokens[3], &value_bytes) &&
      (!compare_cas || ParseU64(tokens[4], &command.cas_expected)) && IsValueLength(value_bytes);
  // The value of a store that reads so wrongly is not skipped: it is taken for commands.
  if (!well_formed) return Text(line, kBadFormat, request);

  request->kind = RequestKind::kStore;
  command.verb = cache::Verb::kStore;
  command.store_mode = ModeOf(word);
  command.compare_cas = compare_cas;
  command.key = tokens[0];
  command.expiry = ExpiryFrom(exptime, context);
  return TakeValue(line, context, value_bytes, /*any_mode_drops=*/false, request);
}

ParseResult ParseDelete(const Line& line, Request* request) {
  std::string_view tokens[3];
  const size_t count = SplitTokens(line, tokens, 3);
  if (count < 1 || count > 3) return Text(line, kUnknownCommand, request);
  request->noreply = count > 1 && IsNoreply(tokens[count - 1]);
  // Old clients send a delay; only 0 is still understood.
  const bool well_formed = count == 1 || (count == 2 && (request->noreply || tokens[1] == "0")) ||
                           (count == 3 && request->noreply && tokens[1] == "0");
  if (!well_formed) {
    return Text(line, "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]\r\n",
                request);
  }
  if (tokens[0].size() > kKeyBytesMax) return Text(line, kBadFormat, request);
  request->kind = RequestKind::kDelete;
  request->command.verb = cache::Verb::kDelete;
  request->command.key = tokens[0];
  return Done(line.bytes);
}

ParseResult ParseArithmetic(bool decrement, const Line& line, Request* request) {
  std::string_view tokens[3];
  const size_t count = SplitTokens(line, tokens, 3);
  if (count < 2 || count > 3) return Text(line, kUnknownCommand, request);
  request->noreply = IsNoreply(tokens[count - 1]);
  if (tokens[0].size() > kKeyBytesMax) return Text(line, kBadFormat, request);
  cache::Command& command = request->command;
  if (!ParseU64(tokens[1], &command.delta)) {
    return Text(line, "CLIENT_ERROR invalid numeric delta argument\r\n", request);
  }
  request->kind = RequestKind::kArithmetic;
  command.verb = cache::Verb::kArithmetic;
  command.decrement = decrement;
  command.key = tokens[0];
  return Done(line.bytes);
}

ParseResult ParseTouch(const Line& line, const ParseContext& context, Request* request) {
  std::string_view tokens[3];
  const size_t count = SplitTokens(line, tokens, 3);
  if (count < 2 || count > 3) return Text(line, kUnknownCommand, request);
  request->noreply = IsNoreply(tokens[count - 1]);
  if (tokens[0].size() > kKeyBytesMax) return Text(line, kBadFormat, request);
  int32_t exptime = 0;
  if (!ParseI32(tokens[1], &exptime)) return Text(line, kBadExptime, request);
  cache::Command& command = request->command;
  request->kind = RequestKind::kTouch;
  command.verb = cache::Verb::kTouch;
  command.update_expiry = true;
  command.expiry = ExpiryFrom(exptime, context);
  command.key = tokens[0];
  return Done(line.bytes);
}

}  // namespace weft::protocol::internal
