// net/transport.h: the kinds of road that bytes come by. UDP, TLS and packet rings get their names
// here when they get their files.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::net {

enum class Transport : uint8_t { kTcp, kUnix };

inline std::string_view TransportName(Transport transport) {
  return transport == Transport::kTcp ? "tcp" : "unix";
}

}  // namespace weft::net
