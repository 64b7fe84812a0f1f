#include "server/buffer_rooms.h"

#include <algorithm>

#include "net/buffer_pool.h"
#include "protocol/parse.h"

namespace weft::server {
namespace {

constexpr size_t kInputBytesMin = size_t{4} << 20;
constexpr size_t kOutputBytesMin = size_t{8} << 20;
constexpr size_t kShareOfMemoryMax = size_t{1} << 30;

size_t ShareOfMemory(const ServerOptions& options) {
  return std::min<size_t>(options.memory_bytes / 32, kShareOfMemoryMax);
}

// The block that the longest request with a value takes, or the longest reply with one.
size_t WholeBytes(const ServerOptions& options) {
  return net::BufferPool::BlockBytes(options.item_bytes_max + 2 * protocol::kLineBytesMax);
}

// With the fifth that is left to small ones.
size_t LaneBytes(const ServerOptions& options) {
  const size_t whole = WholeBytes(options);
  return whole + whole / 4;
}

}  // namespace

net::Room::Options InputRoom(const ServerOptions& options) {
  net::Room::Options room;
  room.tight_bytes = kInputBytesMin + ShareOfMemory(options);
  // Beyond that mark room is given for whole requests alone: for one at least, the longest line of
  // keys included.
  const size_t line = net::BufferPool::BlockBytes(protocol::ParseContext{}.read_line_bytes_max);
  room.bytes = room.tight_bytes + std::max(WholeBytes(options), line);
  room.lane_bytes = LaneBytes(options);
  room.newcomer_bytes = WholeBytes(options);
  room.newest_too = true;
  return room;
}

net::Room::Options OutputRoom(const ServerOptions& options) {
  net::Room::Options room;
  room.bytes = std::max(kOutputBytesMin + ShareOfMemory(options), WholeBytes(options));
  room.tight_bytes = room.bytes / 2;
  room.lane_bytes = LaneBytes(options);
  room.newcomer_bytes = WholeBytes(options);
  room.newest_too = true;
  room.waiters_drain = true;
  return room;
}

}  // namespace weft::server
