#include "net/listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/patience.h"

namespace weft::net {
namespace {

Status Failed(const char* what, const SocketAddress& address) {
  return Status::FromErrno(std::string(what) + " " + address.ToString(), errno);
}

Status SetOption(int fd, int level, int name, int value) {
  if (setsockopt(fd, level, name, &value, sizeof value) == 0) return Status::Ok();
  return Status::FromErrno("setsockopt", errno);
}

Status SetTcpOptions(int fd, int family, bool keepalive) {
  Status status = SetOption(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  if (status.ok()) status = SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  if (status.ok() && keepalive) status = SetOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  if (status.ok() && family == AF_INET6) status = SetOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  return status;
}

// Which file stands there now; false where there is none that is a socket's.
bool FindSocket(const std::string& path, FileId* id) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode)) return false;
  *id = {info.st_dev, info.st_ino};
  return true;
}

// Whether something stands there that no server's end will take away.
bool IsOtherFile(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && !S_ISSOCK(info.st_mode);
}

void UnlinkIfIs(const std::string& path, const FileId& id) {
  FileId now;
  if (FindSocket(path, &now) && now == id) unlink(path.c_str());
}

// Removes the file of a socket that refuses connections. Anything else is left for bind to report.
void UnlinkStale(const std::string& path, const SocketAddress& address) {
  FileId found;
  if (!FindSocket(path, &found)) return;
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return;
  // Another server may have come here meanwhile, with a file of its own.
  if (connect(probe, address.get(), address.bytes) != 0 && errno == ECONNREFUSED) {
    UnlinkIfIs(path, found);
  }
  close(probe);
}

}  // namespace

Listener::~Listener() {
  const int error = errno;  // of one that could not be opened, whose opener goes by it
  // While the socket listens, nobody takes its file for a dead server's and puts another there.
  if (!unlink_path_.empty()) UnlinkIfIs(unlink_path_, unlink_id_);
  close(fd_);
  errno = error;
}

Result<std::unique_ptr<Listener>> Listener::OpenOne(const SocketAddress& address, TlsMode tls,
                                                    const ListenerOptions& options) {
  const int fd = socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return Failed("socket for", address);
  const bool tcp = address.family() != AF_UNIX;
  std::unique_ptr<Listener> listener(
      new Listener(fd, tcp ? Transport::kTcp : Transport::kUnix, tls, address));
  if (tcp) {
    Status status = SetTcpOptions(fd, address.family(), options.keepalive);
    if (!status.ok()) return status;
  }
  if (bind(fd, address.get(), address.bytes) != 0) return Failed("bind", address);
  if (!tcp) {
    // Nobody can connect before listen, so this leaves no moment with wider rights, and unlike
    // umask it does not touch what other threads create.
    listener->unlink_path_ = address.ToString();
    if (!FindSocket(listener->unlink_path_, &listener->unlink_id_)) listener->unlink_path_.clear();
    if (chmod(address.ToString().c_str(), options.unix_mask & 0777) != 0) {
      return Failed("chmod", address);
    }
  }
  if (listen(fd, options.backlog) != 0) return Failed("listen on", address);
  SocketAddress& bound = listener->address_;
  bound.bytes = sizeof bound.storage;
  getsockname(fd, reinterpret_cast<sockaddr*>(&bound.storage), &bound.bytes);
  return listener;
}

// Tries again while the address is in use: its server may have been killed just now.
Result<std::unique_ptr<Listener>> Listener::OpenPatiently(const SocketAddress& address, TlsMode tls,
                                                          const ListenerOptions& options) {
  for (base::Patience patience;;) {
    if (address.family() == AF_UNIX) UnlinkStale(address.ToString(), address);
    auto opened = OpenOne(address, tls, options);
    if (opened || errno != EADDRINUSE) return opened;
    const bool for_ever = address.family() == AF_UNIX && IsOtherFile(address.ToString());
    if (for_ever || !patience.Wait()) {
      errno = EADDRINUSE;  // for the caller, who goes by it
      return opened;
    }
  }
}

Result<std::vector<std::unique_ptr<Listener>>> Listener::OpenTcp(const HostPort& where, TlsMode tls,
                                                                 const ListenerOptions& options) {
  auto addresses = ResolveForListening(where);
  if (!addresses) return addresses.error();
  std::vector<std::unique_ptr<Listener>> listeners;
  Status last(Code::kInvalidArgument, "no address found for '" + where.host + "'");
  for (SocketAddress& address : *addresses) {
    if (where.port == 0 && !listeners.empty()) address.set_port(listeners[0]->address().port());
    auto opened = OpenPatiently(address, tls, options);
    if (opened) {
      listeners.push_back(std::move(*opened));
    } else if (last = opened.error(); errno != EAFNOSUPPORT && errno != EADDRNOTAVAIL) {
      // A machine without IPv6 still serves IPv4; any other failure is the caller's to know.
      return last;
    }
  }
  if (listeners.empty()) return last;
  return listeners;
}

Result<std::unique_ptr<Listener>> Listener::OpenUnix(const std::string& path,
                                                     const ListenerOptions& options) {
  auto address = UnixAddress(path);
  if (!address) return address.error();
  return OpenPatiently(*address, TlsMode::kNone, options);
}

}  // namespace weft::net
