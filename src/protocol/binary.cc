#include "protocol/binary.h"

#include <algorithm>
#include <concepts>
#include <cstring>

#include "protocol/gate.h"
#include "protocol/parse_internal.h"

namespace weft::protocol {
namespace {

using internal::Done;

constexpr uint32_t kBodyBytesMax = 1u << 30;
constexpr std::string_view kMechanism = "PLAIN";
constexpr size_t kMechanismBytesMax = 32;
constexpr uint32_t kExptimeMax = 0x7FFFFFFF;
constexpr uint32_t kNeverCreates = 0xFFFFFFFF;  // as the time to live of an increment

template <std::unsigned_integral Number>
Number Load(const char* at) {
  Number number;
  std::memcpy(&number, at, sizeof number);
  if constexpr (sizeof number == 2) return __builtin_bswap16(number);
  if constexpr (sizeof number == 4) return __builtin_bswap32(number);
  if constexpr (sizeof number == 8) return __builtin_bswap64(number);
}

struct Packet {
  explicit Packet(std::string_view input)
      : opcode(static_cast<Opcode>(input[1])),
        key_bytes(Load<uint16_t>(input.data() + 2)),
        extras_bytes(static_cast<unsigned char>(input[4])),
        body_bytes(Load<uint32_t>(input.data() + 8)),
        cas(Load<uint64_t>(input.data() + 16)) {
    std::memcpy(&opaque, input.data() + 12, sizeof opaque);
  }
  size_t front_bytes() const { return kBinaryHeaderBytes + extras_bytes + key_bytes; }
  size_t whole_bytes() const { return kBinaryHeaderBytes + body_bytes; }
  uint32_t value_bytes() const { return body_bytes - extras_bytes - key_bytes; }
  bool is_empty() const { return body_bytes == 0; }

