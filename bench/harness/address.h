// bench/harness/address.h: where a server listens, how one connects to it, and which process it is.
//
// Threads   any.
// Errors    kInvalidArgument: no such form of an address; kIoError: the system's words.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/posix_fd.h"
#include "weft/status.h"

namespace weft::bench {

struct Address {
  std::string host;   // of TCP
  uint16_t port = 0;  // of TCP
  std::string path;   // of a Unix socket; empty: TCP

  std::string ToString() const;
};

// "127.0.0.1:11211", "[::1]:11211", "host:11211", or a path, which has a slash in it.
Result<Address> ParseAddress(std::string_view text);

// A connected, blocking socket without Nagle's delay.
Result<base::Fd> Connect(const Address& address);

// Sends `request` on a new connection and reads until `whole` accepts the answer, or for so many
// seconds nothing came.
Result<std::string> Ask(const Address& address, std::string_view request,
                        const std::function<bool(std::string_view)>& whole, int patience_s = 10);
// Ask, or what does the same in another way.
using Asker = std::function<Result<std::string>(const Address& address, std::string_view request,
                                                const std::function<bool(std::string_view)>& whole,
                                                int patience_s)>;

// Processes of this machine that listen there: the peer of a Unix socket, or whoever has the
// listening socket of a loopback port. Empty if that can't be known.
std::vector<pid_t> ProcessesAt(const Address& address);

}  // namespace weft::bench
