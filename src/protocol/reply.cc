#include "protocol/reply.h"

#include <charconv>
#include <cstring>

#include "base/base64.h"
#include "base/check.h"

namespace weft::protocol {
namespace {

// The longest fixed part of any reply: me's names and numbers.
constexpr size_t kFixedBytesMax = 160;
// The longest answer to one meta flag: a letter, 20 digits and a space.
constexpr size_t kReturnFlagBytesMax = 22;

constexpr std::string_view kNotNumericText =
    "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n";
constexpr std::string_view kBadKeyText = "CLIENT_ERROR bad command line format\r\n";
constexpr std::string_view kTooLargeText = "SERVER_ERROR object too large for cache\r\n";
constexpr std::string_view kStoreNoMemoryText = "SERVER_ERROR out of memory storing object\r\n";
constexpr std::string_view kArithmeticNoMemoryText = "SERVER_ERROR out of memory\r\n";
constexpr std::string_view kReadNoMemoryText =
    "SERVER_ERROR out of memory writing get response\r\n";

char* Append(std::string_view text, char* out) {
  if (text.empty()) return out;  // an empty view may have no address to copy from
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

template <typename Number>
char* AppendNumber(Number number, char* out) {
  return std::to_chars(out, out + 20, number).ptr;
}

char* AppendKey(std::string_view key, bool binary, char* out) {
  return binary ? base::Base64Encode(key, out) : Append(key, out);
}

char* WriteValueLine(const Request& request, std::string_view key, const cache::Reply& reply,
                     char* out) {
  out = WriteValueFront(key, reply.client_flags, reply.value.size(), out);
  if (request.command.want_cas) {
    *out++ = ' ';
    out = AppendNumber(reply.cas, out);
  }
  return Append("\r\n", out);
}

// Failures that read the same for every command; empty for the outcomes that are not.
std::string_view FailureText(cache::Verb verb, Outcome outcome) {
  switch (outcome) {
    case Outcome::kNotNumeric: return kNotNumericText;
    case Outcome::kTooLarge: return kTooLargeText;
    case Outcome::kBadKey: return kBadKeyText;
    case Outcome::kIoError: return kIoErrorText;
    case Outcome::kNoMemory:
      return verb == cache::Verb::kArithmetic ? kArithmeticNoMemoryText : kStoreNoMemoryText;
    default: return "";
  }
}

std::string_view ClassicText(Outcome outcome) {
  switch (outcome) {
    case Outcome::kStored: return "STORED\r\n";
    case Outcome::kNotStored: return "NOT_STORED\r\n";
    case Outcome::kExists: return "EXISTS\r\n";
    case Outcome::kDeleted: return "DELETED\r\n";
    case Outcome::kTouched: return "TOUCHED\r\n";
    default: return "NOT_FOUND\r\n";
  }
}

char* WriteClassic(const Request& request, const cache::Reply& reply, char* out) {
  if (request.noreply) return out;
  const std::string_view failure = FailureText(request.command.verb, reply.outcome);
  if (!failure.empty()) return Append(failure, out);
  if (reply.outcome != Outcome::kNumber) return Append(ClassicText(reply.outcome), out);
  return Append("\r\n", AppendNumber(reply.number, out));
}

bool IsSuccess(Outcome outcome) {
  return outcome != Outcome::kMiss && outcome != Outcome::kNotStored && outcome != Outcome::kExists;
}

// Whether q hides this outcome. An arithmetic that created its number is not the expected one.
bool IsHidden(const Request& request, Outcome outcome) {
  if (!request.quiet) return false;
  switch (request.kind) {
    case RequestKind::kMetaRead: return outcome == Outcome::kMiss;
    case RequestKind::kMetaArithmetic: return outcome == Outcome::kNumber;
    default: return IsSuccess(outcome);
  }
}

uint64_t StoredBytes(const cache::Command& command, const cache::Reply& reply) {
  const bool joined = command.store_mode == cache::StoreMode::kAppend ||
                      command.store_mode == cache::StoreMode::kPrepend;
  return joined ? reply.value.size() : command.value.size();
}

char* AppendFlag(char letter, uint64_t number, char* out) {
  *out++ = ' ';
  *out++ = letter;
  return AppendNumber(number, out);
}

char* AppendTtl(int32_t ttl_s, char* out) {
  if (ttl_s < 0) return Append(" t-1", out);
  return AppendFlag('t', static_cast<uint64_t>(ttl_s), out);
}

char* AppendReadFlag(char letter, const cache::Reply& reply, char* out) {
  switch (letter) {
    case 'c': return AppendFlag('c', reply.cas, out);
    case 'f': return AppendFlag('f', reply.client_flags, out);
    case 'h': return AppendFlag('h', reply.hit_before ? 1 : 0, out);
    case 'l': return AppendFlag('l', reply.last_access_s, out);
    case 's': return AppendFlag('s', reply.value.size(), out);
    default: return out;
  }
}

// What one flag adds to the reply besides the opaque and the key.
char* AppendReturnFlag(const Request& request, char letter, const cache::Reply& reply, char* out) {
  const bool success = IsSuccess(reply.outcome);
  switch (request.kind) {
    case RequestKind::kMetaRead: return success ? AppendReadFlag(letter, reply, out) : out;
    case RequestKind::kMetaStore:
      if (letter == 'c') return AppendFlag('c', success ? reply.cas : 0, out);
      if (letter != 's' || !success) return out;
      return AppendFlag('s', StoredBytes(request.command, reply), out);
    case RequestKind::kMetaArithmetic:
      if (letter == 'c' && success) return AppendFlag('c', reply.cas, out);
      return out;
    default: return out;
  }
}

bool ShowsTtl(RequestKind kind) {
  return kind == RequestKind::kMetaRead || kind == RequestKind::kMetaArithmetic;
}

// The time to live of the object as the flags go by, left to right: T and N change it in their
// turn.
class TtlShown {
 public:
  TtlShown(const Request& request, const cache::Reply& reply)
      : reply_(reply), created_(reply.outcome == Outcome::kStored) {
    changes_ = (request.command.update_expiry ? 1 : 0) + (created_ ? 1 : 0);
  }
  void Pass(char letter) {
    if (letter == 'T' || (letter == 'N' && created_)) passed_++;
  }
  int32_t seconds() const {
    if (passed_ == changes_) return reply_.ttl_s;
    // An object that is being made never expires at first.
    return created_ && passed_ == 0 ? -1 : reply_.ttl_before_s;
  }

 private:
  const cache::Reply& reply_;
  const bool created_;
  int changes_ = 0;
  int passed_ = 0;
};

char* AppendReturnFlags(const Request& request, std::string_view key, const cache::Reply& reply,
                        char* out) {
  // A read that hits tells how the object was stored; any other reply echoes the request.
  const bool hit = request.kind == RequestKind::kMetaRead && IsSuccess(reply.outcome);
  const bool binary = hit ? reply.binary_key : request.command.binary_key;
  // The time to live is told as it stands when its turn in the flags comes.
  TtlShown ttl(request, reply);
  std::string_view tokens = request.meta_tokens;
  std::string_view token;
  while (NextKey(&tokens, &token)) {
    ttl.Pass(token[0]);
    if (token[0] == 't' && ShowsTtl(request.kind) && IsSuccess(reply.outcome)) {
      out = AppendTtl(ttl.seconds(), out);
    } else if (token[0] == 'O') {
      *out++ = ' ';
      out = Append(token, out);
    } else if (token[0] == 'k') {
      out = AppendKey(key, binary, Append(" k", out));
      if (binary) out = Append(" b", out);
    } else {
      out = AppendReturnFlag(request, token[0], reply, out);
    }
  }
  if (hit && reply.win_taken) out = Append(" Z", out);
  if (hit && reply.stale) out = Append(" X", out);
  // To have created the object on a miss is to have won it.
  if (hit && (reply.won || reply.outcome == Outcome::kStored)) out = Append(" W", out);
  return Append("\r\n", out);
}

std::string_view MetaCode(RequestKind kind, Outcome outcome) {
  switch (outcome) {
    case Outcome::kMiss: return kind == RequestKind::kMetaRead ? "EN" : "NF";
    case Outcome::kNotStored: return "NS";
    case Outcome::kExists: return "EX";
    default: return "HD";
  }
}

char* WriteMeta(const Request& request, std::string_view key, const cache::Reply& reply, char* out,
                bool* value_follows) {
  const std::string_view failure = FailureText(request.command.verb, reply.outcome);
  if (!failure.empty()) return Append(failure, out);
  if (IsHidden(request, reply.outcome)) return out;
  const bool known = request.unless_cas && reply.cas == request.command.cas_expected;
  if (!request.return_value || known || !IsSuccess(reply.outcome)) {
    out = Append(MetaCode(request.kind, reply.outcome), out);
    return AppendReturnFlags(request, key, reply, out);
  }
  if (request.kind == RequestKind::kMetaArithmetic) {
    char digits[20];
    const size_t digits_count = static_cast<size_t>(AppendNumber(reply.number, digits) - digits);
    out = AppendNumber(digits_count, Append("VA ", out));
    out = AppendReturnFlags(request, key, reply, out);
    return Append("\r\n", Append({digits, digits_count}, out));
  }
  if (request.kind != RequestKind::kMetaRead) {
    return AppendReturnFlags(request, key, reply, Append("HD", out));
  }
  *value_follows = true;
  out = AppendNumber(reply.value.size(), Append("VA ", out));
  return AppendReturnFlags(request, key, reply, out);
}

char* WriteDebug(std::string_view key, const cache::Reply& reply, char* out) {
  const std::string_view failure = FailureText(cache::Verb::kRead, reply.outcome);
  if (!failure.empty()) return Append(failure, out);
  if (!IsSuccess(reply.outcome)) return Append("EN\r\n", out);
  out = AppendKey(key, reply.binary_key, Append("ME ", out));
  // memcached 1.6.18 shows the time left with a minus sign.
  out = AppendNumber(reply.ttl_s < 0 ? -1 : -int64_t{reply.ttl_s}, Append(" exp=", out));
  out = AppendNumber(reply.last_access_s, Append(" la=", out));
  out = AppendNumber(reply.cas, Append(" cas=", out));
  out = Append(reply.hit_before ? " fetch=yes" : " fetch=no", out);
  // One class holds everything.
  out = AppendNumber(reply.object_bytes, Append(" cls=1 size=", out));
  return Append("\r\n", out);
}

}  // namespace

size_t ReplyBytesMax(const Request& request, size_t key_bytes) {
  if (request.kind == RequestKind::kText) return request.text.size();
  if (request.kind == RequestKind::kMetaDebug) return kFixedBytesMax + base::Base64Bytes(key_bytes);
  if (request.meta_tokens.empty()) return kFixedBytesMax + key_bytes;
  // An opaque comes back as long as it was sent; any other flag is at least a byte and a space.
  const size_t flags_count = request.meta_tokens.size() / 2 + 1;
  return kFixedBytesMax + base::Base64Bytes(key_bytes) + request.meta_tokens.size() +
         (flags_count < 18 ? flags_count : 18) * kReturnFlagBytesMax;
}

char* WriteHead(const Request& request, std::string_view key, const cache::Reply& reply, char* out,
                bool* value_follows) {
  WEFT_DCHECK(request.kind <= RequestKind::kMetaDebug);
  *value_follows = false;
  switch (request.kind) {
    case RequestKind::kRead:
      if (reply.outcome != Outcome::kHit) return out;
      *value_follows = true;
      return WriteValueLine(request, key, reply, out);
    case RequestKind::kMetaDebug: return WriteDebug(key, reply, out);
    case RequestKind::kMetaRead:
    case RequestKind::kMetaStore:
    case RequestKind::kMetaDelete:
    case RequestKind::kMetaArithmetic: return WriteMeta(request, key, reply, out, value_follows);
    default: return WriteClassic(request, reply, out);
  }
}

char* WriteValueEnd(char* out) { return Append("\r\n", out); }

char* WriteEnd(const Request& request, ReadFailure failure, char* out) {
  if (request.kind != RequestKind::kRead) return out;
  switch (failure) {
    case ReadFailure::kTooLarge: return Append(kTooLargeText, out);
    case ReadFailure::kNoMemory: return Append(kReadNoMemoryText, out);
    case ReadFailure::kIoError: return Append(kIoErrorText, out);
    case ReadFailure::kNone: break;
  }
  return Append(kEndText, out);
}

char* WriteReply(const Request& request, std::string_view key, const cache::Reply& reply,
                 char* out) {
  bool value_follows = false;
  out = WriteHead(request, key, reply, out, &value_follows);
  return value_follows ? WriteValueEnd(Append(reply.value, out)) : out;
}

char* WriteText(const Request& request, std::string_view text, char* out) {
  return request.noreply ? out : Append(text, out);
}

}  // namespace weft::protocol
