#include "server/port_file.h"

#include <cstdlib>

#include <fmt/format.h>

namespace weft::server {

std::string PortFileOfEnvironment() {
  const char* const path = std::getenv("MEMCACHED_PORT_FILENAME");
  return path == nullptr ? "" : path;
}

std::string PortLines(std::span<const net::SocketAddress> addresses) {
  std::string lines;
  for (const net::SocketAddress& address : addresses) {
    if (address.family() == AF_UNIX) continue;
    lines += fmt::format("TCP {}: {}\n", address.family() == AF_INET6 ? "INET6" : "INET",
                         address.port());
  }
  return lines;
}

}  // namespace weft::server
