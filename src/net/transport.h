// net/transport.h: the kinds of road that bytes come by. UDP and packet rings get their names here
// when they get their files.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::net {

enum class Transport : uint8_t { kTcp, kUnix };

inline std::string_view TransportName(Transport transport) {
  return transport == Transport::kTcp ? "tcp" : "unix";
}

// Whether the bytes of a stream are sealed, and whom a listener lets in.
enum class TlsMode : uint8_t {
  kNone,      // plain bytes
  kAsSet,     // TLS; of a client's certificate is asked what TlsOptions::verify says
  kAnyone,    // TLS; nobody is asked for a certificate
  kCertified  // TLS; whoever has no certificate of the authority is turned away
};

}  // namespace weft::net
