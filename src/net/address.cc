#include "net/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>

#include "base/parse_number.h"

namespace weft::net {
namespace {

Result<uint16_t> ParsePort(std::string_view text) {
  uint16_t port = 0;
  if (!base::ParseNumber(text, &port)) {
    return Status(Code::kInvalidArgument, "not a port: '" + std::string(text) + "'");
  }
  return port;
}

std::string UnixText(const sockaddr_un& address, socklen_t bytes) {
  const size_t prefix = offsetof(sockaddr_un, sun_path);
  if (bytes <= prefix || address.sun_path[0] == '\0') return "unix";
  return std::string(address.sun_path, strnlen(address.sun_path, bytes - prefix));
}

}  // namespace

uint16_t SocketAddress::port() const {
  if (family() == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(storage).sin_port);
  if (family() == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(storage).sin6_port);
  return 0;
}

void SocketAddress::set_port(uint16_t port) {
  if (family() == AF_INET) reinterpret_cast<sockaddr_in&>(storage).sin_port = htons(port);
  if (family() == AF_INET6) reinterpret_cast<sockaddr_in6&>(storage).sin6_port = htons(port);
}

std::string SocketAddress::ToString() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (family() == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(storage).sin_addr, text, sizeof text);
    return std::string(text) + ":" + std::to_string(port());
  }
  if (family() == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(storage);
    inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    return "[" + std::string(text) + "]:" + std::to_string(port());
  }
  if (family() == AF_UNIX) return UnixText(reinterpret_cast<const sockaddr_un&>(storage), bytes);
  return "unknown";
}

Result<HostPort> ParseHostPort(std::string_view text, uint16_t default_port) {
  HostPort where{std::string(text), default_port};
  std::string_view port_text;
  if (!text.empty() && text.front() == '[') {
    const size_t close = text.find(']');
    if (close == text.npos || (close + 1 < text.size() && text[close + 1] != ':')) {
      return Status(Code::kInvalidArgument, "not an address: '" + std::string(text) + "'");
    }
    where.host = text.substr(1, close - 1);
    if (close + 1 == text.size()) return where;
    port_text = text.substr(close + 2);
  } else {
    const size_t colon = text.find(':');
    // Two colons without brackets are an IPv6 address that names no port.
    if (colon == text.npos || text.find(':', colon + 1) != text.npos) return where;
    where.host = text.substr(0, colon);
    port_text = text.substr(colon + 1);
  }
  Result<uint16_t> port = ParsePort(port_text);
  if (!port) return port.error();
  where.port = *port;
  return where;
}

Result<std::vector<SocketAddress>> ResolveForListening(const HostPort& where) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(where.port);
  const char* host = where.host.empty() || where.host == "*" ? nullptr : where.host.c_str();
  const int error = getaddrinfo(host, port.c_str(), &hints, &found);
  if (error != 0) {
    return Status(Code::kInvalidArgument,
                  "resolve '" + where.host + "': " + std::string(gai_strerror(error)));
  }
  std::vector<SocketAddress> addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    SocketAddress address;
    address.bytes = each->ai_addrlen;
    std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
    addresses.push_back(address);
  }
  freeaddrinfo(found);
  return addresses;
}

Result<SocketAddress> UnixAddress(std::string_view path) {
  SocketAddress address;
  auto& local = reinterpret_cast<sockaddr_un&>(address.storage);
  if (path.empty() || path.size() >= sizeof local.sun_path) {
    return Status(Code::kInvalidArgument,
                  "the socket path is empty or too long: " + std::string(path));
  }
  local.sun_family = AF_UNIX;
  std::memcpy(local.sun_path, path.data(), path.size());
  address.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return address;
}

std::string PeerText(int fd) {
  SocketAddress peer;
  peer.bytes = sizeof peer.storage;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer.storage), &peer.bytes) != 0) {
    return "unknown";
  }
  // Whoever connects from a Unix socket has chosen its path, and other clients are shown it in
  // lines.
  std::string text = peer.ToString();
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  return text;
}

}  // namespace weft::net
