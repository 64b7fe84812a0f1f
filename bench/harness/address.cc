#include "bench/harness/address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "base/parse_number.h"

namespace weft::bench {
namespace {

Result<base::Fd> ConnectPath(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return Status(Code::kInvalidArgument, "a socket's path is too long: " + path);
  std::memcpy(address.sun_path, path.data(), path.size());
  base::Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return Status::FromErrno("socket", errno);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return fd;
  return Status::FromErrno("connect " + path, errno);
}

Result<base::Fd> ConnectTcp(const Address& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  const int failure = getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
  if (failure != 0)
    return Status(Code::kIoError, fmt::format("{}: {}", address.host, gai_strerror(failure)));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, freeaddrinfo);
  int error_number = 0;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    base::Fd fd(socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (fd.valid() && connect(fd.get(), at->ai_addr, at->ai_addrlen) == 0) {
      const int on = 1;
      setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      return fd;
    }
    error_number = errno;
  }
  return Status::FromErrno("connect " + address.ToString(), error_number);
}

// Is the other end of this connection on this machine?
bool PeerIsLoopback(int fd) {
  sockaddr_storage peer{};
  socklen_t bytes = sizeof peer;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &bytes) != 0) return false;
  if (peer.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(peer);
    return ntohl(v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(peer);
  return peer.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

// The links of /proc/PID/fd that name the listening sockets of a port: "socket:[12345]".
std::set<std::string> ListeningSockets(uint16_t port) {
  constexpr unsigned kListen = 0x0a;
  std::set<std::string> sockets;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    for (std::string line; std::getline(file, line);) {
      unsigned local_port = 0, state = 0;
      unsigned long long inode = 0;
      const int read = std::sscanf(line.c_str(),
                                   " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*x:%*x"
                                   " %*x:%*x %*x %*d %*d %llu",
                                   &local_port, &state, &inode);
      if (read == 3 && state == kListen && local_port == port)
        sockets.insert(fmt::format("socket:[{}]", inode));
    }
  }
  return sockets;
}

bool HasOneOpen(const std::filesystem::path& process, const std::set<std::string>& sockets) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(process / "fd", error)) {
    std::error_code gone;  // or not ours to look at
    if (sockets.count(std::filesystem::read_symlink(entry.path(), gone).string()) > 0) return true;
  }
  return false;
}

std::vector<pid_t> ProcessesWith(const std::set<std::string>& sockets) {
  std::vector<pid_t> found;
  if (sockets.empty()) return found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    if (!base::ParseNumber(name, &pid)) continue;
    if (HasOneOpen(entry.path(), sockets)) found.push_back(pid);
  }
  return found;
}

}  // namespace

std::string Address::ToString() const {
  if (!path.empty()) return path;
  const bool is_v6 = host.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

Result<Address> ParseAddress(std::string_view text) {
  Address address;
  if (text.find('/') != std::string_view::npos) {
    address.path = text;
    return address;
  }
  const size_t colon = text.rfind(':');
  const std::string_view digits = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (colon == 0 || !base::ParseNumber(digits, &address.port) || address.port == 0)
    return Status(Code::kInvalidArgument,
                  fmt::format("\"{}\" is not an address: use host:port or a socket's path", text));
  std::string_view host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  address.host = host;
  return address;
}

Result<base::Fd> Connect(const Address& address) {
  return address.path.empty() ? ConnectTcp(address) : ConnectPath(address.path);
}

Result<std::string> Ask(const Address& address, std::string_view request,
                        const std::function<bool(std::string_view)>& whole, int patience_s) {
  auto fd = Connect(address);
  if (!fd) return fd.error();
  const timeval patience{patience_s, 0};
  setsockopt(fd->get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (send(fd->get(), request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size()))
    return Status::FromErrno("send to " + address.ToString(), errno);
  std::string answer;
  char text[4096];
  while (!whole(answer)) {
    const ssize_t got = recv(fd->get(), text, sizeof text, 0);
    if (got < 0) return Status::FromErrno("receive from " + address.ToString(), errno);
    if (got == 0)
      return Status(Code::kIoError, address.ToString() + " closed the connection unexpectedly");
    answer.append(text, static_cast<size_t>(got));
  }
  return answer;
}

std::vector<pid_t> ProcessesAt(const Address& address) {
  auto fd = Connect(address);
  if (!fd) return {};
  std::vector<pid_t> found;
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (address.path.empty()) {
    if (PeerIsLoopback(fd->get())) found = ProcessesWith(ListeningSockets(address.port));
  } else if (getsockopt(fd->get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.pid > 0) {
    found.push_back(peer.pid);
  }
  return found;
}

}  // namespace weft::bench
