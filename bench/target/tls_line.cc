#include "bench/target/tls_line.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>

#include "base/posix_fd.h"

namespace weft::bench {
namespace {

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
BIO_METHOD* Sockets() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    BIO_meth_set_write(made, SendSealed);
    BIO_meth_set_read(made, ReceiveSealed);
    BIO_meth_set_ctrl(made, Control);
    return made;
  }();
  return method;
}

}  // namespace

void TlsLine::Free::operator()(ssl_st* ssl) const { SSL_free(ssl); }

Status TlsError(const std::string& what) {
  char words[256] = "no reason given";
  if (const unsigned long error = ERR_peek_last_error(); error != 0)
    ERR_error_string_n(error, words, sizeof words);
  return {Code::kIoError, what + ": " + words};
}

Result<std::unique_ptr<TlsLine>> TlsLine::Open(const TlsIdentity& identity, int fd) {
  std::unique_ptr<TlsLine> line(new TlsLine);
  line->ssl_.reset(SSL_new(identity.client()));
  BIO* const bio = BIO_new(Sockets());
  if (line->ssl_ == nullptr || bio == nullptr) {
    BIO_free(bio);
    return TlsError("prepare TLS");
  }
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<intptr_t>(fd)));
  BIO_set_init(bio, 1);
  SSL_set_bio(line->ssl_.get(), bio, bio);  // which owns it
  int result;
  do {
    ERR_clear_error();
    errno = 0;
    result = SSL_connect(line->ssl_.get());
  } while (result != 1 && line->Failed(result) < 0 && errno == EINTR);
  if (result != 1) return TlsError("shake hands in TLS");
  return line;
}

// What send or recv would return after `result`, and errno.
ssize_t TlsLine::Failed(int result) {
  const int system = errno;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE: errno = system == EINTR ? EINTR : EAGAIN; return -1;
    case SSL_ERROR_ZERO_RETURN: return 0;
    case SSL_ERROR_SYSCALL:  // without an error: closed without a word
      errno = system;
      return system == 0 ? 0 : -1;
    default: errno = EPROTO; return -1;
  }
}

ssize_t TlsLine::Send(const char* bytes, size_t count) {
  ERR_clear_error();
  errno = 0;
  const int sent = SSL_write(ssl_.get(), bytes, static_cast<int>(std::min<size_t>(count, INT_MAX)));
  return sent > 0 ? sent : Failed(sent);
}

ssize_t TlsLine::Receive(char* room, size_t count) {
  ERR_clear_error();
  errno = 0;
  const int got = SSL_read(ssl_.get(), room, static_cast<int>(std::min<size_t>(count, INT_MAX)));
  return got > 0 ? got : Failed(got);
}

Result<std::string> AskTls(const TlsIdentity& identity, const Address& address,
                           std::string_view request,
                           const std::function<bool(std::string_view)>& whole, int patience_s) {
  auto fd = Connect(address);
  if (!fd) return fd.error();
  const timeval patience{patience_s, 0};
  setsockopt(fd->get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  auto line = TlsLine::Open(identity, fd->get());
  if (!line) return line.error();
  if ((*line)->Send(request.data(), request.size()) != static_cast<ssize_t>(request.size()))
    return Status::FromErrno("send to " + address.ToString(), errno);
  std::string answer;
  char text[4096];
  while (!whole(answer)) {
    const ssize_t got = (*line)->Receive(text, sizeof text);
    if (got < 0) return Status::FromErrno("receive from " + address.ToString(), errno);
    if (got == 0)
      return Status(Code::kIoError, address.ToString() + " closed the connection unexpectedly");
    answer.append(text, static_cast<size_t>(got));
  }
  return answer;
}

}  // namespace weft::bench
