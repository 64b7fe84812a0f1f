// protocol/binary.h: memcached's binary protocol: its packets to requests, and answers to packets.
//
// A packet is a header of 24 bytes, then extras, key and value. The same Request comes of it as of
// a line of text, with the words that its reply repeats (BinaryWords). Whether a connection speaks
// this or text, its first byte tells, or its listener (protocol/dialect.h).
//
//   0 magic   1 opcode   2 key bytes   4 extras bytes   5 data type   6 reserved, or the status
//   8 body bytes: extras, key, value   12 opaque, which is sent back   16 version (cas)
//
// Numbers are big-endian. Keys are any bytes. A quiet opcode says nothing where all went well, and
// where a get found nothing; errors are always sent.
//
// Lifetime  views of a Request point into the packet.
// Threads   pure.
// Errors    none are returned: a bad packet is a Request of kind kText that holds its answer, and
//           perhaps ends the connection, because the next packet cannot be found.
// Cost      one look at the header; of a value nothing is touched.
// Source    memcached 1.6.18 as observed (tests/integration/binary_test.py compares every reply);
//           its document "BinaryProtocolRevamped" for opcodes and names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/parse.h"

namespace weft::protocol {

inline constexpr size_t kBinaryHeaderBytes = 24;
inline constexpr unsigned char kBinaryRequestMagic = 0x80;
inline constexpr unsigned char kBinaryReplyMagic = 0x81;

enum class Opcode : uint8_t {
  kGet = 0x00,
  kSet = 0x01,
  kAdd = 0x02,
  kReplace = 0x03,
  kDelete = 0x04,
  kIncrement = 0x05,
  kDecrement = 0x06,
  kQuit = 0x07,
  kFlush = 0x08,
  kGetQ = 0x09,
  kNoop = 0x0a,
  kVersion = 0x0b,
  kGetK = 0x0c,
  kGetKQ = 0x0d,
  kAppend = 0x0e,
  kPrepend = 0x0f,
  kStat = 0x10,
  kSetQ = 0x11,
  kAddQ = 0x12,
  kReplaceQ = 0x13,
  kDeleteQ = 0x14,
  kIncrementQ = 0x15,
  kDecrementQ = 0x16,
  kQuitQ = 0x17,
  kFlushQ = 0x18,
  kAppendQ = 0x19,
  kPrependQ = 0x1a,
  kTouch = 0x1c,
  kGat = 0x1d,
  kGatQ = 0x1e,
  kSaslList = 0x20,
  kSaslAuth = 0x21,
  kSaslStep = 0x22,
  kGatK = 0x23,
  kGatKQ = 0x24,
};

enum class BinaryStatus : uint16_t {
  kOk = 0x00,
  kNotFound = 0x01,
  kExists = 0x02,
  kTooLarge = 0x03,
  kInvalid = 0x04,
  kNotStored = 0x05,
  kNotNumeric = 0x06,
  kAuthFailure = 0x20,
  kAuthContinue = 0x21,
  kUnknownCommand = 0x81,
  kNoMemory = 0x82,
  kInternal = 0x84,  // none of memcached's: the durable store could not be read or written
};

// Opcodes of reads that leave no mark but recency. Where ParseContext::gets_alone allows it, they
// travel as their keys alone.
inline constexpr Opcode kBinaryReads[] = {Opcode::kGet, Opcode::kGetQ, Opcode::kGetK,
                                          Opcode::kGetKQ};
// What all gets of one opcode have in common: all but opaque and key.
Request BinaryRead(Opcode opcode);
// A whole packet of such a get, of one key, at the front of `input`. `read`: which of kBinaryReads.
// False: something else is there, or not all of it.
struct BinaryGet {
  size_t read;
  uint32_t opaque;
  size_t key_bytes;
};
bool TakeBinaryGet(std::string_view input, BinaryGet* get);
// The replies to a read that found its key, and to one that did not. They write
// kBinaryReadBytesMax + key + value bytes at most, and return the new end. A quiet read that finds
// nothing has no reply.
inline constexpr size_t kBinaryReadBytesMax = kBinaryHeaderBytes + 16;
char* WriteBinaryHit(const BinaryWords& words, std::string_view key, uint64_t cas,
                     uint32_t client_flags, std::string_view value, char* out);
char* WriteBinaryMiss(const BinaryWords& words, std::string_view key, char* out);

// Takes a packet off the front of `input`. kClose: it is none.
// REQUIRES: `request` is as constructed. With kNeedMore and kClose it is unspecified.
ParseResult ParseBinary(std::string_view input, const ParseContext& context, Request* request);

// REQUIRES: request.binary
size_t BinaryReplyBytesMax(const Request& request, size_t key_bytes);

// The whole reply, with the value that it shows; nothing where a quiet opcode says nothing. Returns
// the new end. REQUIRES: request.binary, about a key
char* WriteBinaryReply(const Request& request, std::string_view key, const cache::Reply& reply,
                       char* out);

// The packets that say what `text` says to a client that speaks text: the reply to a request about
// the server. REQUIRES: request.binary
std::string BinaryFromText(const Request& request, std::string_view text);

}  // namespace weft::protocol
