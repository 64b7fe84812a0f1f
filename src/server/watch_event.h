// server/watch_event.h: what watchers are told of: events as workers record them, and their lines.
//
// An event is a few numbers and a text: a key, an address. A worker copies it (WatchPost::Note),
// and the hub's thread makes its line (watch_hub.h). Neither values nor passwords are in one.
//
// Threads   pure.
// Source    the lines of memcached 1.6.18 as observed; `deleted` and `conntlserr` as the protocol
//           document of later releases has them; `pipeline` is Weft's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "protocol/request.h"

namespace weft::server {

enum class WatchType : uint8_t {
  kItemGet,
  kItemStore,
  kEviction,
  kDeleted,
  kConnNew,
  kConnClose,
  kTlsError,
  kPipeline,
};

// The class of events that a watcher must have asked for: one of protocol::kWatch...
uint32_t WatchClassOf(WatchType type);

enum class WatchStatus : uint8_t {
  kNotFound,
  kFound,
  kFlushed,
  kExpired,
  kStored,
  kNotStored,
  kExists,
  kTooLarge,
  kNoMemory,
};

enum class WatchCommand : uint8_t {
  kNone,
  kSet,
  kAdd,
  kReplace,
  kAppend,
  kPrepend,
  kCas,
  kDelete,
  kMetaDelete,
};

enum class WatchTransport : uint8_t { kTcp, kLocal };
enum class CloseReason : uint8_t { kError, kNormal, kIdleTimeout, kShutdown };

// An event without its text. Which members count depends on the type.
struct WatchEvent {
  uint64_t number = 0;   // rises over all workers
  uint64_t time_us = 0;  // since 1970
  uint64_t size = 0;     // of the value, in bytes
  int64_t ttl_s = 0;     // -1, of an eviction: it would never end
  uint32_t idle_s = 0;   // since it was last used
  int32_t fd = -1;
  uint16_t port = 0;
  uint16_t text_bytes = 0;
  WatchType type = WatchType::kItemGet;
  WatchStatus status = WatchStatus::kNotFound;
  WatchCommand command = WatchCommand::kNone;
  WatchTransport transport = WatchTransport::kTcp;
  CloseReason reason = CloseReason::kError;
  bool was_read = false;
};
static_assert(std::is_trivially_copyable_v<WatchEvent>);

// A longer text is cut off.
inline constexpr size_t kWatchTextBytesMax = 512;
inline constexpr size_t kWatchLineBytesMax = 3 * kWatchTextBytesMax + 256;

// Writes the event's line with its end; returns the line's end.
// REQUIRES: room for kWatchLineBytesMax, text.size() <= kWatchTextBytesMax
char* WriteWatchLine(const WatchEvent& event, std::string_view text, char* out);

}  // namespace weft::server
