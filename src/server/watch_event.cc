#include "server/watch_event.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "server/uri.h"

namespace weft::server {
namespace {

constexpr uint64_t kUsPerSecond = 1'000'000;

constexpr std::string_view kStatuses[] = {"not_found",  "found",  "flushed",   "expired",  "stored",
                                          "not_stored", "exists", "too_large", "no_memory"};
constexpr std::string_view kCommands[] = {"null",    "set", "add",    "replace", "append",
                                          "prepend", "cas", "delete", "md"};
constexpr std::string_view kTransports[] = {"tcp", "local"};
constexpr std::string_view kReasons[] = {"error", "normal", "idle_timeout", "shutdown"};

template <typename Enum, size_t N>
std::string_view NameOf(const std::string_view (&names)[N], Enum value) {
  return names[static_cast<size_t>(value)];
}

// All objects are of one class, and what is not there of none.
uint32_t ClassOfFound(const WatchEvent& event) {
  return event.status == WatchStatus::kFound ? 1 : 0;
}

// Addresses and messages, which come from elsewhere: no byte of theirs ends the line.
char* AppendPlain(std::string_view text, char* out) {
  return std::transform(text.begin(), text.end(), out, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < ' ' || byte == 0x7F ? '?' : c;
  });
}

char* WriteItem(const WatchEvent& e, std::string_view key, char* out) {
  switch (e.type) {
    case WatchType::kItemGet:
      out = AppendUri(key, fmt::format_to(out, "item_get key="));
      return fmt::format_to(out, " status={} clsid={} cfd={} size={}", NameOf(kStatuses, e.status),
                            ClassOfFound(e), e.fd, e.size);
    case WatchType::kItemStore:
      out = AppendUri(key, fmt::format_to(out, "item_store key="));
      return fmt::format_to(out, " status={} cmd={} ttl={} clsid=1 cfd={} size={}",
                            NameOf(kStatuses, e.status), NameOf(kCommands, e.command),
                            static_cast<uint32_t>(e.ttl_s), e.fd, e.size);
    case WatchType::kEviction:
      out = AppendUri(key, fmt::format_to(out, "eviction key="));
      return fmt::format_to(out, " fetch={} ttl={} la={} clsid=1 size={}",
                            e.was_read ? "yes" : "no", e.ttl_s, e.idle_s, e.size);
    default:
      out = AppendUri(key, fmt::format_to(out, "deleted key="));
      return fmt::format_to(out, " cmd={} clsid=1 size={}", NameOf(kCommands, e.command), e.size);
  }
}

char* WriteOther(const WatchEvent& e, std::string_view text, char* out) {
  switch (e.type) {
    case WatchType::kConnNew:
      out = AppendPlain(text, fmt::format_to(out, "conn_new rip="));
      return fmt::format_to(out, " rport={} transport={} cfd={}", e.port,
                            NameOf(kTransports, e.transport), e.fd);
    case WatchType::kConnClose:
      out = AppendPlain(text, fmt::format_to(out, "conn_close rip="));
      return fmt::format_to(out, " rport={} transport={} reason={} cfd={}", e.port,
                            NameOf(kTransports, e.transport), NameOf(kReasons, e.reason), e.fd);
    case WatchType::kTlsError:
      return AppendPlain(text, fmt::format_to(out, "conntlserr fd={} msg=", e.fd));
    default: return AppendUri(text, fmt::format_to(out, "pipeline plan="));
  }
}

}  // namespace

uint32_t WatchClassOf(WatchType type) {
  switch (type) {
    case WatchType::kItemGet: return protocol::kWatchFetchers;
    case WatchType::kItemStore: return protocol::kWatchMutations;
    case WatchType::kEviction: return protocol::kWatchEvictions;
    case WatchType::kDeleted: return protocol::kWatchDeletions;
    case WatchType::kConnNew:
    case WatchType::kConnClose:
    case WatchType::kTlsError: return protocol::kWatchConnections;
    case WatchType::kPipeline: return protocol::kWatchPipeline;
  }
  return 0;
}

// The part of a second is not padded: memcached writes it so, and its readers know.
char* WriteWatchLine(const WatchEvent& event, std::string_view text, char* out) {
  out = fmt::format_to(out, "ts={}.{} gid={} type=", event.time_us / kUsPerSecond,
                       event.time_us % kUsPerSecond, event.number);
  out = event.type <= WatchType::kDeleted ? WriteItem(event, text, out)
                                          : WriteOther(event, text, out);
  *out++ = '\n';
  return out;
}

}  // namespace weft::server