  Opcode opcode;
  uint16_t key_bytes;
  uint8_t extras_bytes;
  uint32_t body_bytes;
  uint32_t opaque;  // as sent
  uint64_t cas;
};

// The opcode that is answered, of one that may say less.
struct Loud {
  Opcode opcode;
  bool quiet;
};

Loud LoudOf(Opcode opcode) {
  switch (opcode) {
    case Opcode::kGetQ: return {Opcode::kGet, true};
    case Opcode::kGetKQ: return {Opcode::kGetK, true};
    case Opcode::kGatQ: return {Opcode::kGat, true};
    case Opcode::kGatKQ: return {Opcode::kGatK, true};
    case Opcode::kSetQ: return {Opcode::kSet, true};
    case Opcode::kAddQ: return {Opcode::kAdd, true};
    case Opcode::kReplaceQ: return {Opcode::kReplace, true};
    case Opcode::kAppendQ: return {Opcode::kAppend, true};
    case Opcode::kPrependQ: return {Opcode::kPrepend, true};
    case Opcode::kDeleteQ: return {Opcode::kDelete, true};
    case Opcode::kIncrementQ: return {Opcode::kIncrement, true};
    case Opcode::kDecrementQ: return {Opcode::kDecrement, true};
    case Opcode::kQuitQ: return {Opcode::kQuit, true};
    case Opcode::kFlushQ: return {Opcode::kFlush, true};
    default: return {opcode, false};
  }
}

ParseResult Need(size_t bytes) { return {ParseStatus::kNeedMore, 0, bytes, 0}; }

// Its body is skipped, whatever it says.
ParseResult Refuse(const Packet& packet, BinaryStatus status, Request* request) {
  request->kind = RequestKind::kText;
  request->binary_words.status = static_cast<uint16_t>(status);
  request->swallow_bytes = packet.body_bytes;
  return Done(kBinaryHeaderBytes);
}

// Where the next packet begins is not known: the connection ends.
ParseResult RefuseAndClose(BinaryStatus status, Request* request) {
  request->kind = RequestKind::kText;
  request->binary_words.status = static_cast<uint16_t>(status);
  request->close = true;
  return Done(kBinaryHeaderBytes);
}

// What the lengths of a packet must be for its opcode.
bool Fits(const Packet& packet, Opcode opcode) {
  const bool bare = packet.key_bytes != 0 && packet.value_bytes() == 0;
  switch (opcode) {
    case Opcode::kGet:
    case Opcode::kGetK:
    case Opcode::kDelete: return bare && packet.extras_bytes == 0;
    case Opcode::kGat:
    case Opcode::kGatK:
    case Opcode::kTouch: return bare && packet.extras_bytes == 4;
    case Opcode::kSet:
    case Opcode::kAdd:
    case Opcode::kReplace: return packet.key_bytes != 0 && packet.extras_bytes == 8;
    case Opcode::kAppend:
    case Opcode::kPrepend: return packet.key_bytes != 0 && packet.extras_bytes == 0;
    case Opcode::kIncrement:
    case Opcode::kDecrement: return bare && packet.extras_bytes == 20;
    case Opcode::kFlush:
      return packet.key_bytes == 0 && packet.value_bytes() == 0 &&
             (packet.extras_bytes == 0 || packet.extras_bytes == 4);
    case Opcode::kStat: return packet.extras_bytes == 0;
    case Opcode::kSaslAuth:
    case Opcode::kSaslStep: return packet.extras_bytes == 0 && packet.key_bytes != 0;
    default: return packet.is_empty();
  }
}

bool IsSasl(Opcode opcode) {
  return opcode == Opcode::kSaslList || opcode == Opcode::kSaslAuth || opcode == Opcode::kSaslStep;
}

// Served before a client has entered.
bool IsForAnybody(Opcode opcode) { return IsSasl(opcode) || opcode == Opcode::kVersion; }

// Of loud opcodes.
bool IsKnown(Opcode opcode) {
  const auto number = static_cast<uint8_t>(opcode);
  return number <= static_cast<uint8_t>(Opcode::kStat) || opcode == Opcode::kTouch ||
         opcode == Opcode::kGat || opcode == Opcode::kGatK || IsSasl(opcode);
}

bool IsStore(Opcode opcode) {
  return opcode == Opcode::kSet || opcode == Opcode::kAdd || opcode == Opcode::kReplace ||
         opcode == Opcode::kAppend || opcode == Opcode::kPrepend;
}

cache::StoreMode ModeOf(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAdd: return cache::StoreMode::kAdd;
    case Opcode::kReplace: return cache::StoreMode::kReplace;
    case Opcode::kAppend: return cache::StoreMode::kAppend;
    case Opcode::kPrepend: return cache::StoreMode::kPrepend;
    default: return cache::StoreMode::kSet;
  }
}

// Here times have no sign: what begins with a one bit is a Unix time beyond 2038. Such an object
// lives as long as one may (ttl_s of cache::Reply counts to so many seconds).
cache::Expiry ExpiryAt(const char* extras, const ParseContext& context) {
  const auto exptime = Load<uint32_t>(extras);
  if (exptime <= kExptimeMax) return ExpiryFrom(static_cast<int32_t>(exptime), context);
  return std::min(exptime, context.now_s + kExptimeMax);
}

// REQUIRES: the packet up to its key is there
ParseResult ParseStore(std::string_view input, const Packet& packet, Opcode opcode,
                       const ParseContext& context, Request* request) {
  cache::Command& command = request->command;
  const char* const extras = input.data() + kBinaryHeaderBytes;
  command.verb = cache::Verb::kStore;
  command.store_mode = ModeOf(opcode);
  if (packet.extras_bytes != 0) {
    command.client_flags = Load<uint32_t>(extras);
    command.expiry = ExpiryAt(extras + 4, context);
  }
  const bool is_set = opcode == Opcode::kSet;
  if (internal::ItemBytes(command, packet.value_bytes()) > context.item_bytes_max) {
    request->refused = Refused::kTooLarge;
    request->drop_key = is_set;
    request->swallow_bytes = packet.value_bytes();
    cache::Command drop = cache::Removal(command.key, 0);
    drop.store_mode = command.store_mode;
    drop.expiry = command.expiry;
    command = drop;
    request->refused_cas = packet.cas != 0;
    request->kind = RequestKind::kText;
    request->binary_words.status = static_cast<uint16_t>(BinaryStatus::kTooLarge);
    return Done(packet.front_bytes());
  }
  if (input.size() < packet.whole_bytes()) return Need(packet.whole_bytes());
  command.value = input.substr(packet.front_bytes(), packet.value_bytes());
  command.clears_when_full = is_set;
  // Whatever stores by a version is a cas, as in memcached; what lengthens an item stays so.
  if (packet.cas != 0 && !cache::IsConcatenation(command))
    command.store_mode = cache::StoreMode::kSet;
  return Done(packet.whole_bytes());
}

void ParseArithmetic(const char* extras, Opcode opcode, const ParseContext& context,
                     cache::Command* command) {
  command->verb = cache::Verb::kArithmetic;
  command->decrement = opcode == Opcode::kDecrement;
  command->delta = Load<uint64_t>(extras);
  command->initial = Load<uint64_t>(extras + 8);
  command->vivify = Load<uint32_t>(extras + 16) != kNeverCreates;
  command->vivify_expiry = ExpiryAt(extras + 16, context);
}

// REQUIRES: the packet up to its key is there, and its lengths fit
ParseResult ParseAboutKey(std::string_view input, const Packet& packet, Opcode opcode,
                          const ParseContext& context, Request* request) {
  const char* const extras = input.data() + kBinaryHeaderBytes;
  cache::Command& command = request->command;
  request->kind = RequestKind::kBinary;
  command.key = input.substr(kBinaryHeaderBytes + packet.extras_bytes, packet.key_bytes);
  command.want_cas = true;
  command.compare_cas = packet.cas != 0;
  command.cas_expected = packet.cas;
  if (IsStore(opcode)) return ParseStore(input, packet, opcode, context, request);
  switch (opcode) {
    case Opcode::kDelete:
      command.verb = cache::Verb::kDelete;
      command.want_cas = false;
      break;
    case Opcode::kIncrement:
    case Opcode::kDecrement: ParseArithmetic(extras, opcode, context, &command); break;
    default:
      command.verb = opcode == Opcode::kTouch ? cache::Verb::kTouch : cache::Verb::kRead;
      request->return_value = opcode != Opcode::kTouch;
      command.compare_cas = false;
      command.update_expiry = packet.extras_bytes != 0;
      if (command.update_expiry) command.expiry = ExpiryAt(extras, context);
      break;
  }
  return Done(packet.whole_bytes());
}

ParseResult ParseFlush(std::string_view input, const Packet& packet, const ParseContext& context,
                       Request* request) {
  request->kind = RequestKind::kFlushAll;
  if (packet.extras_bytes == 0) return Done(packet.whole_bytes());
  const cache::Expiry at = ExpiryAt(input.data() + kBinaryHeaderBytes, context);
  request->flush_at_s = at == cache::kExpiredAtOnce ? 0 : at;
  return Done(packet.whole_bytes());
}

ParseResult ParseSasl(std::string_view input, const Packet& packet, Opcode opcode,
                      const ParseContext& context, Request* request) {
  if (context.sasl == Sasl::kOff) return Refuse(packet, BinaryStatus::kUnknownCommand, request);
  if (opcode == Opcode::kSaslList) {
    request->text = kMechanism;
    return Done(packet.whole_bytes());
  }
  if (packet.value_bytes() > kTokenBytesMax) return RefuseAndClose(BinaryStatus::kInvalid, request);
  if (packet.key_bytes > kMechanismBytesMax) return Refuse(packet, BinaryStatus::kInvalid, request);
  if (input.size() < packet.whole_bytes()) return Need(packet.whole_bytes());
  // PLAIN has no second step.
  const bool is_plain = input.substr(kBinaryHeaderBytes, packet.key_bytes) == kMechanism;
  if (opcode == Opcode::kSaslStep || !is_plain) {
    request->refused = Refused::kMechanism;
    return Refuse(packet, BinaryStatus::kAuthFailure, request);
  }
  request->kind = RequestKind::kLogin;
  request->command.value = input.substr(packet.front_bytes(), packet.value_bytes());
  return Done(packet.whole_bytes());
}

}  // namespace

