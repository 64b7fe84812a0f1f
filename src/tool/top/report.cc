#include "tool/top/report.h"

#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "base/parse_number.h"

namespace weft::tool {
namespace {

constexpr size_t kLineBytesMax = size_t{64} << 10;  // of a server that speaks something else
// Of a report: many times what the longest one has, the cells of all latencies.
constexpr size_t kReportBytesMax = size_t{4} << 20;
constexpr size_t kReportLinesMax = 50'000;

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

struct Login {
  std::string user, password;
};

// The first line of the file, as -Y of weft serve has it.
Result<Login> ReadLogin(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line))
    return Status(Code::kIoError, "cannot read a login from " + path);
  if (line.ends_with('\r')) line.pop_back();
  const size_t colon = line.find(':');
  if (colon == line.npos)
    return Status(Code::kInvalidArgument, path + ": its first line is not user:password");
  return Login{line.substr(0, colon), line.substr(colon + 1)};
}

}  // namespace

uint64_t CountOf(const StatsReport& report, std::string_view name) {
  uint64_t number = 0;
  const auto line = report.find(name);
  if (line != report.end()) base::ParseNumber(line->second, &number);
  return number;
}

Result<StatsClient> StatsClient::Connect(const ServerAccess& access) {
  auto line = ServerLine::Connect(access);
  if (!line) return line.error();
  return StatsClient(std::move(*line), access.password_path);
}

Status StatsClient::Receive() {
  char buffer[16384];
  auto got = line_.Receive(buffer, sizeof buffer);
  if (!got) return got.error();
  // Lines that were read go first, all at once.
  input_.erase(0, std::exchange(read_, 0));
  input_.append(buffer, *got);
  report_bytes_ += *got;
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

// memcached's login of the text protocol is a `set` with "user password" for a value, whatever the
// key. A server without a login would store it, so that nobody is told before it has asked.
Status StatsClient::LogIn() {
  auto login = ReadLogin(password_path_);
  if (!login) return login.error();
  const std::string value = login->user + " " + login->password;
  Status status =
      line_.Send("set weft-top 0 0 " + std::to_string(value.size()) + "\r\n" + value + "\r\n");
  if (!status.ok()) return status;
  auto line = Line();
  if (!line) return line.error();
  if (*line == "STORED") return {};
  return {Code::kInvalidArgument, "it refuses the login in " + password_path_ + ": " + *line};
}

Result<StatsReport> StatsClient::Ask(std::string_view which) {
  line_.BeginToWait();
  bool refused = false;
  auto report = AskOnce(which, &refused);
  if (!refused) return report;
  if (password_path_.empty())
    return Status(Code::kInvalidArgument,
                  "it asks for a login: name the file that has it by --auth-file");
  if (Status status = LogIn(); !status.ok()) return status;
  return AskOnce(which, &refused);
}

// `refused`: it asks for a login first.
Result<StatsReport> StatsClient::AskOnce(std::string_view which, bool* refused) {
  std::string request = "stats";
  if (!which.empty()) request.append(" ").append(which);
  request += "\r\n";
  report_bytes_ = 0;
  if (Status status = line_.Send(request); !status.ok()) return status;
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
    *refused = line->starts_with("CLIENT_ERROR unauthenticated");
    if (*refused) return Status(Code::kInvalidArgument, *line);
    // A server that does not know the report says so in one line.
    if (!which.empty() && line->find("ERROR") != line->npos) return StatsReport();
    return Status(Code::kUnsupported, "it answers 'stats' with '" + line->substr(0, 80) + "'");
  }
  return Status(Code::kUnsupported, "its answer to 'stats' has no end");
}

}  // namespace weft::tool
