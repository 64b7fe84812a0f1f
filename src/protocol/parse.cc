#include "protocol/parse.h"

#include <cstring>

#include "base/check.h"
#include "protocol/foreign.h"
#include "protocol/parse_internal.h"

namespace weft::protocol {
namespace {

using internal::Line;
using internal::NextToken;
using internal::Text;

// memcached keeps waiting for the end of a long line only behind this little indentation.
constexpr size_t kIndentBytesMax = 100;

bool StartsRead(std::string_view line) {
  const size_t indent = line.find_first_not_of(' ');
  if (indent == std::string_view::npos || indent > kIndentBytesMax) return false;
  line.remove_prefix(indent);
  return line.starts_with("get ") || line.starts_with("gets ") || line.starts_with("gat ") ||
         line.starts_with("gats ");
}

bool IsTooLong(std::string_view line, const ParseContext& context) {
  return line.size() > kLineBytesMax &&
         (!StartsRead(line) || line.size() > context.read_line_bytes_max);
}

// The connection ends with the reason. `bytes`: what has come of the line.
ParseResult RefuseLine(size_t bytes, Request* request) {
  request->text = internal::kLineTooLong;
  request->close = true;
  return internal::Done(bytes);
}

// The input holds no whole line yet.
ParseResult WaitForLine(std::string_view input, const ParseContext& context, Request* request) {
  if (internal::StartsForeign(input)) return {ParseStatus::kClose, 0, 0, 0};
  if (IsTooLong(input, context)) return RefuseLine(input.size(), request);
  return {ParseStatus::kNeedMore, 0, 0, input.size()};
}

// Whether a line that was answered by an error is none of a client's of ours at all.
bool IsForeign(std::string_view input, std::string_view line, const Request& request) {
  if (line.empty()) return false;
  const bool is_error = request.text.starts_with("ERROR");
  if (!is_error && !request.text.starts_with("CLIENT_ERROR")) return false;
  return internal::StartsForeign(input) ||
         internal::IsHttpLine(line, request.text == internal::kUnknownCommand);
}

// Whether every key of `keys` is short enough. Instead of every key, looks at the places where a
// key that is too long would have to reach: one look skips up to 251 bytes.
bool KeysFit(std::string_view keys) {
  size_t key_begin_max = 0;  // no key before it is too long
  while (keys.size() - key_begin_max > kKeyBytesMax) {
    size_t i = key_begin_max + kKeyBytesMax;
    while (keys[i] != ' ') {
      if (i == key_begin_max) return false;
      --i;
    }
    key_begin_max = i + 1;
  }
  return true;
}

ParseResult ParseRead(bool with_cas, Line* line, Request* request) {
  cache::Command& command = request->command;
  if (!NextToken(line, &command.key)) return Text(*line, internal::kUnknownCommand, request);
  const std::string_view keys = internal::RestOf(*line);
  // A bad key anywhere is the whole line's answer: hits before it are not shown.
  if (command.key.size() > kKeyBytesMax || (!keys.empty() && !KeysFit(keys))) {
    return Text(*line, internal::kBadFormat, request);
  }
  request->kind = RequestKind::kRead;
  request->keys = keys;
  command.verb = cache::Verb::kRead;
  command.want_cas = with_cas;
  return internal::Done(line->bytes);
}

ParseResult ParseReadAndTouch(bool with_cas, Line* line, const ParseContext& context,
                              Request* request) {
  std::string_view token;
  if (!NextToken(line, &token)) return Text(*line, internal::kUnknownCommand, request);
  int32_t exptime = 0;
  if (!ParseI32(token, &exptime)) return Text(*line, internal::kBadExptime, request);
  request->command.update_expiry = true;
  request->command.expiry = ExpiryFrom(exptime, context);
  // An expiry and no key is a read of no keys.
  if (internal::RestOf(*line).empty()) return Text(*line, "END\r\n", request);
  return ParseRead(with_cas, line, request);
}

ParseResult Dispatch(std::string_view word, Line* line, const ParseContext& context,
                     Request* request) {
  switch (word.empty() ? '\0' : word[0]) {
    case 'g':
      if (word == "get") return ParseRead(false, line, request);
      if (word == "gets") return ParseRead(true, line, request);
      if (word == "gat") return ParseReadAndTouch(false, line, context, request);
      if (word == "gats") return ParseReadAndTouch(true, line, context, request);
      break;
    case 'm':
      if (word.size() == 2) return internal::ParseMeta(word[1], line, context, request);
      break;
    case 's':
      if (word == "set") return internal::ParseStore(word, *line, context, request);
      break;
    case 'a':
      if (word == "add" || word == "append") {
        return internal::ParseStore(word, *line, context, request);
      }
      break;
    case 'r':
      if (word == "replace") return internal::ParseStore(word, *line, context, request);
      break;
    case 'p':
      if (word == "prepend") return internal::ParseStore(word, *line, context, request);
      break;
    case 'c':
      if (word == "cas") return internal::ParseStore(word, *line, context, request);
      break;
    case 'd':
      if (word == "delete") return internal::ParseDelete(*line, request);
      if (word == "decr") return internal::ParseArithmetic(true, *line, request);
      break;
    case 'i':
      if (word == "incr") return internal::ParseArithmetic(false, *line, request);
      break;
    case 't':
      if (word == "touch") return internal::ParseTouch(*line, context, request);
      break;
    case 'b':
      if (word == "bget") return ParseRead(false, line, request);
      break;
    default: break;
  }
  return internal::ParseAdmin(word, *line, context, request);
}

}  // namespace

cache::Expiry ExpiryFrom(int32_t exptime, const ParseContext& context) {
  constexpr int32_t kRelativeMax = 60 * 60 * 24 * 30;
  if (exptime == 0) return cache::kNeverExpires;
  if (exptime < 0) return cache::kExpiredAtOnce;
  const uint32_t seconds = static_cast<uint32_t>(exptime);
  if (exptime <= kRelativeMax) return context.now_s + seconds;
  return seconds <= context.start_s ? cache::kExpiredAtOnce : seconds;
}

ParseResult ParseNew(std::string_view input, const ParseContext& context, Request* request) {
  WEFT_DCHECK(context.scratch != nullptr);
  const Window window{input.data(), input.data() + input.size()};
  const char* newline = FindEither(window, window.begin + context.line_scanned_bytes, '\n', '\0');
  const char* end = newline;
  // memcached's lines are C strings: a NUL ends the text, the newline ends the line.
  if (newline != window.end && *newline == '\0') newline = FindByte(window, newline, '\n');
  if (newline == window.end) return WaitForLine(input, context, request);
  const size_t text_bytes = static_cast<size_t>(newline - window.begin);
  if (IsTooLong(input.substr(0, text_bytes), context)) return RefuseLine(text_bytes + 1, request);
  if (end == newline && end != window.begin && end[-1] == '\r') --end;
  if (context.line_scanned_bytes != 0) end = FindByte({window.begin, end}, window.begin, '\0');

  Line line{window, window.begin, end, text_bytes + 1};
  if (end - window.begin >= 4 && std::memcmp(window.begin, "get ", 4) == 0) {
    line.rest += 4;
    return ParseRead(false, &line, request);
  }
  std::string_view word;
  NextToken(&line, &word);
  const ParseResult result = Dispatch(word, &line, context, request);
  const bool is_refused =
      result.status == ParseStatus::kRequest && IsForeign(input, {window.begin, end}, *request);
  return is_refused ? ParseResult{ParseStatus::kClose, 0, 0, 0} : result;
}

}  // namespace weft::protocol
