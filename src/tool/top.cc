#include "tool/top.h"

#include <poll.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "tool/arguments.h"
#include "tool/top/report.h"
#include "tool/top/sample.h"
#include "tool/top/screen.h"
#include "tool/top/terminal.h"

namespace weft::tool {
namespace {

constexpr uint64_t kIntervalMaxS = 3600;

struct TopOptions {
  ServerAccess server;
  bool insecure = false;
  uint64_t interval_s = 1;
  bool once = false;
  bool json = false;
};

// Follows one server over its restarts.
class Watcher {
 public:
  explicit Watcher(const ServerAccess& server) : server_(server) { view_.address = server.address; }

  // Asks once more. False: status() and the view say why there is nothing new.
  bool Look() {
    status_ = Ask();
    view_.trouble.clear();
    if (status_.ok()) return true;
    client_.reset();
    view_.activity.reset();
    view_.trouble = std::string(status_.message()) + "; trying again";
    return false;
  }
  const Status& status() const { return status_; }
  const View& view() const { return view_; }

 private:
  Status Ask() {
    if (!client_) {
      auto client = StatsClient::Connect(server_);
      if (!client) return client.error();
      client_ = std::move(*client);
    }
    auto sample = TakeSample(&*client_, base::NowNs);
    if (!sample) return sample.error();
    const bool follows = view_.sample.at_ns != 0 && sample->at_ns > view_.sample.at_ns &&
                         IsSameRun(view_.sample, *sample);
    if (follows) {
      view_.activity = ActivityBetween(view_.sample, *sample);
    } else {
      view_.activity.reset();
    }
    view_.sample = std::move(*sample);
    return {};
  }

  const ServerAccess server_;
  View view_;
  Status status_;
  std::optional<StatsClient> client_;
};

Exit CannotWatch(const Console& console, const TopOptions& options, const Status& status) {
  console.err << "weft top: " << options.server.address << ": " << status.message() << '\n';
  return Exit::kCannotRun;
}

// A line for each look, until nobody reads them.
Exit PrintLines(const Console& console, const TopOptions& options, Watcher* watcher) {
  while (true) {
    poll(nullptr, 0, static_cast<int>(options.interval_s * 1000));
    watcher->Look();
    console.out << (options.json ? JsonLine(watcher->view()) : LogLine(watcher->view())) << '\n';
    console.out.flush();
    if (!console.out.good()) return Exit::kCannotRun;
  }
}

Exit PrintOnce(const Console& console, const TopOptions& options, Watcher* watcher) {
  poll(nullptr, 0, static_cast<int>(options.interval_s * 1000));
  if (!watcher->Look()) return CannotWatch(console, options, watcher->status());
  if (options.json) {
    console.out << JsonLine(watcher->view()) << '\n';
  } else {
    for (const std::string& line : ScreenLines(watcher->view(), 0)) console.out << line << '\n';
  }
  console.out.flush();
  return console.out.good() ? Exit::kOk : Exit::kCannotRun;
}

Exit ShowScreens(const TopOptions& options, Watcher* watcher) {
  Terminal terminal;
  uint64_t next_ns = base::NowNs() + options.interval_s * 1'000'000'000;
  while (true) {
    const uint64_t now_ns = base::NowNs();
    if (now_ns >= next_ns) {
      watcher->Look();
      next_ns = now_ns + options.interval_s * 1'000'000'000;
    }
    const ScreenSize size = Terminal::Size();
    std::vector<std::string> lines = ScreenLines(watcher->view(), size.columns);
    lines.emplace_back("q: quit");
    if (!terminal.Show(FitRows(std::move(lines), size.rows, size.columns), size))
      return Exit::kCannotRun;
    const uint64_t left_ns = next_ns - std::min(next_ns, base::NowNs());
    if (terminal.Wait(static_cast<int>(left_ns / 1'000'000) + 1) == Terminal::Event::kQuit)
      return Exit::kOk;
  }
}

}  // namespace

Exit RunTop(const Console& console, const std::vector<std::string>& arguments) {
  CommandLine line("Shows what a server is doing: rates, latencies, memory, pipeline.", "weft",
                   "Exit status: 0; 2 the server could not be reached, or does not answer.");
  TopOptions options;
  Arguments top = line.AddCommand("top", "show what a server is doing, each second");
  top.AddOptionalWord("SERVER",
                      "HOST, HOST:PORT or the path of a Unix socket (default 127.0.0.1:11211); a "
                      "server of memcached will do",
                      &options.server.address);
  top.AddOption("--interval", "S", "seconds from one look to the next (default 1)",
                &options.interval_s, kIntervalMaxS);
  top.AddFlag("--once", "print one interval, and end", &options.once);
  top.AddFlag("--json", "print lines of JSON", &options.json);
  top.AddOption("-Y,--auth-file", "FILE",
                "log in where the server asks for it: the first line is user:password",
                &options.server.password_path);
  net::TlsClientOptions& tls = options.server.tls_options;
  top.AddFlag("--tls", "speak TLS", &options.server.tls);
  top.AddOption("--cacert", "FILE",
                "with --tls: authorities that the server's certificate may come from (default: the "
                "system's)",
                &tls.ca_path);
  top.AddOption("--cert", "FILE", "with --tls: this client's certificate", &tls.certificate_path);
  top.AddOption("--key", "FILE", "its key, if it is not in the same file", &tls.key_path);
  top.AddFlag("--insecure", "with --tls: take any certificate, whatever its name",
              &options.insecure);
  std::vector<std::string> words = {"top"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::string text;
  switch (line.Parse(words, &text)) {
    case CommandLine::Outcome::kHelp: console.out << text; return Exit::kOk;
    case CommandLine::Outcome::kWrong: console.err << text << '\n'; return Exit::kCannotRun;
    case CommandLine::Outcome::kNamed: break;
  }
  if (options.interval_s == 0) {
    console.err << "weft top: --interval must be a number from 1 to " << kIntervalMaxS << '\n';
    return Exit::kCannotRun;
  }
  const bool names_tls = options.insecure || !tls.ca_path.empty() ||
                         !tls.certificate_path.empty() || !tls.key_path.empty();
  if (names_tls && !options.server.tls) {
    console.err << "weft top: --cacert, --cert, --key and --insecure need --tls\n";
    return Exit::kCannotRun;
  }
  if (!tls.key_path.empty() && tls.certificate_path.empty()) {
    console.err << "weft top: --key needs --cert\n";
    return Exit::kCannotRun;
  }
  tls.verify = !options.insecure;
  Watcher watcher(options.server);
  if (!watcher.Look()) return CannotWatch(console, options, watcher.status());
  if (options.once) return PrintOnce(console, options, &watcher);
  if (options.json || !Terminal::IsThere()) return PrintLines(console, options, &watcher);
  return ShowScreens(options, &watcher);
}

}  // namespace weft::tool
