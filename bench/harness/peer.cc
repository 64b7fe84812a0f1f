#include "bench/harness/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/posix_fd.h"
#include "bench/harness/address.h"

namespace weft::bench {
namespace {

struct KnownServer {
  const char* program;
  const char* command;
  bool is_like_memcached;
};
constexpr double kLookS = 0.05;
constexpr int kVersionS = 1;  // for an answer
constexpr KnownServer kKnown[] = {
    {"weft",
     "{path} serve -l 127.0.0.1 -p {port} -U 0 -m {memory_mb} -c {connections} -t {threads}", true},
    {"memcached",
     "{path} {as_root} -l 127.0.0.1 -p {port} -U 0 -m {memory_mb} -c {connections} -t {threads}",
     true},
    {"pogocache", "{path} -h 127.0.0.1 -p {port} --threads {threads} --maxmemory {memory_mb}MB",
     false},
};

std::string ProgramOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string TemplateFor(const PeerSpec& spec) {
  if (!spec.command.empty()) return spec.command;
  for (const KnownServer& known : kKnown)
    if (ProgramOf(spec.path) == known.program) return known.command;
  return kKnown[1].command;  // a drop-in takes memcached's flags
}

void Replace(std::string* text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text->find(from, at)) != std::string::npos; at += to.size())
    text->replace(at, from.size(), to);
}

std::vector<std::string> Command(const PeerSpec& spec, const std::string& program,
                                 const PeerOptions& options, uint16_t port) {
  std::istringstream words(TemplateFor(spec) + " " + options.flags);
  std::vector<std::string> command;
  for (std::string word; words >> word;) {
    if (word == "{as_root}") {
      if (geteuid() == 0) command.insert(command.end(), {"-u", "root"});
      continue;
    }
    Replace(&word, "{empty}", "");
    Replace(&word, "{path}", program);
    Replace(&word, "{port}", std::to_string(port));
    Replace(&word, "{memory_mb}", std::to_string(options.memory_mb));
    Replace(&word, "{threads}", std::to_string(options.threads));
    Replace(&word, "{connections}", std::to_string(options.connections));
    command.push_back(word);
  }
  return command;
}

// A port nobody listens on now: the system picks one and we let it go again.
uint16_t FreePort() {
  const base::Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  uint16_t port = 0;
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &bytes) == 0)
    port = ntohs(address.sin_port);
  return port;
}

// The server's answer to "version", or "" while it does not listen.
std::string AskVersion(const Asker& ask, uint16_t port) {
  const auto ends = [](std::string_view text) { return text.ends_with('\n'); };
  auto answer = ask({"127.0.0.1", port, ""}, "version\r\n", ends, kVersionS);
  if (!answer) return "";
  return answer->substr(0, answer->find_last_not_of("\r\n") + 1);
}

bool Listens(uint16_t port) { return Connect({"127.0.0.1", port, ""}).has_value(); }

std::string EndOfLog(const std::string& path) {
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return text.size() > 400 ? text.substr(text.size() - 400) : text;
}

}  // namespace

bool IsLikeMemcached(const PeerSpec& spec) {
  return std::none_of(std::begin(kKnown), std::end(kKnown), [&](const KnownServer& known) {
    return ProgramOf(spec.path) == known.program && !known.is_like_memcached;
  });
}

PeerSpec SpecFromPath(const std::string& path, const std::string& command) {
  return {ProgramOf(path), path, command};
}

Result<std::unique_ptr<Peer>> Peer::Start(const PeerSpec& spec, const PeerOptions& options) {
  const auto program = FindProgram(spec.path);
  if (!program) return program.error();
  std::unique_ptr<Peer> peer(new Peer);
  peer->name_ = spec.name;
  peer->port_ = FreePort();
  const std::vector<std::string> command = Command(spec, program.value(), options, peer->port_);
  peer->command_line_ = fmt::format("{}", fmt::join(command, " "));
  const std::string log_path = fmt::format("/tmp/weft-bench-{}-{}.log", spec.name, peer->port_);
  auto process = Process::Start(command, options.cpus, log_path);
  if (!process) return process.error();
  peer->process_ = std::move(*process);
  const uint64_t end_ns = base::NowNs() + static_cast<uint64_t>(options.patience_s * 1e9);
  while (base::NowNs() < end_ns && !peer->process_->Ended()) {
    if (spec.answers_lines) peer->version_ = AskVersion(options.ask, peer->port_);
    if (spec.answers_lines ? !peer->version_.empty() : Listens(peer->port_)) {
      unlink(log_path.c_str());
      return peer;
    }
    usleep(static_cast<useconds_t>(kLookS * 1e6));
  }
  const std::string end = EndOfLog(log_path);
  unlink(log_path.c_str());
  return Status(Code::kIoError, fmt::format("{} is not up: {}", peer->command_line_, end));
}

}  // namespace weft::bench
