#include "bench/target/memcached_target.h"

#include <charconv>

#include <fmt/format.h>

#include "bench/target/ask_tls.h"
#include "bench/target/binary_session.h"
#include "bench/target/foreign_records.h"
#include "bench/target/memcached_session.h"

namespace weft::bench {
namespace {

constexpr double kCalibrationS = 120;  // with a device Weft may measure the machine first
constexpr int kAnswerS = 10;

Result<std::string> AskLine(const Asker& ask, const Address& address, std::string_view request) {
  const auto whole = [](std::string_view text) { return text.ends_with("\r\n"); };
  auto answer = ask(address, request, whole, kAnswerS);
  if (answer) answer->resize(answer->size() - 2);
  return answer;
}

Result<std::string> AskStats(const Asker& ask, const Address& address, std::string_view group) {
  const auto whole = [](std::string_view text) {
    return text.ends_with("END\r\n") || text.find("ERROR") != std::string_view::npos;
  };
  return ask(address, fmt::format("stats{}\r\n", group), whole, kAnswerS);
}

// The number `name` of its stats.
Result<uint64_t> StatAt(const Asker& ask, const Address& address, std::string_view name) {
  auto stats = AskStats(ask, address, "");
  if (!stats) return stats.error();
  const std::string start = fmt::format("STAT {} ", name);
  const size_t at = stats->find(start);
  uint64_t number = 0;
  if (at == std::string::npos ||
      std::from_chars(stats->data() + at + start.size(), stats->data() + stats->size(), number)
              .ec != std::errc())
    return Status(Code::kUnsupported,
                  fmt::format("{} does not report its {}", address.ToString(), name));
  return number;
}

Result<uint64_t> ItemsAt(const Asker& ask, const Address& address) {
  auto items = StatAt(ask, address, "curr_items");
  if (!items || *items != 0) return items;
  // Weft counts what is in memory. What lies in a folder of `--data` is removed all the same.
  auto data = AskStats(ask, address, " data");
  if (!data) return data.error();
  if (data->starts_with("STAT "))
    return Status(Code::kInvalidArgument,
                  address.ToString() +
                      " keeps records on disk and does not report how many; a run would remove "
                      "all of them; --wipe allows it");
  return items;
}

class MemcachedTarget final : public Target {
 public:
  MemcachedTarget(Address address, const TargetOptions& options, const RecordFormat& format,
                  std::string title, std::unique_ptr<Peer> peer)
      : address_(std::move(address)),
        ask_(AskerOf(options.tls)),
        options_(options),
        format_(format),
        title_(std::move(title)),
        peer_(std::move(peer)) {}

  std::string Title() const override { return title_; }
  nlohmann::json Settings() const override {
    nlohmann::json settings = {
        {"address", address_.ToString()},
        {"insert", "set"},
        {"reads submitted together", options_.multi_get ? "one multi-get" : "pipelined gets"}};
    if (peer_ == nullptr) {
      if (auto bytes = StatAt(ask_, address_, "limit_maxbytes"))
        settings["memory_mb"] = *bytes >> 20;
      return settings;
    }
    settings["command"] = peer_->command_line();
    settings["memory_mb"] = options_.memory_mb;
    settings["threads"] = options_.threads;
    if (!options_.cpus.empty()) settings["cpus"] = options_.cpus;
    return settings;
  }
  std::string WhyNot(OperationKind kind) const override {
    return kind == OperationKind::kScan ? "memcached's protocol has no order of keys" : "";
  }
  Result<std::unique_ptr<Session>> NewSession() override {
    auto stream = Stream::Open(address_, options_.tls.get());
    if (!stream) return stream.error();
    if (options_.binary)
      return std::unique_ptr<Session>(std::make_unique<BinarySession>(std::move(*stream), format_));
    return std::unique_ptr<Session>(
        std::make_unique<MemcachedSession>(std::move(*stream), format_, options_.multi_get));
  }
  Status Clear() override {
    if (peer_ == nullptr) {
      Status status =
          MayRemoveAll(address_, options_.wipe, [this] { return ItemsAt(ask_, address_); });
      if (!status.ok()) return status;
    }
    const auto answer = AskLine(ask_, address_, "flush_all\r\n");
    if (!answer) return answer.error();
    if (answer.value() == "OK") return Status::Ok();
    return Status(Code::kUnsupported, "flush_all was answered with: " + answer.value());
  }
  std::vector<pid_t> Processes() const override {
    if (peer_ != nullptr) return {peer_->process().pid()};
    return ProcessesAt(address_);
  }
  bool is_embedded() const override { return false; }

 private:
  const Address address_;
  const Asker ask_;
  const TargetOptions options_;
  const RecordFormat& format_;
  const std::string title_;
  const std::unique_ptr<Peer> peer_;  // nullptr: somebody else's
};

// "VERSION 1.6.18" of `name`, as a title: "memcached 1.6.18".
std::string MemcachedTitle(const std::string& name, std::string_view answer) {
  constexpr std::string_view kWord = "VERSION ";
  if (answer.starts_with(kWord)) answer.remove_prefix(kWord.size());
  return fmt::format("{} {}", name, answer);
}

}  // namespace

Asker AskerOf(const std::shared_ptr<const TlsIdentity>& tls) {
  if (tls == nullptr) return Ask;
  return [tls](const Address& address, std::string_view request,
               const std::function<bool(std::string_view)>& whole,
               int patience_s) { return AskTls(*tls, address, request, whole, patience_s); };
}

Result<std::unique_ptr<Target>> OpenMemcached(const Address& address, const TargetOptions& options,
                                              const RecordFormat& format) {
  const auto version = AskLine(AskerOf(options.tls), address, "version\r\n");
  if (!version) return version.error();
  if (!version.value().starts_with("VERSION "))
    return Status(Code::kInvalidArgument,
                  address.ToString() + " is not a memcached server: it answers " + version.value());
  return std::unique_ptr<Target>(std::make_unique<MemcachedTarget>(
      address, options, format, MemcachedTitle("memcached", version.value()), nullptr));
}

Result<std::unique_ptr<Target>> StartMemcached(const PeerSpec& program,
                                               const TargetOptions& options,
                                               const RecordFormat& format) {
  PeerOptions how{.memory_mb = options.memory_mb, .threads = options.threads, .cpus = options.cpus};
  const bool is_weft = program.name == "weft";
  if (is_weft) how.flags = options.weft_flags;
  if (!how.flags.empty()) how.patience_s = kCalibrationS;
  const std::string shown_flags = how.flags;
  if (options.tls != nullptr) how.flags += " " + options.tls->ServerFlags();
  how.ask = AskerOf(options.tls);
  auto peer = Peer::Start(program, how);
  if (!peer) return peer.error();
  const Address address{"127.0.0.1", (*peer)->port(), ""};
  // Weft tells the version of memcached that it stands in for.
  std::string title = is_weft ? "Weft's server" : MemcachedTitle(program.name, (*peer)->version());
  if (!shown_flags.empty()) title += " " + shown_flags;
  return std::unique_ptr<Target>(
      std::make_unique<MemcachedTarget>(address, options, format, title, std::move(*peer)));
}

}  // namespace weft::bench
