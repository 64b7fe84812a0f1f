// Answers in the binary protocol. See binary.h.
#include <concepts>
#include <cstring>

#include "protocol/binary.h"
#include "protocol/gate.h"
#include "protocol/reply.h"

namespace weft::protocol {
namespace {

// Extras, words of an error, or a number; whatever is not key or value.
constexpr size_t kFixedBytesMax = 96;

template <std::unsigned_integral Number>
char* Store(Number number, char* out) {
  if constexpr (sizeof number == 2) number = __builtin_bswap16(number);
  if constexpr (sizeof number == 4) number = __builtin_bswap32(number);
  if constexpr (sizeof number == 8) number = __builtin_bswap64(number);
  std::memcpy(out, &number, sizeof number);
  return out + sizeof number;
}

char* Append(std::string_view bytes, char* out) {
  if (bytes.empty()) return out;  // an empty view may have no address to copy from
  std::memcpy(out, bytes.data(), bytes.size());
  return out + bytes.size();
}

struct Sizes {
  uint8_t extras = 0;
  size_t key = 0;
  size_t value = 0;
};

char* WriteHeader(const BinaryWords& words, BinaryStatus status, const Sizes& sizes, uint64_t cas,
                  char* out) {
  *out++ = static_cast<char>(kBinaryReplyMagic);
  *out++ = static_cast<char>(words.opcode);
  out = Store(static_cast<uint16_t>(sizes.key), out);
  *out++ = static_cast<char>(sizes.extras);
  *out++ = 0;  // the data type
  out = Store(static_cast<uint16_t>(status), out);
  out = Store(static_cast<uint32_t>(sizes.extras + sizes.key + sizes.value), out);
  std::memcpy(out, &words.opaque, sizeof words.opaque);
  return Store(cas, out + sizeof words.opaque);
}

std::string_view TextOf(BinaryStatus status) {
  switch (status) {
    case BinaryStatus::kOk: return "";
    case BinaryStatus::kNotFound: return "Not found";
    case BinaryStatus::kExists: return "Data exists for key.";
    case BinaryStatus::kTooLarge: return "Too large.";
    case BinaryStatus::kInvalid: return "Invalid arguments";
    case BinaryStatus::kNotStored: return "Not stored.";
    case BinaryStatus::kNotNumeric: return "Non-numeric server-side value for incr or decr";
    case BinaryStatus::kAuthFailure: return "Auth failure.";
    case BinaryStatus::kAuthContinue: return "";
    case BinaryStatus::kUnknownCommand: return "Unknown command";
    case BinaryStatus::kNoMemory: return "Out of memory";
    case BinaryStatus::kInternal: return "i/o error in the durable store";
  }
  return "";
}

char* WriteStatus(const BinaryWords& words, BinaryStatus status, char* out) {
  const std::string_view text = TextOf(status);
  return Append(text, WriteHeader(words, status, {.value = text.size()}, 0, out));
}

bool ShowsKey(uint8_t opcode) {
  switch (static_cast<Opcode>(opcode)) {
    case Opcode::kGetK:
    case Opcode::kGetKQ:
    case Opcode::kGatK:
    case Opcode::kGatKQ: return true;
    default: return false;
  }
}

// memcached tells of a store that found no room by what its opcode compares with what is there.
BinaryStatus NotStored(const cache::Command& command) {
  switch (command.store_mode) {
    case cache::StoreMode::kAdd: return BinaryStatus::kExists;
    case cache::StoreMode::kReplace: return BinaryStatus::kNotFound;
    default: return BinaryStatus::kNotStored;
  }
}

BinaryStatus StatusOf(const cache::Command& command, Outcome outcome) {
  const bool lengthens = command.verb == cache::Verb::kStore && IsConcatenation(command);
  switch (outcome) {
    case Outcome::kHit:
    case Outcome::kStored:
    case Outcome::kDeleted:
    case Outcome::kTouched:
    case Outcome::kNumber: return BinaryStatus::kOk;
    case Outcome::kMiss: return lengthens ? BinaryStatus::kNotStored : BinaryStatus::kNotFound;
    case Outcome::kNotStored: return NotStored(command);
    case Outcome::kExists: return BinaryStatus::kExists;
    case Outcome::kNotNumeric: return BinaryStatus::kNotNumeric;
    case Outcome::kTooLarge: return lengthens ? BinaryStatus::kNotStored : BinaryStatus::kTooLarge;
    case Outcome::kNoMemory: return lengthens ? BinaryStatus::kNotStored : BinaryStatus::kNoMemory;
    case Outcome::kBadKey: return BinaryStatus::kInvalid;
    case Outcome::kIoError: return BinaryStatus::kInternal;
  }
  return BinaryStatus::kInternal;
}

char* WriteFound(const Request& request, std::string_view key, const cache::Reply& reply,
                 char* out) {
  const std::string_view value = request.return_value ? reply.value : std::string_view();
  return WriteBinaryHit(request.binary_words, key, reply.cas, reply.client_flags, value, out);
}

// What `stats` lists, a packet a line. The last packet is empty.
std::string StatPackets(const BinaryWords& words, std::string_view text) {
  std::string packets;
  const auto add = [&](std::string_view name, std::string_view value) {
    char header[kBinaryHeaderBytes];
    WriteHeader(words, BinaryStatus::kOk, {0, name.size(), value.size()}, 0, header);
    packets.append(header, sizeof header).append(name).append(value);
  };
  if (text.starts_with("PREFIX ")) {
    add("detailed", text);
    text = {};
  }
  while (text.starts_with("STAT ")) {
    text.remove_prefix(5);
    const std::string_view line = text.substr(0, text.find("\r\n"));
    text.remove_prefix(std::min(text.size(), line.size() + 2));
    const size_t blank = std::min(line.find(' '), line.size());
    add(line.substr(0, blank), line.substr(std::min(blank + 1, line.size())));
  }
  add({}, {});
  return packets;
}

std::string StatusPacket(const BinaryWords& words, BinaryStatus status) {
  char packet[kBinaryHeaderBytes + kFixedBytesMax];
  return {packet, WriteStatus(words, status, packet)};
}

}  // namespace

char* WriteBinaryHit(const BinaryWords& words, std::string_view key, uint64_t cas,
                     uint32_t client_flags, std::string_view value, char* out) {
  if (!ShowsKey(words.opcode)) key = {};
  out = WriteHeader(words, BinaryStatus::kOk, {4, key.size(), value.size()}, cas, out);
  return Append(value, Append(key, Store(client_flags, out)));
}

char* WriteBinaryMiss(const BinaryWords& words, std::string_view key, char* out) {
  constexpr BinaryStatus status = BinaryStatus::kNotFound;
  if (!ShowsKey(words.opcode)) return WriteStatus(words, status, out);
  return Append(key, WriteHeader(words, status, {.key = key.size()}, 0, out));
}

size_t BinaryReplyBytesMax(const Request& request, size_t key_bytes) {
  return kBinaryHeaderBytes + kFixedBytesMax +
         (ShowsKey(request.binary_words.opcode) ? key_bytes : 0);
}

char* WriteBinaryReply(const Request& request, std::string_view key, const cache::Reply& reply,
                       char* out) {
  const BinaryWords& words = request.binary_words;
  const cache::Command& command = request.command;
  const bool reads = command.verb == cache::Verb::kRead;
  const BinaryStatus status = StatusOf(command, reply.outcome);
  if (status == BinaryStatus::kNotFound && reads)
    return request.quiet ? out : WriteBinaryMiss(words, key, out);
  if (status != BinaryStatus::kOk) return WriteStatus(words, status, out);
  if (reads || command.verb == cache::Verb::kTouch) return WriteFound(request, key, reply, out);
  if (request.quiet) return out;
  if (command.verb == cache::Verb::kArithmetic) {
    out = WriteHeader(words, status, {.value = sizeof reply.number}, reply.cas, out);
    return Store(reply.number, out);
  }
  return WriteHeader(words, status, {}, command.verb == cache::Verb::kDelete ? 0 : reply.cas, out);
}

std::string BinaryFromText(const Request& request, std::string_view text) {
  const BinaryWords& words = request.binary_words;
  const auto ok = [&](std::string_view value) {
    if (request.quiet) return std::string();
    char header[kBinaryHeaderBytes];
    WriteHeader(words, BinaryStatus::kOk, {.value = value.size()}, 0, header);
    return std::string(header, sizeof header).append(value);
  };
  switch (request.kind) {
    case RequestKind::kVersion: {
      constexpr std::string_view kBefore = "VERSION ";
      return ok(text.substr(kBefore.size(), text.size() - kBefore.size() - 2));
    }
    case RequestKind::kStats:
      if (text.starts_with("STAT ") || text.starts_with("PREFIX ") || text == "END\r\n" ||
          text == "RESET\r\n" || text == kOkText)
        return StatPackets(words, text);
      return StatusPacket(words, BinaryStatus::kNotFound);
    case RequestKind::kFlushAll:
      if (text == kOkText) return ok({});
      return StatusPacket(
          words, text == kIoErrorText ? BinaryStatus::kInternal : BinaryStatus::kAuthFailure);
    case RequestKind::kQuit: return ok({});
    case RequestKind::kLogin:
      return text == kEnteredText ? ok("Authenticated")
                                  : StatusPacket(words, BinaryStatus::kAuthFailure);
    default: {
      const auto status = static_cast<BinaryStatus>(words.status);
      return status == BinaryStatus::kOk ? ok(text) : StatusPacket(words, status);
    }
  }
}

}  // namespace weft::protocol
