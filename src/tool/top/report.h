// tool/top/report.h: asks a server for its `stats`, over memcached's text protocol.
//
// Threads   one at a time.
// Errors    kIoError: it can't be reached, or its whole answer is not there within kPatienceS; or a
//           signal asked for the end meanwhile (Terminal::IsToEnd). kUnsupported: it answers, and
//           not with statistics, or with too many; the message has what it said.
//           kInvalidArgument: the address is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/posix_fd.h"
#include "weft/status.h"

namespace weft::tool {

// The lines of a report, by name. Printable ASCII alone, whatever the server said.
using StatsReport = std::map<std::string, std::string, std::less<>>;

// The number of a line; 0 where there is none.
uint64_t CountOf(const StatsReport& report, std::string_view name);

class StatsClient {
 public:
  static constexpr int kPatienceS = 3;

  // `address`: "host", "host:port", "[v6]:port" or the path of a Unix socket; tries all that a name
  // stands for, and waits kPatienceS for each.
  static Result<StatsClient> Connect(const std::string& address);

  // `which` follows the word stats; empty: the general report. A report that this server does not
  // have is empty.
  Result<StatsReport> Ask(std::string_view which);

 private:
  explicit StatsClient(base::Fd socket) : socket_(std::move(socket)) {}
  Status Wait(short events) const;
  Status Send(std::string_view request) const;
  Status Receive();
  Result<std::string> Line();

  base::Fd socket_;
  std::string input_;
  size_t read_ = 0;           // of it
  size_t report_bytes_ = 0;   // of the answer so far
  uint64_t deadline_ns_ = 0;  // of the answer
};

}  // namespace weft::tool
