// net/tls_session.h: one connection's TLS: sealed bytes in, plain bytes out, and the reverse.
//
// It touches no socket. The loop feeds what it has received and takes plain bytes until there are
// no more; what the peer must get, handshake and alerts too, is written behind `wire`. So both
// kinds of loop share it, and a turn's replies become whole records.
//
//   received -> Feed -> Read -> plain      plain -> Write -> wire() -> sent
//
// Threads: the loop's, whose arena and pool it writes to.
// Errors: kFailed is final; failure() says why. The peer's alert lies in wire() by then.
// Cost: between two requests OpenSSL keeps no buffers (SSL_MODE_RELEASE_BUFFERS).
// Source: RFC 8446; OpenSSL 3's manual of BIO_meth_new and SSL_read_ex.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/buffer_pool.h"
#include "net/output_queue.h"

namespace weft::net {

struct SslFree {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
using SslPtr = std::unique_ptr<SSL, SslFree>;

class TlsSession {
 public:
  // Plain bytes of a record at most.
  static constexpr size_t kRecordBytes = 16384;
  // Of a client's first message, at most. OpenSSL makes room for what it says of its length.
  static constexpr size_t kHelloBytesMax = 16384;
  // Sealed bytes that a client may send before it is answered: that message in records.
  static constexpr size_t kUnansweredBytesMax = size_t{64} << 10;
  // Times that a peer may change its keys between two pieces of data: each costs as much as several
  // requests.
  static constexpr uint32_t kKeyUpdatesMax = 32;

  enum class Outcome : uint8_t {
    kMoved,   // some bytes
    kWants,   // more sealed bytes must come first
    kEnd,     // the peer has said that it sends no more
    kFailed,  // it is over
  };

  // Null if there is no memory. `arena` and `pool` are the loop's, and outlive it.
  static std::unique_ptr<TlsSession> Create(SslPtr ssl, OutputArena* arena, BufferPool* pool);
  // The wire is empty by then: Clear it.
  ~TlsSession() = default;
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  // The next received bytes. They must stay until Read says something else than kMoved, or
  // MayHaveMore says no: all are used up by then.
  void Feed(std::string_view sealed);
  size_t fed() const { return sealed_.size(); }
  // Up to `bytes` plain bytes, at most a record's. Goes on with the handshake where that is due.
  Outcome Read(char* space, size_t bytes, size_t* moved);
  // False: the next Read would say kWants.
  bool MayHaveMore() const { return !sealed_.empty() || SSL_has_pending(ssl_.get()) != 0; }
  // Seals up to a record's bytes. REQUIRES: is_open(), and `plain` is not empty
  Outcome Write(std::string_view plain, size_t* moved);
  // Tells the peer that no more is sent. Once, at the end of a session that has not failed.
  void SayGoodbye();

  // Whether the handshake is over.
  bool is_open() const { return open_; }
  // Whether the client's first message was answered: that is most of a handshake's cost.
  bool has_answered() const { return has_answered_; }
  // What the peer must get.
  OutputQueue& wire() { return wire_; }
  std::string_view failure() const { return failure_; }
  // Received bytes that wait for their turn, while too many others shake hands.
  std::string& waiting() { return waiting_; }

 private:
  TlsSession(OutputArena* arena, BufferPool* pool) : arena_(arena), pool_(pool) {}
  static const BIO_METHOD* Road();
  static int RoadRead(BIO* bio, char* space, size_t bytes, size_t* moved);
  static int RoadWrite(BIO* bio, const char* bytes, size_t count, size_t* moved);
  static void OnMessage(int is_written, int version, int type, const void* bytes, size_t count,
                        SSL* ssl, void* session);
  static long RoadControl(BIO* bio, int command, long, void*);
  Outcome OutcomeOf(int result);
  void Fail();
  bool IsHelloTooLong(std::string_view sealed);

  OutputArena* const arena_;
  BufferPool* const pool_;
  SslPtr ssl_;
  std::string_view sealed_;
  OutputQueue wire_;
  std::string failure_;
  std::string waiting_;
  uint32_t key_updates_ = 0;  // since data came
  uint32_t record_left_ = 0;  // of a record before has_answered: bytes that are still to come
  uint8_t record_head_bytes_ = 0;
  uint8_t hello_head_bytes_ = 0;
  unsigned char record_head_[5] = {};
  unsigned char hello_head_[4] = {};
  bool has_answered_ = false;
  bool open_ = false;
  bool failed_ = false;
  bool no_memory_ = false;
};

// Of options that name a version by a number from 0 to 3.
inline constexpr int kTlsVersions[] = {TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION,
                                       TLS1_3_VERSION};

// OpenSSL's first reason for the last failure of this thread. Its queue of reasons is empty then.
std::string TakeTlsReason();

}  // namespace weft::net
