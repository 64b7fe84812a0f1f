#include "net/tls_client.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "base/check.h"

namespace weft::net {
namespace {

constexpr size_t kReadAheadBytes = size_t{64} << 10;

int SocketOf(BIO* bio) { return static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio))); }

// OpenSSL's own sockets raise SIGPIPE where the server has closed.
int SendSealed(BIO* bio, const char* bytes, int count) {
  BIO_clear_retry_flags(bio);
  const ssize_t sent = send(SocketOf(bio), bytes, static_cast<size_t>(count), MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int ReceiveSealed(BIO* bio, char* room, int count) {
  BIO_clear_retry_flags(bio);
  const ssize_t got = recv(SocketOf(bio), room, static_cast<size_t>(count), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

long Control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

// For the whole program, which never frees it.
const BIO_METHOD* Sockets() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    WEFT_CHECK(made != nullptr);
    BIO_meth_set_write(made, SendSealed);
    BIO_meth_set_read(made, ReceiveSealed);
    BIO_meth_set_ctrl(made, Control);
    return made;
  }();
  return method;
}

Status Wrong(const std::string& what) {
  return {Code::kInvalidArgument, what + ": " + TakeTlsReason()};
}

Status LoadIdentity(const TlsClientOptions& options, SSL_CTX* context) {
  const std::string& chain = options.certificate_path;
  if (chain.empty()) return Status::Ok();
  const std::string& key = options.key_path.empty() ? chain : options.key_path;
  if (SSL_CTX_use_certificate_chain_file(context, chain.c_str()) != 1)
    return Wrong("cannot load the certificate " + chain);
  if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1)
    return Wrong("cannot load the key " + key);
  return Status::Ok();
}

// Whether the certificate's name is checked as asked. Addresses have fields of their own.
bool ExpectName(SSL* ssl, const std::string& name) {
  if (name.empty()) return true;
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str()) == 1) return true;
  ERR_clear_error();
  return SSL_set1_host(ssl, name.c_str()) == 1 && SSL_set_tlsext_host_name(ssl, name.c_str()) == 1;
}

}  // namespace

Result<std::shared_ptr<SSL_CTX>> TlsClient::NewContext(const TlsClientOptions& options) {
  ERR_clear_error();
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  if (context == nullptr ||
      SSL_CTX_set_min_proto_version(context.get(), kTlsVersions[options.version_min]) != 1)
    return Wrong("cannot prepare TLS");
  if (options.verify) {
    const int loaded = options.ca_path.empty()
                           ? SSL_CTX_set_default_verify_paths(context.get())
                           : SSL_CTX_load_verify_file(context.get(), options.ca_path.c_str());
    if (loaded != 1) return Wrong("cannot load the authorities " + options.ca_path);
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  }
  if (Status status = LoadIdentity(options, context.get()); !status.ok()) return status;
  // As a plain socket: what it takes, from wherever it lies then, and one read for all records that
  // are there.
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context.get(), 1);
  SSL_CTX_set_default_read_buffer_len(context.get(), kReadAheadBytes);
  return context;
}

std::unique_ptr<TlsClient> TlsClient::Create(SSL_CTX* context, int fd, const std::string& name) {
  SslPtr ssl(SSL_new(context));
  BIO* const bio = BIO_new(Sockets());
  if (ssl == nullptr || bio == nullptr || !ExpectName(ssl.get(), name)) {
    BIO_free(bio);
    return nullptr;
  }
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<intptr_t>(fd)));
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl.get(), bio, bio);  // which owns it
  return std::unique_ptr<TlsClient>(new TlsClient(std::move(ssl)));
}

int TlsClient::Handshake() {
  ERR_clear_error();
  errno = 0;
  const int result = SSL_connect(ssl_.get());
  if (result == 1) return 0;
  if (Failed(result) == 0) errno = ECONNRESET;
  return -1;
}

// What send or recv would return after `result`, and errno.
ssize_t TlsClient::Failed(int result) {
  const int system = errno;
  const int what = SSL_get_error(ssl_.get(), result);
  waits_for_ = what == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN;
  switch (what) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE: errno = system == EINTR ? EINTR : EAGAIN; return -1;
    case SSL_ERROR_ZERO_RETURN: return 0;
    case SSL_ERROR_SYSCALL:  // without an error: closed without a word
      errno = system;
      return system == 0 ? 0 : -1;
    default: break;
  }
  const int why = ERR_GET_REASON(ERR_peek_error());
  reason_ = TakeTlsReason();
  if (why == SSL_R_UNEXPECTED_EOF_WHILE_READING) return 0;
  if (why == SSL_R_CERTIFICATE_VERIFY_FAILED)
    reason_ = X509_verify_cert_error_string(SSL_get_verify_result(ssl_.get()));
  errno = EPROTO;
  return -1;
}

ssize_t TlsClient::Send(const char* bytes, size_t count) {
  ERR_clear_error();
  errno = 0;
  const int sent = SSL_write(ssl_.get(), bytes, static_cast<int>(std::min<size_t>(count, INT_MAX)));
  return sent > 0 ? sent : Failed(sent);
}

ssize_t TlsClient::Receive(char* room, size_t count) {
  ERR_clear_error();
  errno = 0;
  const int got = SSL_read(ssl_.get(), room, static_cast<int>(std::min<size_t>(count, INT_MAX)));
  return got > 0 ? got : Failed(got);
}

}  // namespace weft::net
