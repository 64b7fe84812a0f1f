#include "tool/top/report.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/parse_number.h"
#include "net/address.h"
#include "tool/top/terminal.h"

namespace weft::tool {
namespace {

constexpr uint16_t kPort = 11211;
constexpr size_t kLineBytesMax = size_t{64} << 10;  // of a server that speaks something else
// Of a report: many times what the longest one has, the cells of all latencies.
constexpr size_t kReportBytesMax = size_t{4} << 20;
constexpr size_t kReportLinesMax = 50'000;

Result<std::vector<net::SocketAddress>> AddressesOf(const std::string& text) {
  if (text.find('/') != text.npos) {
    auto address = net::UnixAddress(text);
    if (!address) return address.error();
    return std::vector<net::SocketAddress>{*address};
  }
  auto where = net::ParseHostPort(text, kPort);
  if (!where) return where.error();
  if (where->host.empty()) where->host = "127.0.0.1";
  return net::ResolveForListening(*where);
}

// A socket whose calls give up after the client's patience, connecting included.
Result<base::Fd> ConnectTo(const net::SocketAddress& address) {
  base::Fd fd(socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return Status::FromErrno("socket", errno);
  const timeval patience = {.tv_sec = StatsClient::kPatienceS, .tv_usec = 0};
  for (const int option : {SO_SNDTIMEO, SO_RCVTIMEO})
    setsockopt(fd.get(), SOL_SOCKET, option, &patience, sizeof patience);
  if (connect(fd.get(), address.get(), address.bytes) == 0) return fd;
  const int error = errno == EINPROGRESS ? ETIMEDOUT : errno;
  return Status::FromErrno("cannot connect to " + address.ToString(), error);
}

// The rest of a line "STAT name value"; nothing: it is no such line.
std::optional<std::string_view> AfterStat(std::string_view line) {
  constexpr std::string_view kStat = "STAT ";
  if (!line.starts_with(kStat)) return {};
  return line.substr(kStat.size());
}

// A screen's columns are counted in bytes, and what others say must not steer the terminal.
std::string Printable(std::string_view text) {
  constexpr std::string_view kArrow = "\u2192";  // of plans
  std::string out;
  for (size_t i = 0; i < text.size(); i++) {
    if (text.substr(i).starts_with(kArrow)) {
      out += "->";
      i += kArrow.size() - 1;
    } else {
      out += text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    }
  }
  return out;
}

}  // namespace

uint64_t CountOf(const StatsReport& report, std::string_view name) {
  uint64_t number = 0;
  const auto line = report.find(name);
  if (line != report.end()) base::ParseNumber(line->second, &number);
  return number;
}

Result<StatsClient> StatsClient::Connect(const std::string& address) {
  auto addresses = AddressesOf(address);
  if (!addresses) return addresses.error();
  Status failure = {Code::kIoError, "no address for " + address};
  for (const net::SocketAddress& each : *addresses) {
    auto fd = ConnectTo(each);
    if (fd) return StatsClient(std::move(*fd));
    failure = Status(Code::kIoError, std::string(fd.error().message()));
  }
  return failure;
}

// Waits until the socket can do that. An error: the time is over, or the program is to end.
Status StatsClient::Wait(short events) const {
  pollfd socket = {.fd = socket_.get(), .events = events, .revents = 0};
  while (!Terminal::IsToEnd()) {
    const uint64_t left_ns = deadline_ns_ - std::min(deadline_ns_, base::NowNs());
    if (left_ns == 0) return {Code::kIoError, "it does not answer"};
    const int ready = poll(&socket, 1, static_cast<int>(left_ns / 1'000'000) + 1);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return Status::FromErrno("poll", errno);
  }
  return {Code::kIoError, "it was not waited for"};
}

Status StatsClient::Send(std::string_view request) const {
  while (!request.empty()) {
    if (Status status = Wait(POLLOUT); !status.ok()) return status;
    const ssize_t sent =
        send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EINTR && errno != EAGAIN) return Status::FromErrno("send", errno);
    request.remove_prefix(static_cast<size_t>(std::max<ssize_t>(sent, 0)));
  }
  return {};
}

Status StatsClient::Receive() {
  if (Status status = Wait(POLLIN); !status.ok()) return status;
  char buffer[16384];
  const ssize_t got = recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return {};
  if (got < 0) return Status::FromErrno("receive", errno);
  if (got == 0) return {Code::kIoError, "it closed the connection"};
  // Lines that were read go first, all at once.
  input_.erase(0, std::exchange(read_, 0));
  input_.append(buffer, static_cast<size_t>(got));
  report_bytes_ += static_cast<size_t>(got);
  return {};
}

Result<std::string> StatsClient::Line() {
  size_t end;
  while ((end = input_.find('\n', read_)) == input_.npos) {
    if (input_.size() - read_ > kLineBytesMax)
      return Status(Code::kUnsupported, "it does not speak memcached's text protocol");
    if (Status status = Receive(); !status.ok()) return status;
  }
  std::string line = input_.substr(read_, end - read_);
  read_ = end + 1;
  if (line.ends_with('\r')) line.pop_back();
  return Printable(line);
}

Result<StatsReport> StatsClient::Ask(std::string_view which) {
  std::string request = "stats";
  if (!which.empty()) request.append(" ").append(which);
  request += "\r\n";
  deadline_ns_ = base::NowNs() + uint64_t{kPatienceS} * 1'000'000'000;
  report_bytes_ = 0;
  if (Status status = Send(request); !status.ok()) return status;
  StatsReport report;
  for (size_t lines = 0; lines < kReportLinesMax && report_bytes_ < kReportBytesMax; lines++) {
    auto line = Line();
    if (!line) return line.error();
    if (*line == "END" || *line == "RESET") return report;
    if (const auto stat = AfterStat(*line)) {
      const size_t space = stat->find(' ');
      report.emplace(stat->substr(0, space),
                     space == stat->npos ? std::string_view() : stat->substr(space + 1));
      continue;
    }
    // A server that does not know the report says so in one line.
    if (!which.empty() && line->find("ERROR") != line->npos) return StatsReport();
    return Status(Code::kUnsupported, "it answers 'stats' with '" + line->substr(0, 80) + "'");
  }
  return Status(Code::kUnsupported, "its answer to 'stats' has no end");
}

}  // namespace weft::tool
