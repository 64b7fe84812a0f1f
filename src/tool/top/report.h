// tool/top/report.h: asks a server for its `stats`, over memcached's text protocol.
//
// Threads   one at a time.
// Errors    kIoError: it can't be reached, or does not answer within kPatienceS. kUnsupported: it
//           answers, and not with statistics; the message has what it said. kInvalidArgument: the
//           address is none.
#pragma once

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
  // stands for.
  static Result<StatsClient> Connect(const std::string& address);

  // `which` follows the word stats; empty: the general report. A report that this server does not
  // have is empty.
  Result<StatsReport> Ask(std::string_view which);

 private:
  explicit StatsClient(base::Fd socket) : socket_(std::move(socket)) {}
  Result<std::string> Line();

  base::Fd socket_;
  std::string input_;
};

}  // namespace weft::tool
