#include "net/tls.h"

#include <openssl/err.h>

#include <ctime>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/clock.h"

namespace weft::net {
namespace {

Status Bad(std::string message) { return Status(Code::kInvalidArgument, std::move(message)); }

Status BadFile(std::string_view what, const std::string& path) {
  return Bad(std::string(what) + ": " + path + " : " + TakeTlsReason());
}

uint64_t NowMs() { return base::NowNs() / 1'000'000; }

// Of a client's certificate with those that lead to its authority.
constexpr long kCertificatesBytesMax = 32768;

// A server does not ask a terminal for the password of its key.
int NoPassword(char*, int, int, void*) { return 0; }

// Names of TLS 1.3's suites go another way into OpenSSL than all others.
Status TakeCiphers(SSL_CTX* context, std::string_view list) {
  std::string suites;
  std::string ciphers;
  while (!list.empty()) {
    const size_t end = std::min(list.find_first_of(": "), list.size());
    const std::string_view name = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    if (name.empty()) continue;
    std::string& to = name.starts_with("TLS_") ? suites : ciphers;
    if (!to.empty()) to += ':';
    to += name;
  }
  if (!suites.empty() && SSL_CTX_set_ciphersuites(context, suites.c_str()) != 1)
    return Bad("Error setting the provided cipher(s): " + suites);
  if (!ciphers.empty() && SSL_CTX_set_cipher_list(context, ciphers.c_str()) != 1)
    return Bad("Error setting the provided cipher(s): " + ciphers);
  return {};
}

Status TakeFiles(SSL_CTX* context, const TlsOptions& options) {
  if (SSL_CTX_use_certificate_chain_file(context, options.chain_path.c_str()) != 1)
    return BadFile("Error loading the certificate chain", options.chain_path);
  const std::string& key = options.key_path.empty() ? options.chain_path : options.key_path;
  const int form =
      options.key_form == TlsOptions::KeyForm::kPem ? SSL_FILETYPE_PEM : SSL_FILETYPE_ASN1;
  if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), form) != 1)
    return BadFile("Error loading the key", key);
  if (SSL_CTX_check_private_key(context) != 1)
    return Bad("Error validating the certificate: " + TakeTlsReason());
  if (options.ca_path.empty()) return {};
  if (SSL_CTX_load_verify_file(context, options.ca_path.c_str()) != 1)
    return BadFile("Error loading the CA certificate", options.ca_path);
  // Clients that have several certificates choose by these names.
  STACK_OF(X509_NAME)* const names = SSL_load_client_CA_file(options.ca_path.c_str());
  if (names == nullptr) return BadFile("Error loading the CA certificate", options.ca_path);
  SSL_CTX_set_client_CA_list(context, names);  // which owns them
  return {};
}

// In Unix time.
int64_t EndOf(const X509* certificate) {
  tm end = {};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) != 1) return 0;
  return timegm(&end);
}

int VerifyFlags(TlsMode mode, TlsOptions::Verify verify) {
  if (mode == TlsMode::kAnyone) return SSL_VERIFY_NONE;
  if (mode == TlsMode::kCertified) return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  switch (verify) {
    case TlsOptions::Verify::kNone: return SSL_VERIFY_NONE;
    case TlsOptions::Verify::kAsk: return SSL_VERIFY_PEER;
    case TlsOptions::Verify::kRequire: return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    case TlsOptions::Verify::kOnce:
      return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT | SSL_VERIFY_CLIENT_ONCE;
  }
  WEFT_CHECK(false);
}

}  // namespace

Result<std::unique_ptr<TlsServer>> TlsServer::Create(TlsOptions options) {
  // The constructor is private so that no server exists without a context; owned at once.
  auto server = std::unique_ptr<TlsServer>(new TlsServer(std::move(options)));
  if (Status status = server->Reload(); !status.ok()) return status;
  return server;
}

int TlsServer::OnNewSession(SSL* ssl, SSL_SESSION*) {
  auto* const server = static_cast<TlsServer*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  server->sessions_.fetch_add(1, std::memory_order_relaxed);
  return 0;  // the session stays OpenSSL's
}

Result<std::shared_ptr<SSL_CTX>> TlsServer::Load() {
  ERR_clear_error();
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (context == nullptr) return Status(Code::kNoMemory, "TLS: " + TakeTlsReason());
  SSL_CTX* const to = context.get();
  SSL_CTX_set_default_passwd_cb(to, NoPassword);
  SSL_CTX_set_max_cert_list(to, kCertificatesBytesMax);
  SSL_CTX_set_min_proto_version(to, kTlsVersions[options_.version_min]);
  // OpenSSL's level 1 and above refuses the signatures of these versions.
  if (options_.version_min < 2) SSL_CTX_set_security_level(to, 0);
  SSL_CTX_set_mode(to, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                           SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(to, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                              SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_CIPHER_SERVER_PREFERENCE |
                              SSL_OP_PRIORITIZE_CHACHA);
  if (options_.session_cache) {
    SSL_CTX_set_session_cache_mode(to, SSL_SESS_CACHE_SERVER);
    SSL_CTX_set_app_data(to, this);
    SSL_CTX_sess_set_new_cb(to, OnNewSession);
  } else {
    SSL_CTX_set_session_cache_mode(to, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(to, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(to, 0);
  }
  if (Status status = TakeFiles(to, options_); !status.ok()) return status;
  if (Status status = TakeCiphers(to, options_.ciphers); !status.ok()) return status;
  return context;
}

Status TlsServer::Reload() {
  auto loaded = Load();
  if (!loaded) return loaded.error();
  base::MutexLock lock(&mutex_);
  context_ = std::move(*loaded);
  expires_s_ = EndOf(SSL_CTX_get0_certificate(context_.get()));
  loaded_ms_ = NowMs();
  return {};
}

SslPtr TlsServer::NewSession(TlsMode mode) const {
  WEFT_CHECK(mode != TlsMode::kNone);
  SslPtr ssl;
  {
    base::MutexLock lock(&mutex_);
    ssl.reset(SSL_new(context_.get()));  // which keeps the context
  }
  if (ssl == nullptr) return nullptr;
  SSL_set_verify(ssl.get(), VerifyFlags(mode, options_.verify), nullptr);
  // A session of a listener that asks for no certificate must not be resumed at one that does.
  const unsigned char name[] = {'w', 'e', 'f', 't', static_cast<unsigned char>(mode)};
  SSL_set_session_id_context(ssl.get(), name, sizeof name);
  return ssl;
}

TlsStats TlsServer::Stats() const {
  TlsStats stats;
  stats.sessions = sessions_.load(std::memory_order_relaxed);
  stats.handshake_errors = handshake_errors_.load(std::memory_order_relaxed);
  stats.protocol_errors = protocol_errors_.load(std::memory_order_relaxed);
  base::MutexLock lock(&mutex_);
  stats.loaded_ms = loaded_ms_;
  stats.expires_s = expires_s_;
  return stats;
}

}  // namespace weft::net
