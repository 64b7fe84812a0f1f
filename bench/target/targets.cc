#include "bench/target/targets.h"

#include <unistd.h>

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "bench/harness/process.h"
#include "bench/target/durable_target.h"
#include "bench/target/echo_target.h"
#include "bench/target/memcached_target.h"
#include "bench/target/weft_cache_target.h"
#ifdef WEFT_BENCH_HAS_HIREDIS
#include "bench/target/redis_target.h"
#endif

namespace weft::bench {
namespace {

using Opened = Result<std::unique_ptr<Target>>;

#ifdef WEFT_BENCH_HAS_HIREDIS
constexpr const char* kNoRedis = "";
#else
constexpr const char* kNoRedis = "libhiredis-dev is not installed";
Opened OpenRedis(const Address&, const TargetOptions&, const RecordFormat&) {
  return Status(Code::kUnsupported, kNoRedis);
}
Opened StartRedis(const PeerSpec&, const TargetOptions&, const RecordFormat&) {
  return Status(Code::kUnsupported, kNoRedis);
}
#endif

Opened OpenEcho(const std::string& what, const TargetOptions&, const RecordFormat&) {
  const auto options = ParseEcho(what);
  if (!options) return options.error();
  auto target = EchoTarget::Open(options.value());
  if (!target) return target.error();
  return std::unique_ptr<Target>(std::move(*target));
}

// A server, as `start:NAME` and, where it runs, as `NAME:ADDRESS`. To add one, add a line.
struct Server {
  const char* name;
  const char* program;  // of PATH; empty: TargetOptions::weft_program
  const char* missing;  // why this build can't speak to it; empty: it can
  bool scans;           // with an index that it keeps up
  Opened (*start)(const PeerSpec& program, const TargetOptions& options,
                  const RecordFormat& format);
  // One that runs. Null: it is named by the protocol that it shares with another.
  Opened (*open)(const Address& address, const TargetOptions& options, const RecordFormat& format);
};
constexpr Server kServers[] = {
    {"weft", "", "", false, StartMemcached, nullptr},
    {"memcached", "memcached", "", false, StartMemcached, OpenMemcached},
    {"redis", "redis-server", kNoRedis, true, StartRedis, OpenRedis},
};

// Null: no such name, perhaps a path.
const Server* ServerNamed(const std::string& name) {
  for (const Server& server : kServers)
    if (name == server.name) return &server;
  return nullptr;
}

// "weft, memcached, redis or a path"
std::string ServersText() {
  std::string text;
  for (const Server& server : kServers)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", server.name);
  return text + " or a path";
}

Result<std::string> ProgramOf(const std::string& name, const TargetOptions& options) {
  const Server* const server = ServerNamed(name);
  if (server == nullptr || *server->program != '\0')
    return FindProgram(server == nullptr ? name : server->program);
  if (access(options.weft_program.c_str(), X_OK) == 0) return options.weft_program;
  return Status(Code::kNotFound, options.weft_program + " is not built");
}

// By its name or its path. A program that is none of the table takes memcached's flags.
Opened StartServer(const std::string& name, const TargetOptions& options,
                   const RecordFormat& format) {
  if (name.find('/') == std::string::npos && ServerNamed(name) == nullptr)
    return Status(Code::kInvalidArgument,
                  fmt::format("cannot start \"{}\": it must be {}", name, ServersText()));
  const auto program = ProgramOf(name, options);
  if (!program) return program.error();
  const PeerSpec spec = SpecFromPath(program.value());
  for (const Server& server : kServers)
    if (spec.name == server.program) return server.start(spec, options, format);
  return StartMemcached(spec, options, format);
}

Opened OpenCache(const std::string&, const TargetOptions& options, const RecordFormat& format) {
  return OpenWeftCache(options, format);
}

// What a target's name begins with. To add a store in this process, add a line to MakeKinds;
// servers have theirs in kServers, durable stores in StoreNames().
struct Kind {
  std::string name;
  std::string argument;  // what stands behind "name:"; empty: nothing does
  std::string meaning;
  std::string missing;
  bool durable;  // it loses nothing by itself
  // `argument`: what stood there; the name, where nothing does.
  std::function<Opened(const std::string& argument, const TargetOptions& options,
                       const RecordFormat& format)>
      open;
};

Kind RunningKind(const Server& server) {
  return {server.name,
          "HOST:PORT or a socket's path",
          "a running server",
          server.missing,
          false,
          [&server](const std::string& where, const TargetOptions& options,
                    const RecordFormat& format) -> Opened {
            const auto address = ParseAddress(where);
            return address ? server.open(address.value(), options, format)
                           : Opened(address.error());
          }};
}

std::vector<Kind> MakeKinds() {
  std::vector<Kind> kinds;
  for (const Server& server : kServers)
    if (server.open != nullptr) kinds.push_back(RunningKind(server));
  kinds.push_back(
      {"start", ServersText(), "a server that weft-bench starts", "", false, StartServer});
  kinds.push_back({"weft-cache", "", "Weft's cache in this process", "", false, OpenCache});
  for (const std::string& store : StoreNames())
    kinds.push_back(
        {store, "", "a durable store in this process", WhyUnavailable(store), true, OpenDurable});
  kinds.push_back({"echo", "50us, echo:50us:100ms@2s", "answers after a known time, with a stall",
                   "", false, OpenEcho});
  return kinds;
}

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = MakeKinds();
  return kinds;
}

std::string FormOf(const Kind& kind) {
  return kind.argument.empty() ? kind.name : fmt::format("{}:{}", kind.name, kind.argument);
}

}  // namespace

