#include "bench/target/tls_identity.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace weft::bench {
namespace {

constexpr long kDayS = 24 * 3600;
constexpr long kX509Version3 = 2;

template <auto Free>
struct FreeBy {
  template <typename T>
  void operator()(T* thing) const {
    Free(thing);
  }
};
using Key = std::unique_ptr<EVP_PKEY, FreeBy<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, FreeBy<X509_free>>;
using File = std::unique_ptr<std::FILE, FreeBy<std::fclose>>;

// Signed by itself. Null: OpenSSL has said why.
Certificate CertificateOf(EVP_PKEY* key) {
  Certificate made(X509_new());
  X509* const it = made.get();
  constexpr auto kName = "weft-bench";
  X509_NAME* const name = it == nullptr ? nullptr : X509_get_subject_name(it);
  const bool whole =
      name != nullptr && X509_set_version(it, kX509Version3) == 1 &&
      ASN1_INTEGER_set(X509_get_serialNumber(it), 1) == 1 &&
      X509_gmtime_adj(X509_getm_notBefore(it), -kDayS) != nullptr &&
      X509_gmtime_adj(X509_getm_notAfter(it), kDayS) != nullptr && X509_set_pubkey(it, key) == 1 &&
      X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                 reinterpret_cast<const unsigned char*>(kName), -1, -1, 0) == 1 &&
      X509_set_issuer_name(it, name) == 1 && X509_sign(it, key, EVP_sha256()) != 0;
  return whole ? std::move(made) : nullptr;
}

Status TlsError(const std::string& what) {
  return {Code::kIoError, what + ": " + net::TakeTlsReason()};
}

}  // namespace

Result<std::shared_ptr<const TlsIdentity>> TlsIdentity::Make() {
  std::unique_ptr<TlsIdentity> made(new TlsIdentity);
  std::error_code error;
  std::string folder = std::filesystem::temp_directory_path(error).string() + "/weft-bench-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return Status::FromErrno("create " + folder, errno);
  made->folder_ = folder;
  Status status = made->Write();
  if (!status.ok()) return status;
  net::TlsClientOptions options;
  options.ca_path = made->CertificatePath();
  options.version_min = 3;
  auto client = net::TlsClient::NewContext(options);
  if (!client) return client.error();
  made->client_ = std::move(*client);
  return std::shared_ptr<const TlsIdentity>(std::move(made));
}

TlsIdentity::~TlsIdentity() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

std::string TlsIdentity::ServerFlags() const {
  return fmt::format("-Z -o ssl_chain_cert={},ssl_key={}", CertificatePath(), KeyPath());
}

Status TlsIdentity::Write() const {
  const Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  const Certificate certificate = key == nullptr ? nullptr : CertificateOf(key.get());
  if (certificate == nullptr) return TlsError("make a certificate");
  const File key_file(std::fopen(KeyPath().c_str(), "wx"));
  const File file(std::fopen(CertificatePath().c_str(), "wx"));
  if (key_file == nullptr || file == nullptr)
    return Status::FromErrno("create a file in " + folder_, errno);
  if (PEM_write_PrivateKey(key_file.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1 ||
      PEM_write_X509(file.get(), certificate.get()) != 1)
    return TlsError("write a certificate");
  if (std::fflush(key_file.get()) != 0 || std::fflush(file.get()) != 0)
    return Status::FromErrno("write to " + folder_, errno);
  return Status::Ok();
}

Result<std::unique_ptr<net::TlsClient>> TlsIdentity::Connect(int fd) const {
  auto client = net::TlsClient::Create(client_.get(), fd, "");
  if (client == nullptr) return Status(Code::kNoMemory, "no memory for TLS");
  int result;
  do {
    result = client->Handshake();
  } while (result != 0 && errno == EINTR);
  if (result == 0) return client;
  if (errno != EPROTO) return Status::FromErrno("shake hands in TLS", errno);
  return Status(Code::kIoError, "shake hands in TLS: " + client->reason());
}

}  // namespace weft::bench
