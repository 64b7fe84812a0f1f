// tool/top/report.h: asks a server for its `stats`, over memcached's text protocol.
//
// Threads   one at a time.
// Errors    those of ServerLine; kIoError also where the whole answer is not there within
//           ServerLine::kPatienceS. kUnsupported: it answers, and not with statistics, or with too
//           many; the message has what it said. kInvalidArgument: it asks for a login, and there
//           is none or it is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "tool/top/server_line.h"
#include "weft/status.h"

namespace weft::tool {

// The lines of a report, by name. Printable ASCII alone, whatever the server said.
using StatsReport = std::map<std::string, std::string, std::less<>>;

// The number of a line; 0 where there is none.
uint64_t CountOf(const StatsReport& report, std::string_view name);

class StatsClient {
 public:
  static Result<StatsClient> Connect(const ServerAccess& access);

  // `which` follows the word stats; empty: the general report. A report that this server does not
  // have is empty. Logs in once the server asks for it.
  Result<StatsReport> Ask(std::string_view which);

 private:
  StatsClient(ServerLine line, std::string password_path)
      : line_(std::move(line)), password_path_(std::move(password_path)) {}
  Status LogIn();
  Status Receive();
  Result<std::string> Line();
  Result<StatsReport> AskOnce(std::string_view which, bool* refused);

  ServerLine line_;
  std::string password_path_;
  std::string input_;
  size_t read_ = 0;          // of it
  size_t report_bytes_ = 0;  // of the answer so far
};

}  // namespace weft::tool
