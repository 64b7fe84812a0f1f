// net/address.h: socket addresses: names to addresses for listening, addresses to text for people.
//
// Resolving may ask the system's resolver and so may block: it is for start-up, never for a loop.
// Threads: pure functions over values; any thread.
// Errors: kInvalidArgument for a name or port that cannot be an address.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/status.h"

namespace weft::net {

// One address that a socket can be bound or connected to.
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t bytes = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
  uint16_t port() const;
  void set_port(uint16_t port);
  // "127.0.0.1:11211", "[::1]:11211" or "/run/weft.sock"; "unix" for an unnamed one.
  std::string ToString() const;
};

// A host and port as people write them: "host", "host:port", "[v6]:port", "v6", ":port".
struct HostPort {
  std::string host;  // empty: every address
  uint16_t port = 0;
};

// Splits `text`; `default_port` where it names none.
Result<HostPort> ParseHostPort(std::string_view text, uint16_t default_port);

// Every TCP address of the host for listening; IPv4 and IPv6 wildcards for an empty one.
Result<std::vector<SocketAddress>> ResolveForListening(const HostPort& where);

// The address of a Unix socket. REQUIRES nothing: a path that is too long is kInvalidArgument.
Result<SocketAddress> UnixAddress(std::string_view path);

// The other end of a connected socket as text; "unknown" once it is gone.
std::string PeerText(int fd);

}  // namespace weft::net