Request BinaryRead(Opcode opcode) {
  Request request;
  request.kind = RequestKind::kBinary;
  request.binary = true;
  request.quiet = LoudOf(opcode).quiet;
  request.return_value = true;
  request.binary_words.opcode = static_cast<uint8_t>(opcode);
  request.command.verb = cache::Verb::kRead;
  request.command.want_cas = true;
  request.command.want_value = true;
  return request;
}

bool TakeBinaryGet(std::string_view input, BinaryGet* get) {
  if (input.size() < kBinaryHeaderBytes) return false;
  const Packet packet(input);
  const auto* const read =
      std::find(std::begin(kBinaryReads), std::end(kBinaryReads), packet.opcode);
  if (static_cast<unsigned char>(input[0]) != kBinaryRequestMagic ||
      read == std::end(kBinaryReads) || packet.extras_bytes != 0 || packet.key_bytes == 0 ||
      packet.key_bytes > kKeyBytesMax || packet.key_bytes != packet.body_bytes ||
      input.size() < packet.whole_bytes())
    return false;
  *get = {static_cast<size_t>(read - kBinaryReads), packet.opaque, packet.key_bytes};
  return true;
}

ParseResult ParseBinary(std::string_view input, const ParseContext& context, Request* request) {
  if (!input.empty() && static_cast<unsigned char>(input[0]) != kBinaryRequestMagic)
    return {ParseStatus::kClose, 0, 0, 0};
  if (input.size() < kBinaryHeaderBytes) return Need(kBinaryHeaderBytes);
  const Packet packet(input);
  const Loud loud = LoudOf(packet.opcode);
  request->binary = true;
  request->quiet = loud.quiet;
  request->binary_words = {packet.opaque, static_cast<uint8_t>(packet.opcode), 0};
  if (packet.body_bytes > kBodyBytesMax) return RefuseAndClose(BinaryStatus::kInvalid, request);
  if (packet.key_bytes + packet.extras_bytes > packet.body_bytes)
    return RefuseAndClose(BinaryStatus::kUnknownCommand, request);
  if (packet.key_bytes > kKeyBytesMax) return RefuseAndClose(BinaryStatus::kInvalid, request);
  if (context.sasl == Sasl::kBefore && !IsForAnybody(loud.opcode))
    return RefuseAndClose(BinaryStatus::kAuthFailure, request);
  if (!IsKnown(loud.opcode)) return Refuse(packet, BinaryStatus::kUnknownCommand, request);
  if (!Fits(packet, loud.opcode)) return RefuseAndClose(BinaryStatus::kInvalid, request);
  if (IsSasl(loud.opcode)) return ParseSasl(input, packet, loud.opcode, context, request);
  if (input.size() < packet.front_bytes()) return Need(packet.front_bytes());
  switch (loud.opcode) {
    case Opcode::kQuit:
      request->kind = RequestKind::kQuit;
      request->close = true;
      break;
    case Opcode::kNoop: break;  // a text without words
    case Opcode::kVersion: request->kind = RequestKind::kVersion; break;
    case Opcode::kFlush: return ParseFlush(input, packet, context, request);
    case Opcode::kStat:
      request->kind = RequestKind::kStats;
      request->arguments = input.substr(kBinaryHeaderBytes, packet.key_bytes);
      request->swallow_bytes = packet.value_bytes();
      return Done(packet.front_bytes());
    default: return ParseAboutKey(input, packet, loud.opcode, context, request);
  }
  return Done(packet.whole_bytes());
}

}  // namespace weft::protocol
