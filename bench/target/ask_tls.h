// bench/target/ask_tls.h: asks a server for one answer, by TLS.
//
// Threads   any; each call is its own.
// Errors    as Ask, and those of TlsIdentity::Connect.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "bench/harness/address.h"
#include "bench/target/tls_identity.h"
#include "weft/status.h"

namespace weft::bench {

// As Ask, through TLS.
Result<std::string> AskTls(const TlsIdentity& identity, const Address& address,
                           std::string_view request,
                           const std::function<bool(std::string_view)>& whole, int patience_s);

}  // namespace weft::bench
