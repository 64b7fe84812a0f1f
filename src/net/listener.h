// net/listener.h: one listening stream socket, TCP or Unix.
//
// Options that every accepted connection needs (no delay, keepalive) are set here once: Linux hands
// them down to accepted sockets, which saves two system calls a connection.
// Threads: built and destroyed by one thread; the accepting loop only uses fd().
// Errors: kInvalidArgument for a bad address or path; kIoError with the system's reason, among them
//   a port or a path that a living server holds. That is said after a second only: what a server
//   that was killed just now held is free by then.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/address.h"
#include "net/transport.h"
#include "weft/status.h"

namespace weft::net {

struct ListenerOptions {
  int backlog = 1024;
  bool keepalive = true;
  int unix_mask = 0700;  // permission bits of a Unix socket's file
};

// A file, whatever its names are.
struct FileId {
  uint64_t device = 0;
  uint64_t inode = 0;
  bool operator==(const FileId&) const = default;
};

class Listener {
 public:
  // One listener for each address that "host:port" stands for. With port 0 the system picks one
  // port, which all of them share where it is free.
  static Result<std::vector<std::unique_ptr<Listener>>> OpenTcp(const HostPort& where, TlsMode tls,
                                                                const ListenerOptions& options);
  // Whoever may connect by a file is of this machine: nothing is sealed.
  // Replaces a socket file that nobody listens on any more; never another kind of file.
  static Result<std::unique_ptr<Listener>> OpenUnix(const std::string& path,
                                                    const ListenerOptions& options);
  // Closes the socket and removes a Unix socket's file, if it is still this socket's.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int fd() const { return fd_; }
  Transport transport() const { return transport_; }
  // What its connections must speak.
  TlsMode tls() const { return tls_; }
  // The bound address, with the port that the system picked.
  const SocketAddress& address() const { return address_; }

 private:
  Listener(int fd, Transport transport, TlsMode tls, SocketAddress address)
      : fd_(fd), transport_(transport), tls_(tls), address_(address) {}
  static Result<std::unique_ptr<Listener>> OpenOne(const SocketAddress& address, TlsMode tls,
                                                   const ListenerOptions& options);
  static Result<std::unique_ptr<Listener>> OpenPatiently(const SocketAddress& address, TlsMode tls,
                                                         const ListenerOptions& options);

  // Constant after construction.
  const int fd_;
  const Transport transport_;
  const TlsMode tls_;
  SocketAddress address_;
  std::string unlink_path_;
  FileId unlink_id_;
};

}  // namespace weft::net
