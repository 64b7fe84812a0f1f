// The program `weft`: reads the command line, asks the system for what a server needs, runs it.
#include <signal.h>
#include <sysexits.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string_view>

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include "server/log.h"
#include "server/metrics.h"
#include "server/options.h"
#include "server/process.h"
#include "server/server.h"
#include "tool/db_command.h"
#include "tool/calibrate_command.h"
#include "tool/devices_command.h"
#include "tool/plan_command.h"

namespace weft::server {
namespace {

std::atomic<Server*> running_server{nullptr};
static_assert(std::atomic<Server*>::is_always_lock_free);  // read in a signal handler

void StopRunningServer(int) {
  if (Server* const server = running_server.load()) server->Stop();
}

// The first signal ends the server gracefully, a second one at once.
void CatchSignals(Server* server, bool daemonized) {
  running_server.store(server);
  struct sigaction stop = {};
  stop.sa_handler = StopRunningServer;
  stop.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  for (int number : {SIGINT, SIGTERM, SIGUSR1}) sigaction(number, &stop, nullptr);
  // A terminal that closes ends what runs in it, but not what has left it.
  if (daemonized) {
    signal(SIGHUP, SIG_IGN);
  } else {
    sigaction(SIGHUP, &stop, nullptr);
  }
}

int Fail(const Status& status) {
  spdlog::error("{}", status.message());
  return status.code() == Code::kNotFound ? EX_NOUSER : EX_OSERR;
}

// What must be had before the server exists: limits, and the rights of whom it shall run as.
Status PrepareProcess(const ServerOptions& options) {
  if (options.core_dumps) {
    Status status = RaiseCoreLimit();
    if (!status.ok()) return status;
  }
  constexpr uint64_t kOtherFiles = 64;      // listeners, standard streams
  constexpr uint64_t kFilesPerThread = 16;  // of an event loop
  constexpr uint64_t kFilesOfData = 1024;   // of the durable store
  Status status =
      RaiseFileLimit(options.connections_max + kOtherFiles + kFilesPerThread * options.threads +
                     (options.data_dir.empty() ? 0 : kFilesOfData) +
                     (options.metrics_port < 0 ? 0 : HttpPage::kFilesMax));
  if (!status.ok()) return status;
  if (options.lock_memory) RaiseLockLimit();
  if (!IsRoot()) return {};
  if (!options.user.empty()) return BecomeUser(options.user);
  spdlog::warn("running as root: -u USER would give up rights that serving does not need");
  return {};
}

Result<std::unique_ptr<MetricsPage>> OpenMetrics(const ServerOptions& options, Server* server) {
  if (options.metrics_port < 0) return std::unique_ptr<MetricsPage>();
  return MetricsPage::Open(options.metrics_address, static_cast<uint16_t>(options.metrics_port),
                           [server] { return server->Snapshot(false); });
}

void SayStarted(const ServerOptions& options, const Server& server, const MetricsPage* metrics) {
  spdlog::info("{} serves {}: {} MiB, {} {}, {}", VersionLine(),
               fmt::join(server.Addresses(), ", "), options.memory_bytes >> 20, options.threads,
               options.threads == 1 ? "thread" : "threads", server.net_kind());
  if (metrics) spdlog::info("metrics on {}:{}", options.metrics_address, metrics->port());
}

// Serves until it is told to stop.
Status ServeUntilStopped(const ServerOptions& options, std::unique_ptr<Daemon> daemon) {
  auto server = Server::Create(options);
  if (!server) return server.error();
  if (options.lock_memory) {
    const Status locked = LockMemory();
    if (!locked.ok()) spdlog::warn("{}", locked.message());
  }
  auto metrics = OpenMetrics(options, server->get());
  if (!metrics) return metrics.error();
  std::unique_ptr<PidFile> pid_file;
  if (!options.pid_path.empty()) {
    auto written = PidFile::Write(options.pid_path);
    if (!written) return written.error();
    pid_file = std::move(*written);
  }
  CatchSignals(server->get(), daemon != nullptr);
  SayStarted(options, **server, metrics->get());
  if (daemon) {
    Status ready = daemon->Ready(options.verbosity > 0);
    if (!ready.ok()) return ready;
  }
  Status status = (*server)->Run();
  running_server.store(nullptr);
  spdlog::info("stopped");
  return status;
}

int Serve(ParsedOptions parsed) {
  ServerOptions& options = parsed.server;
  StartLog(options.verbosity);
  for (const std::string& note : parsed.notes) spdlog::info("{}", note);
  for (const std::string& warning : parsed.warnings) spdlog::warn("{}", warning);
  signal(SIGPIPE, SIG_IGN);

  std::unique_ptr<Daemon> daemon;
  if (options.daemonize) {
    // Core files go where it was started; else no folder is to be kept busy.
    for (std::string* path : {&options.pid_path, &options.unix_path, &options.data_dir}) {
      std::error_code error;
      if (!path->empty()) *path = std::filesystem::absolute(*path, error).string();
    }
    auto forked = Daemon::Fork();
    if (!forked) return Fail(forked.error());
    daemon = std::move(*forked);
    if (!options.core_dumps && chdir("/") != 0) return EX_OSERR;
  }
  Status status = PrepareProcess(options);
  if (status.ok()) status = ServeUntilStopped(options, std::move(daemon));
  return status.ok() ? EX_OK : Fail(status);
}

}  // namespace
}  // namespace weft::server

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "db") {
    std::ios::sync_with_stdio(false);
    const weft::tool::Console console{weft::PosixFileSystem(), std::cout, std::cerr};
    return static_cast<int>(weft::tool::RunDb(console, {argv + 2, argv + argc}));
  }
  if (argc > 1 && std::string_view(argv[1]) == "devices") {
    const weft::tool::Console console{weft::PosixFileSystem(), std::cout, std::cerr};
    return static_cast<int>(weft::tool::RunDevices(console, {argv + 2, argv + argc}));
  }
  if (argc > 1 && std::string_view(argv[1]) == "calibrate") {
    const weft::tool::Console console{weft::PosixFileSystem(), std::cout, std::cerr};
    return static_cast<int>(weft::tool::RunCalibrate(console, {argv + 2, argv + argc}));
  }
  if (argc > 1 && std::string_view(argv[1]) == "plan") {
    const weft::tool::Console console{weft::PosixFileSystem(), std::cout, std::cerr};
    return static_cast<int>(weft::tool::RunPlan(console, {argv + 2, argv + argc}));
  }
  auto parsed = weft::server::ParseOptions(argc, argv);
  if (!parsed) {
    std::fprintf(stderr, "weft: %s\nTry 'weft serve --help'.\n",
                 std::string(parsed.error().message()).c_str());
    return 1;
  }
  if (parsed->action == weft::server::ParsedOptions::Action::kPrint) {
    std::fputs(parsed->text.c_str(), stdout);
    return 0;
  }
  return weft::server::Serve(std::move(*parsed));
}
