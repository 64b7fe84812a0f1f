#include "server/serve.h"

#include <sysexits.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include "base/mutex.h"
#include "server/log.h"
#include "server/metrics_page.h"
#include "server/new_file.h"
#include "server/notify.h"
#include "server/options.h"
#include "server/port_file.h"
#include "server/process.h"
#include "server/server.h"
#include "server/signals.h"

namespace weft::server {
namespace {

int Fail(const Status& status, int exit_status = EX_OSERR) {
  spdlog::error("{}", OneLine(status.message()));
  return exit_status;
}

// What must be had before the server exists: limits, and the rights of whom it shall run as.
Status PrepareProcess(const ServerOptions& options) {
  if (options.core_dumps) {
    Status status = RaiseCoreLimit();
    if (!status.ok()) return About("-r", status);
  }
  constexpr uint64_t kOtherFiles = 64;      // listeners, standard streams
  constexpr uint64_t kFilesPerThread = 16;  // of an event loop
  constexpr uint64_t kFilesOfData = 1024;   // of the durable store
  Status status =
      RaiseFileLimit(options.connections_max + kOtherFiles + kFilesPerThread * options.threads +
                     (options.data_dir.empty() ? 0 : kFilesOfData) +
                     (options.metrics_port < 0 ? 0 : HttpPage::kFilesMax));
  if (!status.ok()) return About(fmt::format("-c {}", options.connections_max), status);
  if (options.lock_memory) RaiseLockLimit();
  if (!options.data_dir.empty()) GiveBackLargePieces();
  if (IsRoot() && !options.user.empty()) return About("-u", BecomeUser(options.user));
  return {};
}

// What the operator must know of a server that serves: of one that can't, one line says why.
void SayWhatWasGiven(const ParsedOptions& parsed) {
  for (const std::string& note : parsed.notes) spdlog::info("{}", note);
  for (const std::string& warning : parsed.warnings) spdlog::warn("{}", warning);
  if (IsRoot())
    spdlog::warn("running as root; -u USER drops the rights that the server does not need");
}

// What the metrics page tells of: a server, while there is one. Before, it says that there is none,
// so that whoever watches a long start sees that it goes on.
class Watched final : public MetricsPage::Subject {
 public:
  // Null: there is none any more, and nobody looks at it when this returns.
  void Set(const Server* server) WEFT_EXCLUDES(mutex_) {
    base::MutexLock lock(&mutex_);
    server_ = server;
  }
  std::optional<ServerSnapshot> Snapshot() override WEFT_EXCLUDES(mutex_) {
    base::MutexLock lock(&mutex_);
    if (server_ == nullptr) return {};
    return server_->Snapshot({.latency = true});
  }
  bool IsReady() override WEFT_EXCLUDES(mutex_) {
    base::MutexLock lock(&mutex_);
    return server_ != nullptr && server_->IsServing();
  }

 private:
  base::Mutex mutex_;
  const Server* server_ WEFT_GUARDED_BY(mutex_) = nullptr;
};

// Shows a server to whoever asks; then it is destroyed before what it shows.
class Showing {
 public:
  Showing(Watched* watched, const Server* server) : watched_(watched) { watched_->Set(server); }
  ~Showing() { watched_->Set(nullptr); }
  Showing(const Showing&) = delete;
  Showing& operator=(const Showing&) = delete;

