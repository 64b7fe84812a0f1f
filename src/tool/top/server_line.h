// tool/top/server_line.h: a connection to a server of memcached's protocol, plain or by TLS.
//
// Threads   one at a time.
// Errors    kIoError: the server can't be reached, closes, or is not there in time; or a signal
//           asked for the end meanwhile (Terminal::IsToEnd). kInvalidArgument: the address is none,
//           or a file of TLS can't be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/posix_fd.h"
#include "net/address.h"
#include "net/tls_client.h"
#include "weft/status.h"

namespace weft::tool {

// How a server is reached.
struct ServerAccess {
  // "host", "host:port", "[v6]:port" or the path of a Unix socket.
  std::string address = "127.0.0.1:11211";
  std::string password_path;  // its first line is user:password; empty: nobody logs in
  bool tls = false;
  net::TlsClientOptions tls_options;
};

class ServerLine {
 public:
  static constexpr int kPatienceS = 3;

  // Tries all that the address stands for, and waits kPatienceS for each.
  static Result<ServerLine> Connect(const ServerAccess& access);

  // From now on Send and Receive wait kPatienceS in all.
  void BeginToWait();
  Status Send(std::string_view request);
  // Some bytes, at least one. Their number.
  Result<size_t> Receive(char* room, size_t bytes);

 private:
  explicit ServerLine(base::Fd socket) : socket_(std::move(socket)) {}
  static Result<ServerLine> ConnectTo(const net::SocketAddress& address);
  Status BeginTls(const net::TlsClientOptions& options, const std::string& host);
  Status Wait(short events) const;
  Status WaitAfter(const char* what, short events) const;

  base::Fd socket_;
  std::unique_ptr<net::TlsClient> tls_;  // null: the bytes travel as they are
  uint64_t deadline_ns_ = 0;
};

}  // namespace weft::tool
