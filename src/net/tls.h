// net/tls.h: what a server needs to speak TLS: its certificate, its key, and whom it lets in.
//
// A context of OpenSSL is made once and never changed. Reload makes another from the same files and
// puts it in the place of the first. Connections that are open keep theirs; so whatever is wrong
// with new files harms nobody, and tickets of an older certificate are worth nothing.
//
// Threads   any, for every member.
// Errors    Create, Reload: kInvalidArgument with the file and OpenSSL's reason: memcached's words,
//           which its users look for. A failed Reload changes nothing.
// Source    RFC 8446 (TLS 1.3), RFC 5246 (TLS 1.2); names and defaults are memcached 1.6's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "net/tls_session.h"
#include "net/transport.h"
#include "weft/status.h"

namespace weft::net {

struct TlsOptions {
  enum class KeyForm : uint8_t { kPem = 1, kDer = 2 };
  // kOnce requires one, too, and asks for it in the first handshake alone. There is only one here.
  enum class Verify : uint8_t { kNone, kAsk, kRequire, kOnce };

  std::string chain_path;  // the certificate, then those that lead to the authority (PEM)
  std::string key_path;    // empty: the key lies in chain_path
  std::string ca_path;     // the authorities of clients' certificates (PEM); empty: none
  std::string ciphers;     // OpenSSL's list; names that begin with TLS_ are of TLS 1.3
  KeyForm key_form = KeyForm::kPem;
  Verify verify = Verify::kNone;
  uint8_t version_min = 2;     // 0 to 3: TLS 1.0 to 1.3
  bool session_cache = false;  // clients may resume: fewer full handshakes, no forward secrecy
                               // between the sessions of one client
  size_t write_bytes = size_t{16} << 10;  // sealed ahead of what a connection's system takes
};

// Counters since the start; each is a moment's own.
struct TlsStats {
  uint64_t sessions = 0;          // that clients may resume
  uint64_t handshake_errors = 0;  // handshakes that failed or took too long; not who went away
  uint64_t protocol_errors = 0;   // sessions that ended by an error
  uint64_t loaded_ms = 0;         // when the certificate was loaded, on the monotonic clock
  int64_t expires_s = 0;          // when it ends, in Unix time
};

class TlsServer {
 public:
  static Result<std::unique_ptr<TlsServer>> Create(TlsOptions options);
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  // Reads the files again.
  Status Reload() WEFT_EXCLUDES(mutex_);
  // The server's side of a new connection. Null if there is no memory.
  // REQUIRES: mode is not kNone
  SslPtr NewSession(TlsMode mode) const WEFT_EXCLUDES(mutex_);

  void CountHandshakeError() { handshake_errors_.fetch_add(1, std::memory_order_relaxed); }
  void CountProtocolError() { protocol_errors_.fetch_add(1, std::memory_order_relaxed); }
  TlsStats Stats() const WEFT_EXCLUDES(mutex_);
  const TlsOptions& options() const { return options_; }

 private:
  explicit TlsServer(TlsOptions options) : options_(std::move(options)) {}
  static int OnNewSession(SSL* ssl, SSL_SESSION* session);
  Result<std::shared_ptr<SSL_CTX>> Load();

  // Constant after construction.
  const TlsOptions options_;

  // Counts. Relaxed: they order nothing.
  std::atomic<uint64_t> sessions_{0};
  std::atomic<uint64_t> handshake_errors_{0};
  std::atomic<uint64_t> protocol_errors_{0};

  mutable base::Mutex mutex_;
  std::shared_ptr<SSL_CTX> context_ WEFT_GUARDED_BY(mutex_);
  uint64_t loaded_ms_ WEFT_GUARDED_BY(mutex_) = 0;
  int64_t expires_s_ WEFT_GUARDED_BY(mutex_) = 0;
};

}  // namespace weft::net
