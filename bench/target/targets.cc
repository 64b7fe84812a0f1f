#include "bench/target/targets.h"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

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

Opened OpenMemcachedAt(const std::string& where, const TargetOptions& options,
                       const RecordFormat& format) {
  const auto address = ParseAddress(where);
  return address ? OpenMemcached(address.value(), options, format) : Opened(address.error());
}

#ifdef WEFT_BENCH_HAS_HIREDIS
constexpr const char* kNoRedis = "";
Opened OpenRedisAt(const std::string& where, const TargetOptions& options,
                   const RecordFormat& format) {
  const auto address = ParseAddress(where);
  return address ? OpenRedis(address.value(), options, format) : Opened(address.error());
}
#else
constexpr const char* kNoRedis = "libhiredis-dev is not installed";
Opened OpenRedisAt(const std::string&, const TargetOptions&, const RecordFormat&) {
  return Status(Code::kUnsupported, kNoRedis);
}
Opened StartRedis(const std::string&, const TargetOptions&, const RecordFormat&) {
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

// A server that can be started by its name. To add one, add a line.
struct Server {
  const char* name;
  const char* program;  // of PATH; empty: TargetOptions::weft_program
  const char* missing;  // why this build can't speak to it; empty: it can
  bool scans;           // with an index that it keeps up
};
constexpr Server kServers[] = {
    {"weft", "", "", false},
    {"memcached", "memcached", "", false},
    {"redis", "redis-server", kNoRedis, true},
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

Opened StartServer(const std::string& server, const TargetOptions& options,
                   const RecordFormat& format) {
  if (server.find('/') == std::string::npos && ServerNamed(server) == nullptr)
    return Status(Code::kInvalidArgument,
                  fmt::format("cannot start \"{}\": it must be {}", server, ServersText()));
  const auto program = ProgramOf(server, options);
  if (!program) return program.error();
  PeerSpec spec = SpecFromPath(program.value());
  if (spec.name == "redis-server") return StartRedis(spec.path, options, format);
  return StartMemcached(spec, options, format);
}

Opened OpenCache(const std::string&, const TargetOptions& options, const RecordFormat& format) {
  return OpenWeftCache(options, format);
}

// To add a kind of store, add a line. Durable stores have theirs in StoreNames().
struct Kind {
  std::string name;
  std::string argument;  // what stands behind "name:"; empty: nothing does
  std::string meaning;
  std::string missing;
  // `argument`: what stood there; the name, where nothing does.
  Opened (*open)(const std::string& argument, const TargetOptions& options,
                 const RecordFormat& format);
};

std::vector<Kind> MakeKinds() {
  const std::string where = "HOST:PORT or a socket's path";
  std::vector<Kind> kinds = {
      {"memcached", where, "a running server", "", OpenMemcachedAt},
      {"redis", where, "a running server", kNoRedis, OpenRedisAt},
      {"start", ServersText(), "a server that weft-bench starts", "", StartServer},
      {"weft-cache", "", "Weft's cache in this process", "", OpenCache},
  };
  for (const std::string& store : StoreNames())
    kinds.push_back(
        {store, "", "a durable store in this process", WhyUnavailable(store), OpenDurable});
  kinds.push_back({"echo", "50us, echo:50us:100ms@2s", "answers after a known time, with a stall",
                   "", OpenEcho});
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
  const std::vector<std::string>& names = StoreNames();
  return std::find(names.begin(), names.end(), spec) != names.end();
}

bool IsThere(const std::string& spec) {
  return spec.starts_with("memcached:") || spec.starts_with("redis:");
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
