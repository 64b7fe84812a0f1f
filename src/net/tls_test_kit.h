// net/tls_test_kit.h: a client's end of TLS, and certificates made for a test. Not for programs.
//
// The client moves its records itself, so that a test says how they are cut, or that they are
// spoilt.
//
// Threads: a TlsPeer belongs to one thread.
#pragma once

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "net/peer_test_kit.h"

namespace weft::net {

template <auto Free>
struct FreeBy {
  template <typename T>
  void operator()(T* thing) const {
    Free(thing);
  }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, FreeBy<EVP_PKEY_free>>;
using CertificatePtr = std::unique_ptr<X509, FreeBy<X509_free>>;
using ContextPtr = std::unique_ptr<SSL_CTX, FreeBy<SSL_CTX_free>>;

// A key, and the certificate that says whose it is. Signed by `by`, or by itself.
struct Identity {
  explicit Identity(const char* name, const Identity* by = nullptr)
      : key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256")), certificate(X509_new()) {
    X509_set_version(certificate.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key.get());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
    const Identity& signer = by == nullptr ? *this : *by;
    X509_set_issuer_name(certificate.get(), X509_get_subject_name(signer.certificate.get()));
    X509_EXTENSION* const authority = X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints,
                                                          by == nullptr ? "CA:TRUE" : "CA:FALSE");
    X509_add_ext(certificate.get(), authority, -1);
    X509_EXTENSION_free(authority);
    EXPECT_NE(X509_sign(certificate.get(), signer.key.get(), EVP_sha256()), 0);
  }
  // Both to one file.
  void Write(const std::string& path) const {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr), 1);
    EXPECT_EQ(PEM_write_X509(file, certificate.get()), 1);
    std::fclose(file);
  }
  long Serial() const { return ASN1_INTEGER_get(X509_get0_serialNumber(certificate.get())); }

  KeyPtr key;
  CertificatePtr certificate;
  static inline long serial = 0;
};

// A client that trusts nobody in particular, and may have a certificate of its own.
class TlsPeer {
 public:
  explicit TlsPeer(const SocketAddress& address, const Identity* identity = nullptr,
                   int version_max = TLS1_3_VERSION)
      : peer_(address), context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_max_proto_version(context_.get(), version_max);
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
    SSL_CTX_set_security_level(context_.get(), 0);
    if (identity != nullptr) {
      SSL_CTX_use_certificate(context_.get(), identity->certificate.get());
      SSL_CTX_use_PrivateKey(context_.get(), identity->key.get());
    }
    ssl_.reset(SSL_new(context_.get()));
    in_ = BIO_new(BIO_s_mem());
    out_ = BIO_new(BIO_s_mem());
    BIO_set_mem_eof_return(in_, -1);
    SSL_set_bio(ssl_.get(), in_, out_);  // which owns them
    SSL_set_connect_state(ssl_.get());
  }
  // Of how many bytes each send is, and with a pause behind it. 0: all at once.
  void CutSends(size_t bytes) { cut_ = bytes; }
  void ResumeSessionOf(TlsPeer& other) {
    SSL_SESSION* const session = SSL_get1_session(other.ssl_.get());
    SSL_set_session(ssl_.get(), session);
    SSL_SESSION_free(session);
  }
  bool resumed() const { return SSL_session_reused(ssl_.get()) != 0; }
  // True once the handshake is over.
  bool ShakeHands() {
    while (true) {
      ERR_clear_error();
      const int result = SSL_do_handshake(ssl_.get());
      if (!Flush()) return false;
      if (result == 1) return true;
      if (SSL_get_error(ssl_.get(), result) != SSL_ERROR_WANT_READ || !Fill()) return false;
    }
  }
  // The first message alone.
  bool SayHello() {
    SSL_do_handshake(ssl_.get());
    return Flush();
  }
  // Waits for the server's answer, and leaves it where it is.
  bool IsAnswered() const {
    pollfd socket = {peer_.fd(), POLLIN, 0};
    return poll(&socket, 1, 20'000) == 1 && (socket.revents & POLLIN) != 0;
  }
  // Tells the server to change its keys, too; goes out with the next record.
  bool AskForKeys() {
    return SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_REQUESTED) == 1 &&
           SSL_do_handshake(ssl_.get()) == 1;
  }
  bool Send(std::string_view plain) { return Seal(plain) && Flush(); }
  // Makes records, each of `record` bytes, and sends nothing.
  bool Seal(std::string_view plain, size_t record = 16384) {
    for (; !plain.empty(); plain.remove_prefix(std::min(record, plain.size()))) {
      const int bytes = static_cast<int>(std::min(record, plain.size()));
      ERR_clear_error();
      if (SSL_write(ssl_.get(), plain.data(), bytes) != bytes) return false;
    }
    return true;
  }
  // What is sealed and not sent.
  std::string TakeSealed() {
    std::string sealed(BIO_ctrl_pending(out_), '\0');
    BIO_read(out_, sealed.data(), static_cast<int>(sealed.size()));
    return sealed;
  }
  bool Flush() {
    const std::string sealed = TakeSealed();
    for (size_t at = 0; at < sealed.size();) {
      const size_t n = cut_ == 0 ? sealed.size() : std::min(cut_, sealed.size() - at);
      if (!peer_.Send(std::string_view(sealed).substr(at, n))) return false;
      at += n;
      if (cut_ != 0) usleep(50);
    }
    return true;
  }
  // `n` bytes, or fewer when the session ends or fails.
  std::string Receive(size_t n) {
    std::string plain(n, '\0');
    size_t got = 0;
    while (got < n) {
      ERR_clear_error();
      const int now = SSL_read(ssl_.get(), plain.data() + got, static_cast<int>(n - got));
      if (now > 0) {
        got += static_cast<size_t>(now);
        continue;
      }
      error_ = SSL_get_error(ssl_.get(), now);
      if (error_ != SSL_ERROR_WANT_READ || !Fill()) break;
    }
    plain.resize(got);
    return plain;
  }
  // True if the other end says goodbye and closes.
  bool SeesGoodbye() {
    return Receive(1).empty() && error_ == SSL_ERROR_ZERO_RETURN && peer_.SeesEnd();
  }
  void SayGoodbye() {
    SSL_shutdown(ssl_.get());
    Flush();
  }
  // OpenSSL's word for the failure that it saw last.
  std::string Reason() const {
    const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
    return reason == nullptr ? "" : reason;
  }
  std::string Version() const { return SSL_get_version(ssl_.get()); }
  long ServerSerial() const {
    const CertificatePtr certificate(SSL_get1_peer_certificate(ssl_.get()));
    return ASN1_INTEGER_get(X509_get0_serialNumber(certificate.get()));
  }
  Peer& peer() { return peer_; }

 private:
  // One receive of the socket. False at its end.
  bool Fill() {
    char bytes[65536];
    ssize_t n;
    do n = recv(peer_.fd(), bytes, sizeof bytes, 0);
    while (n < 0 && errno == EINTR);
    if (n <= 0) return false;
    BIO_write(in_, bytes, static_cast<int>(n));
    return true;
  }

  Peer peer_;
  ContextPtr context_;
  std::unique_ptr<SSL, FreeBy<SSL_free>> ssl_;
  BIO* in_ = nullptr;
  BIO* out_ = nullptr;
  size_t cut_ = 0;
  int error_ = 0;
};

}  // namespace weft::net
