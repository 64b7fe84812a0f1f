// net/tls_client.h: a client's end of TLS on a connected socket: send and recv for bytes that
// travel sealed.
//
// Records that have arrived together are read together, so one that is there may wait inside: call
// Receive until it has nothing more. Sockets that block and those that do not will both do.
//
// Threads   one owner.
// Errors    NewContext: kInvalidArgument with the file and OpenSSL's reason. The calls that move
//           bytes say in errno what send and recv would, EPROTO for what OpenSSL alone can tell:
//           reason() has it then.
// Cost      a system call for each record that is sent, and for each 64 KiB that have arrived.
// Source    RFC 8446; OpenSSL 3's manual of BIO_meth_new and SSL_get_error.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "net/tls_session.h"
#include "weft/status.h"

namespace weft::net {

struct TlsClientOptions {
  std::string ca_path;           // the authorities of servers (PEM); empty: the system's
  std::string certificate_path;  // of the client, with those that lead to its authority (PEM)
  std::string key_path;          // empty: the key lies in certificate_path
  bool verify = true;            // the server's certificate, and its name
  uint8_t version_min = 2;       // 0 to 3: TLS 1.0 to 1.3
};

class TlsClient {
 public:
  static Result<std::shared_ptr<SSL_CTX>> NewContext(const TlsClientOptions& options);
  // A client's end on `fd`, which must outlive it. `name`: the host or the address that the
  // server's certificate must be for; empty: any. Null if there is no memory.
  static std::unique_ptr<TlsClient> Create(SSL_CTX* context, int fd, const std::string& name);

  // Shakes hands: 0, or -1 and errno. EAGAIN: again, once the socket can do waits_for().
  int Handshake();
  ssize_t Send(const char* bytes, size_t count);
  ssize_t Receive(char* room, size_t count);
  // Events of poll that the last call lacked.
  short waits_for() const { return waits_for_; }
  // Why the last call failed by EPROTO.
  const std::string& reason() const { return reason_; }

 private:
  explicit TlsClient(SslPtr ssl) : ssl_(std::move(ssl)) {}
  ssize_t Failed(int result);

  const SslPtr ssl_;
  short waits_for_ = 0;
  std::string reason_;
};

}  // namespace weft::net
