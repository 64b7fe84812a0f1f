// protocol/request.h: one parsed request: what to do to which key, and what its reply must show.
//
// The seam between memcached's protocols and the store. Parse (protocol/parse.h) or ParseBinary
// (protocol/binary.h) fills a Request, the server carries out its Command, and protocol/reply.h or
// binary.h writes the answer. It only points at bytes.
//
// Lifetime  every view points into the parsed input or at a literal; the input must stay until the
//           reply is written. Only a base64 key lies elsewhere, in ParseContext::scratch, until the
//           next Parse: whoever needs it for longer copies it (protocol/batch_io.h does).
// Cost      a parse writes a Request once and allocates nothing.
// Source    memcached 1.6.18 as observed; the protocol documents of later releases for E, for N
//           and s on ms, and for x on md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cache/command.h"
#include "protocol/scan.h"

namespace weft::protocol {

enum class RequestKind : uint8_t {
  // About keys: carry out `command`.
  kRead,            // get gets gat gats: `command.key`, then every key of `keys`
  kStore,           // set add replace append prepend cas
  kDelete,          // delete
  kArithmetic,      // incr decr
  kTouch,           // touch
  kMetaRead,        // mg
  kMetaStore,       // ms
  kMetaDelete,      // md
  kMetaArithmetic,  // ma
  kMetaDebug,       // me
  kBinary,          // any of the binary protocol about one key: `command.verb` says which

  // About the server.
  kText,          // only what drop_key and swallow_bytes say; the reply is `text`
  kVerbosity,     // set it to `number`
  kFlushAll,      // drop all stored before `flush_at_s` (0: now); only counted if there is a `text`
  kMemoryLimit,   // cache_memlimit: take `number` MiB; at least eight
  kStats,         // `arguments`: what follows the word;
  kVersion,       // the reply needs the server's version
  kRefreshCerts,  // read the certificate again
  kQuit,          // `close` is set; no reply
  kShutdown,      // `graceful` or not; no reply
  // What is behind these waits until they are answered.
  kDump,   // lines of all keys, in the form that `number` names (DumpForm)
  kWatch,  // lines of events of the classes in `number` (kWatch...), for ever
  kLogin,  // whether `command.value` names somebody who may enter (protocol/gate.h)
};

enum class DumpForm : uint32_t {
  kMeta,  // lru_crawler metadump
  kMg,    // lru_crawler mgdump
  kNoMeta,
  kNoMg,  // the same of classes that nothing lies in: the end alone
};
inline bool IsMg(DumpForm form) { return form == DumpForm::kMg || form == DumpForm::kNoMg; }

// Classes of events that `watch` names. kWatchNothing: such as never happen here. kWatchUnknown: a
// word names none.
inline constexpr uint32_t kWatchNothing = 0;
inline constexpr uint32_t kWatchFetchers = 1u << 0;
inline constexpr uint32_t kWatchMutations = 1u << 1;
inline constexpr uint32_t kWatchEvictions = 1u << 2;
inline constexpr uint32_t kWatchDeletions = 1u << 3;
inline constexpr uint32_t kWatchConnections = 1u << 4;
inline constexpr uint32_t kWatchPipeline = 1u << 5;
inline constexpr uint32_t kWatchUnknown = 1u << 31;
// Those of which each query may be an event.
inline constexpr uint32_t kWatchQueries = kWatchFetchers | kWatchMutations | kWatchDeletions;

// What a request of kind kText counts as: a store whose value is dropped, or a log-in.
enum class Refused : uint8_t {
  kNone,
  kTooLarge,
  kBadChunk,   // its value does not end where the line said
  kMechanism,  // of SASL, that is not known; nobody's password was tried
};

// What a reply of the binary protocol repeats of its request (protocol/binary.h).
struct BinaryWords {
  uint32_t opaque = 0;  // its bytes as sent
  uint8_t opcode = 0;
  uint16_t status = 0;  // kText: the answer, a BinaryStatus
};

struct Request {
  RequestKind kind = RequestKind::kText;
  bool noreply = false;       // classic: nothing is written, whatever the outcome
  bool quiet = false;         // q, quiet opcodes: expected outcomes are not written
  bool binary = false;        // of the binary protocol: its reply is made of packets
  bool close = false;         // the connection ends after this request
  bool graceful = false;      // shutdown graceful
  bool return_value = false;  // v on mg and ma; binary: get and gat
  bool unless_cas = false;    // C on mg: no value if the version is command.cas_expected
  // A store was refused for its size: the key's old value must go, or it would outlive a newer
  // version. `command` is the delete to carry out; its own outcome is not shown.
  bool drop_key = false;
  Refused refused = Refused::kNone;
  bool refused_cas = false;  // kTooLarge: it compared versions; `command` has its mode and expiry

  BinaryWords binary_words;
  uint32_t number = 0;
  uint32_t flush_at_s = 0;     // on the store's clock
  uint64_t swallow_bytes = 0;  // to skip after the consumed bytes; may exceed what has arrived

  cache::Command command;        // the caller fills in command.hash
  std::string_view keys;         // kRead: the keys after the first, for NextKey
  std::string_view meta_tokens;  // meta: the flags as sent; the reply follows their order
  std::string_view arguments;    // kStats
  std::string_view text;         // the whole reply with its line end, if known
};

// Whether a line of text can hold it as it is. Keys of the binary protocol, and base64, are any
// bytes.
inline bool IsTextKey(std::string_view key) {
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte == 0x7F) return false;
  }
  return true;
}

// Takes the first key off `keys`; false if none is left. Keys from Parse have at most kKeyBytesMax
// bytes.
inline bool NextKey(std::string_view* keys, std::string_view* key) {
  const char* begin = keys->data();
  const char* const end = begin + keys->size();
  while (begin != end && *begin == ' ') ++begin;
  const char* const key_end = FindByte({begin, end}, begin, ' ');
  *key = {begin, static_cast<size_t>(key_end - begin)};
  *keys = {key_end, static_cast<size_t>(end - key_end)};
  return !key->empty();
}

}  // namespace weft::protocol