const std::vector<TargetForm>& TargetForms() {
  static const std::vector<TargetForm> forms = [] {
    std::vector<TargetForm> all;
    for (const Kind& kind : Kinds()) all.push_back({FormOf(kind), kind.meaning, kind.missing});
    return all;
  }();
  return forms;
}

namespace {

struct NamedKind {
  const Kind* kind = nullptr;
  std::string argument;
};

Result<NamedKind> KindOf(const std::string& spec) {
  const size_t colon = spec.find(':');
  const std::string name = spec.substr(0, colon);
  const std::string argument = colon == std::string::npos ? "" : spec.substr(colon + 1);
  std::string names;
  for (const Kind& kind : Kinds()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", kind.name);
    if (name != kind.name) continue;
    const bool takes_one = !kind.argument.empty();
    if (takes_one == argument.empty() || (!takes_one && colon != std::string::npos))
      return Status(Code::kInvalidArgument,
                    fmt::format("\"{}\" must have the form {}", spec, FormOf(kind)));
    if (!kind.missing.empty())
      return Status(Code::kUnsupported, fmt::format("{}: {}", spec, kind.missing));
    return NamedKind{&kind, takes_one ? argument : name};
  }
  return Status(Code::kInvalidArgument,
                fmt::format("\"{}\" is not a target; the targets are {}", spec, names));
}

}  // namespace

Result<std::unique_ptr<Target>> OpenTarget(const std::string& spec, const TargetOptions& options,
                                           const RecordFormat& format) {
  auto named = KindOf(spec);
  if (!named) return named.error();
  return named->kind->open(named->argument, options, format);
}

Status CheckTarget(const std::string& spec) {
  auto named = KindOf(spec);
  return named ? Status::Ok() : named.error();
}

bool IsDurable(const std::string& spec) {
  return std::ranges::any_of(Kinds(),
                             [&](const Kind& kind) { return kind.durable && kind.name == spec; });
}

bool IsThere(const std::string& spec) {
  const size_t colon = spec.find(':');
  const Server* const server = ServerNamed(spec.substr(0, colon));
  return colon != std::string::npos && server != nullptr && server->open != nullptr;
}

std::vector<LocalTarget> LocalTargets(const TargetOptions& options) {
  std::vector<LocalTarget> targets;
  for (const Kind& kind : Kinds())
    if (kind.argument.empty()) targets.push_back({kind.name, kind.missing});
  for (const Server& server : kServers) {
    const auto program = ProgramOf(server.name, options);
    std::string why = program ? server.missing : std::string(program.error().message());
    targets.push_back({fmt::format("start:{}", server.name), why});
  }
  return targets;
}

std::vector<std::string> ServersToStart(bool that_scan) {
  std::vector<std::string> specs;
  for (const Server& server : kServers)
    if (server.scans || !that_scan) specs.push_back(fmt::format("start:{}", server.name));
  return specs;
}

}  // namespace weft::bench
