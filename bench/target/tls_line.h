// bench/target/tls_line.h: a client's end of TLS on a connected socket: send and recv for bytes
// that travel sealed.
//
// Records that have arrived together are read together, so one that is there may wait inside: call
// Receive until it has nothing more.
//
// Threads   one owner.
// Errors    those of a handshake: kIoError with OpenSSL's words. Send and Receive: as send and recv
//           have them in errno, EPROTO for what OpenSSL alone can tell.
// Cost      a system call for each record that is sent, and for each 64 KiB that have arrived.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "bench/harness/address.h"
#include "bench/target/tls_identity.h"
#include "weft/status.h"

struct ssl_st;

namespace weft::bench {

class TlsLine {
 public:
  // Shakes hands over `fd`, which blocks and must outlive it.
  static Result<std::unique_ptr<TlsLine>> Open(const TlsIdentity& identity, int fd);

  ssize_t Send(const char* bytes, size_t count);
  ssize_t Receive(char* room, size_t count);

 private:
  struct Free {
    void operator()(ssl_st* ssl) const;
  };

  TlsLine() = default;
  ssize_t Failed(int result);

  std::unique_ptr<ssl_st, Free> ssl_;
};

// As Ask, through TLS.
Result<std::string> AskTls(const TlsIdentity& identity, const Address& address,
                           std::string_view request,
                           const std::function<bool(std::string_view)>& whole, int patience_s);

// "<what>: <the last words of OpenSSL in this thread>".
Status TlsError(const std::string& what);

}  // namespace weft::bench
