#include "protocol/gate.h"

#include "protocol/foreign.h"
#include "protocol/parse_internal.h"

namespace weft::protocol {
namespace {

constexpr std::string_view kUnauthenticated = "CLIENT_ERROR unauthenticated\r\n";

// The two words of a token. What follows them counts for nothing.
bool SplitToken(std::string_view token, Credentials* credentials) {
  return NextKey(&token, &credentials->user) && NextKey(&token, &credentials->password);
}

// "authzid NUL user NUL password"; whom to act for is not looked at, as there is one right only.
bool SplitPlain(std::string_view message, Credentials* credentials) {
  const size_t first = message.find('\0');
  if (first == message.npos) return false;
  const size_t second = message.find('\0', first + 1);
  if (second == message.npos) return false;
  credentials->user = message.substr(first + 1, second - first - 1);
  credentials->password = message.substr(second + 1);
  return true;
}

ParseResult Close() { return {ParseStatus::kClose, 0, 0, 0}; }

}  // namespace

ParseResult ParseToken(std::string_view input, const ParseContext& context, Request* request) {
  const size_t newline = input.find('\n', context.line_scanned_bytes);
  if (newline == input.npos) {
    if (internal::StartsForeign(input) || input.size() > kLineBytesMax) return Close();
    return {ParseStatus::kNeedMore, 0, 0, input.size()};
  }
  if (newline > kLineBytesMax) return Close();
  std::string_view text = input.substr(0, newline);
  if (text.ends_with('\r')) text.remove_suffix(1);
  text = text.substr(0, text.find('\0'));
  const internal::Line line{{input.data(), input.data() + input.size()},
                            text.data(),
                            text.data() + text.size(),
                            newline + 1};
  // Key, flags and time may be anything: a client that hashes keys sends the one that was refused.
  std::string_view tokens[5];
  uint32_t value_bytes = 0;
  const bool is_set = internal::SplitTokens(line, tokens, 5) >= 5 && tokens[0] == "set" &&
                      ParseU32(tokens[4], &value_bytes);
  if (!is_set) {
    if (internal::StartsForeign(input) || internal::IsHttpLine(text, true)) return Close();
    return internal::Text(line, kUnauthenticated, request);
  }
  if (value_bytes > kTokenBytesMax) {
    request->close = true;
    return internal::Text(line, "CLIENT_ERROR auth token too long\r\n", request);
  }
  const size_t whole_bytes = line.bytes + value_bytes + 2;
  if (input.size() < whole_bytes) return {ParseStatus::kNeedMore, 0, whole_bytes, 0};
  request->kind = RequestKind::kLogin;
  request->command.value = input.substr(line.bytes, value_bytes);
  Credentials credentials;
  if (input.substr(line.bytes + value_bytes, 2) != "\r\n") {
    internal::Text(line, "CLIENT_ERROR bad command line termination\r\n", request);
  } else if (!SplitToken(request->command.value, &credentials)) {
    internal::Text(line, "CLIENT_ERROR bad authentication token format\r\n", request);
  }
  return internal::Done(whole_bytes);
}

bool CredentialsOf(const Request& request, Credentials* credentials) {
  const std::string_view message = request.command.value;
  return request.binary ? SplitPlain(message, credentials) : SplitToken(message, credentials);
}

}  // namespace weft::protocol
