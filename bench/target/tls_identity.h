// bench/target/tls_identity.h: a key and a certificate that are made for one run, so that servers
// that it starts have TLS and its clients know them.
//
// The key is on the curve P-256, the certificate is signed by itself and valid for a day. Both lie
// in a new folder that only this user may read, and that goes with the object.
//
// Threads   any, once it is made.
// Errors    kIoError: the folder or a file cannot be made, or OpenSSL's words.
#pragma once

#include <memory>
#include <string>

#include "net/tls_client.h"
#include "weft/status.h"

namespace weft::bench {

class TlsIdentity {
 public:
  static Result<std::shared_ptr<const TlsIdentity>> Make();
  ~TlsIdentity();
  TlsIdentity(const TlsIdentity&) = delete;
  TlsIdentity& operator=(const TlsIdentity&) = delete;

  // For a server with memcached's flags: TLS with this certificate.
  std::string ServerFlags() const;
  // Shakes hands over `fd`, which blocks and must outlive the client's end. Takes TLS 1.3 alone,
  // and this certificate alone.
  Result<std::unique_ptr<net::TlsClient>> Connect(int fd) const;

 private:
  TlsIdentity() = default;
  std::string KeyPath() const { return folder_ + "/key.pem"; }
  std::string CertificatePath() const { return folder_ + "/certificate.pem"; }
  Status Write() const;

  std::string folder_;
  std::shared_ptr<SSL_CTX> client_;
};

}  // namespace weft::bench
