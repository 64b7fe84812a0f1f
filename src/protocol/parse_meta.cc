// mg, ms, md, ma, mn, me.
#include "base/base64.h"
#include "base/check.h"
#include "protocol/parse_internal.h"

namespace weft::protocol::internal {
namespace {

constexpr size_t kFlagsMax = 17;             // of mg, md, ma; ms has one fewer
constexpr size_t kOpaqueTokenBytesMax = 32;  // with its O

constexpr std::string_view kBadToken = "CLIENT_ERROR bad token in command line format\r\n";
constexpr std::string_view kInvalidFlag = "CLIENT_ERROR invalid flag\r\n";
constexpr std::string_view kOpaqueTooLong = "CLIENT_ERROR opaque token too long\r\n";
constexpr std::string_view kInvalidOrDuplicate = "CLIENT_ERROR invalid or duplicate flag\r\n";

// What the flags of one command said, before the command decides what it means for it.
struct Flags {
  bool time_given = false;  // T
  int32_t time = 0;
  bool vivify_given = false;  // N
  int32_t vivify_time = 0;
  bool remove_value = false;  // x
  bool opaque_too_long = false;
  bool too_many = false;
  char mode = '\0';  // M
};

// Reads one flag that has a number or a mode. The error, or nothing.
std::string_view ReadToken(std::string_view token, Flags* flags, Request* request) {
  cache::Command& command = request->command;
  const std::string_view argument = token.substr(1);
  switch (token[0]) {
    case 'T': flags->time_given = true; return ParseI32(argument, &flags->time) ? "" : kBadToken;
    case 'N':
      flags->vivify_given = true;
      return ParseI32(argument, &flags->vivify_time) ? "" : kBadToken;
    case 'R':
      command.recache = true;
      return ParseI32(argument, &command.recache_s) ? "" : kBadToken;
    case 'C':
      command.compare_cas = true;
      return ParseU64(argument, &command.cas_expected) ? "" : kBadToken;
    case 'E':
      command.explicit_cas = true;
      return ParseU64(argument, &command.cas_new) ? "" : kBadToken;
    case 'D':
      return ParseU64(argument, &command.delta) ? ""
                                                : "CLIENT_ERROR invalid numeric delta value\r\n";
    case 'J':
      return ParseU64(argument, &command.initial)
                 ? ""
                 : "CLIENT_ERROR invalid numeric initial value\r\n";
    case 'F': return ParseU32(argument, &command.client_flags) ? "" : kBadFormat;
    case 'M':
      if (argument.size() != 1) return "CLIENT_ERROR incorrect length for M token\r\n";
      flags->mode = argument[0];
      return "";
    default: return kInvalidFlag;
  }
}

// Reads any flag. Every command takes every flag and ignores those that mean nothing to it.
std::string_view ReadFlag(char letter, std::string_view token, Flags* flags, Request* request) {
  cache::Command& command = request->command;
  switch (token[0]) {
    case 'b': command.binary_key = true; return "";
    case 'q': request->quiet = true; return "";
    case 'c': command.want_cas = true; return "";
    case 'h':
    case 'l':
    case 't': command.want_access = true; return "";
    case 'u': command.quiet_access = true; return "";
    case 'I': command.invalidate = true; return "";
    case 'O': flags->opaque_too_long = token.size() > kOpaqueTokenBytesMax; return "";
    case 'v': request->return_value = true; return "";
    case 'f':
    case 'k':
    case 's':
    case 'L':
    case 'P': return "";
    case 'x':
      if (letter != 'd') break;
      flags->remove_value = true;
      return "";
    default: break;
  }
  return ReadToken(token, flags, request);
}

bool DecodeKey(const ParseContext& context, Request* request) {
  WEFT_DCHECK(context.scratch != nullptr);
  cache::Command& command = request->command;
  const size_t key_bytes = base::Base64Decode(command.key, context.scratch);
  command.key = {context.scratch, key_bytes};
  return key_bytes != 0;
}

// Reads all flags of the line, then the key where it is base64. The error, or nothing.
std::string_view ReadFlags(char letter, Line* line, const ParseContext& context, Flags* flags,
                           Request* request) {
  uint64_t seen[2] = {0, 0};
  const size_t flags_max = letter == 's' ? kFlagsMax - 1 : kFlagsMax;
  std::string_view
      error;  // of several the last is told, but for an unknown flag or one given twice
  std::string_view token;
  bool stopped = false;
  // All are counted, past an error too: too many is the error that goes first.
  for (size_t count = 1; NextToken(line, &token); ++count) {
    if (count > flags_max) {
      flags->too_many = true;
      return letter == 'g' ? "CLIENT_ERROR options flags are too long\r\n"
                           : "CLIENT_ERROR options flags too long\r\n";
    }
    if (stopped) continue;
    const uint32_t code = static_cast<unsigned char>(token[0]);
    uint64_t& word = seen[code >> 6 & 1];
    const uint64_t bit = uint64_t{1} << (code & 63);
    if (code >= 127 || (word & bit) != 0) {
      error = "CLIENT_ERROR duplicate flag\r\n";
      stopped = true;
      continue;
    }
    word |= bit;
    const std::string_view found = ReadFlag(letter, token, flags, request);
    // What is wrong with F is told only where nothing else is.
    if (!found.empty() && (error.empty() || token[0] != 'F')) error = found;
    stopped = found == kInvalidFlag;
  }
  if (!stopped && request->command.binary_key && !DecodeKey(context, request)) {
    error = "CLIENT_ERROR error decoding key\r\n";
  }
  if (!error.empty() && (letter == 'd' || letter == 'a')) return kInvalidOrDuplicate;
  return error.empty() && flags->opaque_too_long ? kOpaqueTooLong : error;
}

// Whether both flags are there, `first` to the left.
bool IsBefore(char first, char second, std::string_view tokens) {
  bool seen = false;
  std::string_view token;
  while (NextKey(&tokens, &token)) {
    if (token[0] == second) return seen;
    if (token[0] == first) seen = true;
  }
  return false;
}

ParseResult ParseMetaRead(const Line& line, const Flags& flags, const ParseContext& context,
                          Request* request) {
  cache::Command& command = request->command;
  request->kind = RequestKind::kMetaRead;
  command.verb = cache::Verb::kRead;
  command.hand_out_win = true;
  command.update_expiry = flags.time_given;
  command.expiry = ExpiryFrom(flags.time, context);
  command.vivify = flags.vivify_given;
  command.vivify_expiry = ExpiryFrom(flags.vivify_time, context);
  // Flags act in their order.
  command.recache_first = IsBefore('R', 'T', request->meta_tokens);
  command.vivify_last = IsBefore('T', 'N', request->meta_tokens);
  // The reply compares, not the store.
  request->unless_cas = command.compare_cas;
  if (command.compare_cas) command.want_cas = true;
  command.compare_cas = false;
  // This means nothing to a read; the store must not see it.
  command.invalidate = false;
  return Done(line.bytes);
}

bool StoreModeOf(char mode, cache::StoreMode* store_mode) {
  switch (mode) {
    case '\0':
    case 'S': *store_mode = cache::StoreMode::kSet; return true;
    case 'E': *store_mode = cache::StoreMode::kAdd; return true;
    case 'A': *store_mode = cache::StoreMode::kAppend; return true;
    case 'P': *store_mode = cache::StoreMode::kPrepend; return true;
    case 'R': *store_mode = cache::StoreMode::kReplace; return true;
    default: return false;
  }
}

ParseResult ParseMetaStore(Line* line, const ParseContext& context, Request* request) {
  std::string_view token;
  int32_t value_bytes = 0;
  if (!NextToken(line, &token)) return Text(*line, kBadFormat, request);
  request->meta_tokens = RestOf(*line);
  Flags flags;
  std::string_view error = ReadFlags('s', line, context, &flags, request);
  // Without a length, or with more flags than are looked at, the value is taken for commands.
  if (flags.too_many) return Text(*line, error, request);
  if (!ParseI32(token, &value_bytes) || !IsValueLength(value_bytes)) {
    return Text(*line, kBadFormat, request);
  }
  cache::Command& command = request->command;
  // A wrong mode is found before a long opaque.
  if ((error.empty() || error == kOpaqueTooLong) && !StoreModeOf(flags.mode, &command.store_mode)) {
    error = "CLIENT_ERROR invalid mode for ms M token\r\n";
  }
  if (!error.empty()) {
    request->swallow_bytes = static_cast<uint64_t>(value_bytes) + 2;
    return Text(*line, error, request);
  }
  request->kind = RequestKind::kMetaStore;
  command.verb = cache::Verb::kStore;
  command.expiry = ExpiryFrom(flags.time, context);
  command.vivify = flags.vivify_given && (command.store_mode == cache::StoreMode::kAppend ||
                                          command.store_mode == cache::StoreMode::kPrepend);
  command.vivify_expiry = ExpiryFrom(flags.vivify_time, context);
  command.recache = false;
  return TakeValue(*line, context, value_bytes, /*any_mode_drops=*/true, request);
}

ParseResult ParseMetaDelete(const Line& line, const Flags& flags, const ParseContext& context,
                            Request* request) {
  cache::Command& command = request->command;
  request->kind = RequestKind::kMetaDelete;
  command.verb = cache::Verb::kDelete;
  command.update_expiry = flags.time_given && command.invalidate;
  command.expiry = ExpiryFrom(flags.time, context);
  command.drop_value = flags.remove_value;
  command.recache = false;
  return Done(line.bytes);
}

ParseResult ParseMetaArithmetic(const Line& line, const Flags& flags, const ParseContext& context,
                                Request* request) {
  cache::Command& command = request->command;
  switch (flags.mode) {
    case '\0':
    case 'I':
    case '+': break;
    case 'D':
    case '-': command.decrement = true; break;
    default: return Text(line, "CLIENT_ERROR invalid mode for ma M token\r\n", request);
  }
  request->kind = RequestKind::kMetaArithmetic;
  command.verb = cache::Verb::kArithmetic;
  command.update_expiry = flags.time_given;
  command.expiry = ExpiryFrom(flags.time, context);
  command.vivify = flags.vivify_given;
  command.vivify_expiry = ExpiryFrom(flags.vivify_time, context);
  command.vivify_last = IsBefore('T', 'N', request->meta_tokens);
  // memcached's arithmetic knows version 0 as "any".
  command.compare_cas = command.compare_cas && command.cas_expected != 0;
  command.invalidate = false;
  command.recache = false;
  return Done(line.bytes);
}

ParseResult ParseMetaDebug(Line* line, const ParseContext& context, Request* request) {
  cache::Command& command = request->command;
  std::string_view token;
  // Only a first flag b is looked at.
  if (NextToken(line, &token) && token == "b") {
    command.binary_key = true;
    if (!DecodeKey(context, request)) return Text(*line, kBadFormat, request);
  }
  request->kind = RequestKind::kMetaDebug;
  command.verb = cache::Verb::kRead;
  command.want_cas = true;
  command.want_access = true;
  command.quiet_access = true;
  return Done(line->bytes);
}

}  // namespace

ParseResult ParseMeta(char letter, Line* line, const ParseContext& context, Request* request) {
  if (letter == 'n') return Text(*line, "MN\r\n", request);
  if (std::string_view("gsdae").find(letter) == std::string_view::npos) {
    return Text(*line, kUnknownCommand, request);
  }
  cache::Command& command = request->command;
  if (!NextToken(line, &command.key)) {
    return Text(*line, letter == 'e' ? kBadFormat : kUnknownCommand, request);
  }
  if (command.key.size() > kKeyBytesMax) return Text(*line, kBadFormat, request);
  if (letter == 's') return ParseMetaStore(line, context, request);
  if (letter == 'e') return ParseMetaDebug(line, context, request);
  request->meta_tokens = RestOf(*line);
  Flags flags;
  const std::string_view error = ReadFlags(letter, line, context, &flags, request);
  if (!error.empty()) return Text(*line, error, request);
  if (letter == 'g') return ParseMetaRead(*line, flags, context, request);
  if (letter == 'd') return ParseMetaDelete(*line, flags, context, request);
  return ParseMetaArithmetic(*line, flags, context, request);
}

}  // namespace weft::protocol::internal
