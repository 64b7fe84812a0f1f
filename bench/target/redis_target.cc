#include "bench/target/redis_target.h"

#include <charconv>

#include <fmt/format.h>

#include "bench/harness/peer.h"
#include "bench/target/foreign_records.h"
#include "bench/target/redis_session.h"

namespace weft::bench {
namespace {

// Is this one whole bulk string or one line?
bool IsWholeReply(std::string_view text) {
  const size_t line_end = text.find("\r\n");
  if (line_end == std::string_view::npos) return false;
  if (text[0] != '$') return true;
  size_t bytes = 0;
  std::from_chars(text.data() + 1, text.data() + line_end, bytes);
  return text.size() >= line_end + 2 + bytes + 2;
}

// What follows `name` on its line of an INFO text; empty where it isn't there.
std::string FieldOf(std::string_view info, std::string_view name) {
  const size_t at = info.find(fmt::format("\n{}:", name));
  if (at == std::string_view::npos) return "";
  const std::string_view rest = info.substr(at + name.size() + 2);
  return std::string(rest.substr(0, rest.find_first_of("\r\n")));
}

// Of all its databases: "db0:keys=5,expires=0,..." each.
Result<uint64_t> KeysAt(const Address& address) {
  auto info = Ask(address, "INFO keyspace\r\n", IsWholeReply);
  if (!info) return info.error();
  if (!info->starts_with('$'))
    return Status(Code::kUnsupported, fmt::format("{} does not report its keys: {}",
                                                  address.ToString(), info->substr(0, 60)));
  constexpr std::string_view kName = ":keys=";
  uint64_t keys = 0;
  for (size_t at = 0; (at = info->find(kName, at)) != std::string::npos;) {
    at += kName.size();
    uint64_t of_one = 0;
    std::from_chars(info->data() + at, info->data() + info->size(), of_one);
    keys += of_one;
  }
  return keys;
}

// Bytes that it may take; 0: no limit, or it does not tell.
uint64_t MemoryAt(const Address& address) {
  auto info = Ask(address, "INFO memory\r\n", IsWholeReply);
  if (!info) return 0;
  const std::string text = FieldOf(*info, "maxmemory");
  uint64_t bytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), bytes);
  return bytes;
}

// "redis 7.0.15"; who took its place tells their version beside redis'.
Result<std::string> RedisTitle(const Address& address) {
  const auto info = Ask(address, "INFO server\r\n", IsWholeReply);
  if (!info) return info.error();
  for (const char* name : {"dragonfly", "valkey", "keydb", "redis"}) {
    const std::string version = FieldOf(info.value(), fmt::format("{}_version", name));
    if (!version.empty()) return fmt::format("{} {}", name, version);
  }
  return Status(Code::kInvalidArgument,
                fmt::format("{} is not a redis server: it answers {}", address.ToString(),
                            info.value().substr(0, 60)));
}

class RedisTarget final : public Target {
 public:
  RedisTarget(Address address, const TargetOptions& options, const RecordFormat& format,
              std::string title, std::unique_ptr<Peer> peer)
      : address_(std::move(address)),
        options_(options),
        format_(format),
        title_(std::move(title)),
        peer_(std::move(peer)) {}

  std::string Title() const override { return title_; }
  nlohmann::json Settings() const override {
    nlohmann::json settings = {
        {"address", address_.ToString()},
        {"insert", options_.scans ? "SET and ZADD to the index" : "SET"},
        {"reads submitted together", options_.multi_get ? "one MGET" : "pipelined GETs"}};
    if (peer_ == nullptr) {
      if (const uint64_t bytes = MemoryAt(address_); bytes != 0)
        settings["memory_mb"] = bytes >> 20;
      return settings;
    }
    settings["command"] = peer_->command_line();
    settings["memory_mb"] = options_.memory_mb;
    settings["threads"] = options_.threads;
    if (!options_.cpus.empty()) settings["cpus"] = options_.cpus;
    return settings;
  }
  std::string WhyNot(OperationKind kind) const override {
    if (kind != OperationKind::kScan || options_.scans) return "";
    return "the target was opened without scans, so it has no index of keys";
  }
  Result<std::unique_ptr<Session>> NewSession() override {
    auto stream = Stream::Open(address_);
    if (!stream) return stream.error();
    return std::unique_ptr<Session>(std::make_unique<RedisSession>(
        std::move(*stream), format_, RedisSessionOptions{options_.multi_get, options_.scans}));
  }
  Status Clear() override {
    if (peer_ == nullptr) {
      Status status = MayRemoveAll(address_, options_.wipe, [this] { return KeysAt(address_); });
      if (!status.ok()) return status;
    }
    const auto answer = Ask(address_, "FLUSHALL\r\n", IsWholeReply);
    if (!answer) return answer.error();
    if (answer.value() == "+OK\r\n") return Status::Ok();
    return Status(Code::kUnsupported, "FLUSHALL was answered with: " + answer.value());
  }
  std::vector<pid_t> Processes() const override {
    if (peer_ != nullptr) return {peer_->process().pid()};
    return ProcessesAt(address_);
  }
  bool is_embedded() const override { return false; }

 private:
  const Address address_;
  const TargetOptions options_;
  const RecordFormat& format_;
  const std::string title_;
  const std::unique_ptr<Peer> peer_;  // nullptr: somebody else's
};

}  // namespace

Result<std::unique_ptr<Target>> OpenRedis(const Address& address, const TargetOptions& options,
                                          const RecordFormat& format) {
  auto title = RedisTitle(address);
  if (!title) return title.error();
  return std::unique_ptr<Target>(
      std::make_unique<RedisTarget>(address, options, format, std::move(*title), nullptr));
}

Result<std::unique_ptr<Target>> StartRedis(const PeerSpec& program, const TargetOptions& options,
                                           const RecordFormat& format) {
  PeerSpec spec{"redis", program.path, ""};
  spec.command = fmt::format(
      "{{path}} --bind 127.0.0.1 --port {{port}} --save {{empty}} --appendonly no"
      " --maxmemory {{memory_mb}}mb --maxmemory-policy {} --io-threads {{threads}}",
      options.scans ? "noeviction" : "allkeys-lru");
  auto peer = Peer::Start(
      spec, {.memory_mb = options.memory_mb, .threads = options.threads, .cpus = options.cpus});
  if (!peer) return peer.error();
  const Address address{"127.0.0.1", (*peer)->port(), ""};
  auto title = RedisTitle(address);
  if (!title) return title.error();
  return std::unique_ptr<Target>(
      std::make_unique<RedisTarget>(address, options, format, std::move(*title), std::move(*peer)));
}

}  // namespace weft::bench
