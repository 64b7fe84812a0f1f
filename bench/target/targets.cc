#include "bench/target/targets.h"

#include <unistd.h>

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

Result<std::string> ProgramOf(const std::string& server, const TargetOptions& options) {
  if (server == "weft") {
    if (access(options.weft_program.c_str(), X_OK) == 0) return options.weft_program;
    return Status(Code::kNotFound, options.weft_program + " is not built");
  }
  return FindProgram(server == "redis" ? "redis-server" : server);
}

Opened StartServer(const std::string& server, const TargetOptions& options,
                   const RecordFormat& format) {
  const bool is_path = server.find('/') != std::string::npos;
  if (!is_path && server != "weft" && server != "memcached" && server != "redis")
    return Status(
        Code::kInvalidArgument,
        fmt::format("cannot start \"{}\": it must be weft, memcached, redis or a path", server));
  const auto program = ProgramOf(server, options);
  if (!program) return program.error();
  PeerSpec spec = SpecFromPath(program.value());
  if (spec.name == "redis-server") return StartRedis(spec.path, options, format);
  return StartMemcached(spec, options, format);
}

template <const char* kName>
Opened OpenStoreNamed(const std::string&, const TargetOptions& options,
                      const RecordFormat& format) {
  return OpenDurable(kName, options, format);
}
Opened OpenCache(const std::string&, const TargetOptions& options, const RecordFormat& format) {
  return OpenWeftCache(options, format);
}

constexpr char kWeft[] = "weft";
constexpr char kLevelDb[] = "leveldb";
constexpr char kRocksDb[] = "rocksdb";

// Who adds a store adds a line.
struct Kind {
  const char* name;
  const char* argument;  // what stands behind "name:"; empty: nothing does
  const char* meaning;
  std::string missing;
  // `argument`: what stood there.
  Opened (*open)(const std::string& argument, const TargetOptions& options,
                 const RecordFormat& format);
};

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = {
      {"memcached", "HOST:PORT or a socket's path", "a running server", "", OpenMemcachedAt},
      {"redis", "HOST:PORT or a socket's path", "a running server", kNoRedis, OpenRedisAt},
      {"start", "weft, memcached, redis or a path", "a server that weft-bench starts", "",
       StartServer},
      {"weft-cache", "", "Weft's cache in this process", "", OpenCache},
      {kWeft, "", "Weft's durable store in this process", WhyUnavailable(kWeft),
       OpenStoreNamed<kWeft>},
      {kLevelDb, "", "LevelDB in this process", WhyUnavailable(kLevelDb), OpenStoreNamed<kLevelDb>},
      {kRocksDb, "", "RocksDB in this process", WhyUnavailable(kRocksDb), OpenStoreNamed<kRocksDb>},
      {"echo", "50us, echo:50us:100ms@2s", "answers after a known time, with a stall", "",
       OpenEcho},
  };
  return kinds;
}

std::string FormOf(const Kind& kind) {
  return *kind.argument == '\0' ? kind.name : fmt::format("{}:{}", kind.name, kind.argument);
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
    const bool takes_one = *kind.argument != '\0';
    if (takes_one == argument.empty() || (!takes_one && colon != std::string::npos))
      return Status(Code::kInvalidArgument,
                    fmt::format("\"{}\" must have the form {}", spec, FormOf(kind)));
    if (!kind.missing.empty())
      return Status(Code::kUnsupported, fmt::format("{}: {}", spec, kind.missing));
    return NamedKind{&kind, argument};
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
  return spec == kWeft || spec == kLevelDb || spec == kRocksDb;
}

bool IsThere(const std::string& spec) {
  return spec.starts_with("memcached:") || spec.starts_with("redis:");
}

std::vector<LocalTarget> LocalTargets(const TargetOptions& options) {
  std::vector<LocalTarget> targets;
  for (const Kind& kind : Kinds())
    if (*kind.argument == '\0') targets.push_back({kind.name, kind.missing});
  for (const char* server : {"weft", "memcached", "redis"}) {
    const auto program = ProgramOf(server, options);
    std::string why = program ? "" : std::string(program.error().message());
    if (why.empty() && server == std::string_view("redis")) why = kNoRedis;
    targets.push_back({fmt::format("start:{}", server), why});
  }
  return targets;
}

}  // namespace weft::bench
