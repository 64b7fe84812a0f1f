// -Z, and the suboptions of -o that begin with ssl_. memcached's names and numbers.
#include <algorithm>
#include <cctype>
#include <string>

#include "base/parse_number.h"
#include "server/options_draft.h"

namespace weft::server {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

Status TakeVerify(std::string_view value, net::TlsOptions* tls) {
  uint8_t mode = 0;
  if (!base::ParseNumber(value, &mode) || mode > 3)
    return BadUsage(
        "Invalid ssl_verify_mode: 0 asks clients for no certificate, 1 asks, 2 and 3 require one");
  tls->verify = static_cast<net::TlsOptions::Verify>(mode);
  return {};
}

Status TakeVersion(std::string_view value, net::TlsOptions* tls) {
  std::string_view number = value;
  if (number.starts_with("tlsv1.")) number.remove_prefix(6);
  if (number.size() != 1 || number[0] < '0' || number[0] > '3')
    return BadUsage("Invalid ssl_min_version: 0 to 3 stand for TLS 1.0 to 1.3");
  tls->version_min = static_cast<uint8_t>(number[0] - '0');
  return {};
}

Status TakeKeyForm(std::string_view value, net::TlsOptions* tls) {
  const std::string form = Lower(value);
  if (form == "1" || form == "pem") {
    tls->key_form = net::TlsOptions::KeyForm::kPem;
  } else if (form == "2" || form == "der") {
    tls->key_form = net::TlsOptions::KeyForm::kDer;
  } else {
    return BadUsage("Invalid ssl_keyformat: 1 stands for PEM, 2 for DER; there are no engines");
  }
  return {};
}

Status TakeWriteBytes(std::string_view value, net::TlsOptions* tls) {
  constexpr uint64_t kKibMax = 16384;
  uint64_t kib = 0;
  if (!base::ParseNumber(value, &kib) || kib == 0 || kib > kKibMax)
    return BadUsage("ssl_wbuf_size must be from 1 to " + std::to_string(kKibMax) + " KiB");
  tls->write_bytes = static_cast<size_t>(kib) << 10;
  return {};
}

}  // namespace

Status TakeTls(Draft& draft, std::string_view name, std::string_view value) {
  net::TlsOptions* const tls = &draft.tls;
  draft.steers_tls = name;
  if (name == "ssl_chain_cert") tls->chain_path = value;
  if (name == "ssl_key") tls->key_path = value;
  if (name == "ssl_ca_cert") tls->ca_path = value;
  if (name == "ssl_ciphers") tls->ciphers = value;
  if (name == "ssl_session_cache") tls->session_cache = true;
  if (name == "ssl_verify_mode") return TakeVerify(value, tls);
  if (name == "ssl_keyformat") return TakeKeyForm(value, tls);
  if (name == "ssl_wbuf_size") return TakeWriteBytes(value, tls);
  if (name == "ssl_min_version") return TakeVersion(value, tls);
  return {};
}

Status ResolveTls(Draft& draft) {
  if (!draft.seals) {
    if (!draft.steers_tls.empty()) draft.NoEffect("-o " + draft.steers_tls, "-Z was not given");
    return {};
  }
  const net::TlsOptions& tls = draft.tls;
  if (tls.chain_path.empty())
    return BadUsage("-Z needs a certificate: -o ssl_chain_cert=FILE,ssl_key=FILE");
  if (!draft.options->unix_path.empty())
    draft.NoEffect("-Z", "a Unix socket is of this machine, and its bytes are not sealed");
  using Verify = net::TlsOptions::Verify;
  if (tls.verify != Verify::kNone && tls.ca_path.empty())
    return BadUsage("ssl_verify_mode needs ssl_ca_cert: nobody's certificate could be trusted");
  draft.options->tls = tls;
  return {};
}

Status CheckTls(const Draft& draft, net::TlsMode mode) {
  if (!draft.options->tls)
    return mode == net::TlsMode::kNone ? Status()
                                       : BadUsage("-l: btls: and mtls: need -Z and a certificate");
  if (mode == net::TlsMode::kCertified && draft.options->tls->ca_path.empty())
    return BadUsage("-l: mtls: needs ssl_ca_cert: nobody's certificate could be trusted");
  return {};
}

}  // namespace weft::server