 private:
  Watched* const watched_;
};

Result<std::unique_ptr<MetricsPage>> OpenMetrics(const ServerOptions& options, Watched* watched) {
  if (options.metrics_port < 0) return std::unique_ptr<MetricsPage>();
  auto page = MetricsPage::Open(options, watched);
  if (!page)
    return About(fmt::format("--metrics-address {} --metrics-port {}", options.metrics_address,
                             options.metrics_port),
                 page.error());
  return page;
}

void SayStarted(const ServerOptions& options, const Server& server, const MetricsPage* metrics) {
  std::vector<std::string> addresses;
  for (const net::SocketAddress& address : server.Addresses())
    addresses.push_back(address.ToString());
  spdlog::info("{} serves {}: {} MiB, {} {}, {}", VersionLine(), fmt::join(addresses, ", "),
               options.memory_bytes >> 20, options.threads,
               options.threads == 1 ? "thread" : "threads", server.net_kind());
  if (metrics) spdlog::info("metrics on {}:{}", options.metrics_address, metrics->port());
}

// As memcached, it serves also where that can't be written.
void SayPorts(const ServerOptions& options, const Server& server) {
  const std::string lines = PortLines(server.Addresses());
  if (options.port_path.empty() || lines.empty()) return;
  const Status status = WriteNewFile("the port file", options.port_path, lines);
  if (!status.ok()) spdlog::warn("MEMCACHED_PORT_FILENAME: {}", OneLine(status.message()));
}

// Serves until it is told to stop.
Status ServeUntilStopped(const ParsedOptions& parsed, std::unique_ptr<Daemon> daemon) {
  const ServerOptions& options = parsed.server;
  Watched watched;
  auto metrics = OpenMetrics(options, &watched);
  if (!metrics) return metrics.error();
  auto server = Server::Create(options);
  if (!server) return server.error();
  const Showing showing(&watched, server->get());
  const StopSignals signals(server->get());
  if (options.lock_memory) {
    const Status locked = LockMemory();
    if (!locked.ok()) spdlog::warn("{}", locked.message());
  }
  std::unique_ptr<PidFile> pid_file;
  if (!options.pid_path.empty()) {
    auto written = PidFile::Write(options.pid_path);
    if (!written) return About("-P", written.error());
    pid_file = std::move(*written);
  }
  SayPorts(options, **server);
  SayWhatWasGiven(parsed);
  (*server)->SayHowItRuns();
  SayStarted(options, **server, metrics->get());
  if (daemon) {
    Status ready = daemon->Ready(options.verbosity > 0);
    if (!ready.ok()) return ready;
  }
  NotifyReady();
  Status status = (*server)->Run();
  if (status.ok()) (*server)->SaveMemory();
  spdlog::info("stopped");
  return status;
}

// Leaves whoever started the program behind. The parent does not return.
Result<std::unique_ptr<Daemon>> GoToBackground(ServerOptions* options) {
  net::TlsOptions none;
  net::TlsOptions* const tls = options->tls ? &*options->tls : &none;
  // Core files go where it was started; else no folder is to be kept busy.
  for (std::string* path :
       {&options->pid_path, &options->port_path, &options->unix_path, &options->data_dir,
        &options->calibration_path, &options->auth_path, &options->sasl_path, &options->memory_path,
        &tls->chain_path, &tls->key_path, &tls->ca_path}) {
    if (path->empty()) continue;
    std::error_code error;
    *path = std::filesystem::absolute(*path, error).string();
    if (error) return Status::FromErrno("cannot find the current folder", error.value());
  }
  auto daemon = Daemon::Fork();
  if (daemon && !options->core_dumps && chdir("/") != 0) return Status::FromErrno("chdir /", errno);
  return daemon;
}

int ServeAs(ParsedOptions parsed) {
  IgnoreSignalsOfOthers();
  ServerOptions& options = parsed.server;
  options.port_path = PortFileOfEnvironment();
  options.sasl_path = PasswordFile::PathOfEnvironment();
  StartLog(options.verbosity);
  OpenNotify();
  std::unique_ptr<Daemon> daemon;
  if (options.daemonize) {
    auto forked = GoToBackground(&options);
    if (!forked) return Fail(About("-d", forked.error()));
    daemon = std::move(*forked);
  }
  Status status = PrepareProcess(options);
  // Of what is asked for here only a user is looked up.
  if (!status.ok()) return Fail(status, status.code() == Code::kNotFound ? EX_NOUSER : EX_OSERR);
  status = ServeUntilStopped(parsed, std::move(daemon));
  return status.ok() ? EX_OK : Fail(status);
}

}  // namespace

int Serve(const std::vector<std::string>& words) {
  auto parsed = ParseOptions(words);
  if (!parsed) {
    std::fprintf(stderr, "weft: %s (see 'weft serve --help')\n",
                 OneLine(parsed.error().message()).c_str());
    return kBadUsage;
  }
  if (parsed->action == ParsedOptions::Action::kServe) return ServeAs(std::move(*parsed));
  std::fputs(parsed->text.c_str(), stdout);
  return EX_OK;
}

}  // namespace weft::server
