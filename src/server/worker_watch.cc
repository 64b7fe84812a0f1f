// Clients that watch: they join, get their lines, and leave; and what others do that they are told
// of. See worker.h and watch_hub.h.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>

#include "cache/command.h"
#include "server/watch_query.h"
#include "server/worker.h"

namespace weft::server {
namespace {

constexpr std::string_view kNotAllowed = "CLIENT_ERROR watch commands not allowed\r\n";
constexpr std::string_view kPipelined = "ERROR cannot pipeline other commands before watch\r\n";
constexpr std::string_view kTooMany = "WATCHER_TOO_MANY log watcher limit reached\r\n";
constexpr std::string_view kFailed = "WATCHER_FAILED failed to add log watcher\r\n";

// Lines that a watcher's socket has not taken yet; the others wait in its ring.
constexpr size_t kUnsentBytesMax = size_t{64} << 10;
constexpr size_t kPieceBytesMax = size_t{16} << 10;

struct Address {
  std::string text = "unknown";
  uint16_t port = 0;
};

Address PeerAddress(const net::Connection& connection) {
  if (connection.transport() == net::Transport::kUnix) return {"unix", 0};
  sockaddr_storage storage;
  socklen_t bytes = sizeof storage;
  char text[INET6_ADDRSTRLEN];
  auto* const any = reinterpret_cast<sockaddr*>(&storage);
  if (getpeername(connection.fd(), any, &bytes) != 0) return {};
  if (storage.ss_family == AF_INET) {
    const auto* const v4 = reinterpret_cast<const sockaddr_in*>(&storage);
    return {inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text), ntohs(v4->sin_port)};
  }
  const auto* const v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
  return {inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text), ntohs(v6->sin6_port)};
}

WatchEvent ConnectionEvent(WatchType type, const net::Connection& connection, uint16_t port) {
  WatchEvent event;
  event.type = type;
  event.fd = connection.fd();
  event.port = port;
  event.transport = connection.transport() == net::Transport::kUnix ? WatchTransport::kLocal
                                                                    : WatchTransport::kTcp;
  return event;
}

}  // namespace

void Worker::NoteOpened(net::Connection& connection) {
  Address address = PeerAddress(connection);
  WatchPeer& watch = PeerOf(connection).watch_peer();
  options_.watch->Note(ConnectionEvent(WatchType::kConnNew, connection, address.port),
                       address.text);
  watch.address = std::move(address.text);
  watch.port = address.port;
}

void Worker::NoteClosed(const net::Connection& connection, const Peer& peer) {
  Address address;
  // Once its client has gone, the system may not know any more who that was.
  if (peer.watch != nullptr && !peer.watch->address.empty()) {
    address = {peer.watch->address, peer.watch->port};
  } else {
    address = PeerAddress(connection);
  }
  WatchEvent event = ConnectionEvent(WatchType::kConnClose, connection, address.port);
  const uint64_t idle_max_ms = options_.watch->hub().options().idle_timeout_ms;
  const uint64_t idle_ms = loop_ == nullptr ? 0 : loop_->now_ms() - connection.last_active_ms();
  event.reason = peer.close_reason;
  if (event.reason == CloseReason::kError && !peer.closing) {
    if (connection.at_end()) {
      event.reason = CloseReason::kNormal;
    } else if (options_.watch->hub().closing()) {
      event.reason = CloseReason::kShutdown;
    } else if (idle_max_ms != 0 && idle_ms >= idle_max_ms) {
      event.reason = CloseReason::kIdleTimeout;
    }
  }
  options_.watch->Note(event, address.text);
}

// `request` ends the connection.
void Worker::NoteReason(const protocol::Request& request, net::Connection& connection) {
  const bool is_shutdown = request.kind == protocol::RequestKind::kShutdown;
  const bool quits = request.kind == protocol::RequestKind::kQuit;
  if (is_shutdown || quits)
    PeerOf(connection).close_reason = is_shutdown ? CloseReason::kShutdown : CloseReason::kNormal;
}

// Leaves the answer in other_text_.
void Worker::BeginWatch(const protocol::Entered& entered, net::Connection& connection) {
  const uint32_t classes = work_->entered.RequestOf(entered).number;
  WatchPost* const post = options_.watch;
  if (post == nullptr || !post->hub().options().allowed) {
    other_text_ = kNotAllowed;
  } else if (entered.begin != 0 || connection.pending_output() != 0) {
    other_text_ = kPipelined;
  } else if ((classes & protocol::kWatchUnknown) != 0) {
    other_text_ = "ERROR\r\n";
  } else {
    auto watcher = post->hub().Join(classes, post, connection.id());
    if (!watcher) {
      other_text_ = watcher.error().code() == Code::kRetryLater ? kTooMany : kFailed;
      return;
    }
    PeerOf(connection).watch_peer().watcher = std::move(*watcher);
    watchers_.push_back(&connection);
    other_text_ = protocol::kOkText;
  }
}

// Nothing of it is read any more.
void Worker::HoldWatcher(net::Connection& connection) {
  connection.Consume(connection.readable().size());
  connection.ExpectBytes(0);
  connection.Hold();
}

void Worker::EndWatch(net::Connection& connection, const Peer& peer) {
  if (!peer.watches()) return;
  options_.watch->hub().Leave(peer.watch->watcher.get());
  std::erase(watchers_, &connection);
}

// What the sockets of watchers take, at most so much each at a time.
void Worker::SendLines() {
  for (net::Connection* const connection : watchers_) {
    ByteRing& lines = PeerOf(*connection).watch->watcher->lines;
    for (;;) {
      const size_t unsent = connection->pending_output();
      if (unsent >= kUnsentBytesMax) break;
      size_t bytes = std::min({lines.readable(), kPieceBytesMax, kUnsentBytesMax - unsent});
      size_t room = connection->OutputRoom();
      if (room < bytes) room += connection->TakeRoom(bytes - room);
      bytes = std::min(bytes, room);
      if (bytes == 0) break;
      char* const start = connection->Reserve(bytes);
      if (start == nullptr) break;
      lines.Read(start, bytes);
      connection->Commit(bytes);
    }
  }
}

// Nothing is received from those who watch. So it is looked whether they are still there.
void Worker::LookAfterWatchers() {
  const bool closing = options_.watch->hub().closing();
  for (net::Connection* const connection : watchers_) {
    pollfd socket = {connection->fd(), POLLRDHUP, 0};
    const bool gone = poll(&socket, 1, 0) > 0 || connection->at_end();
    if (gone || closing) connection->CloseNow();
  }
  SendLines();
}

// Of query `i`, which is about a key and was answered by `reply`.
void Worker::NoteWatched(const pipeline::Batch& batch, uint32_t i, const protocol::Request& request,
                         const cache::Reply& reply, const cache::Session& session) const {
  const Source& source = work_->sources[batch.source(i)];
  NoteQuery(*options_.watch, request, source.connection->fd(), batch, i, reply, session);
}

// Before its key goes, if it does.
void Worker::NoteWatchedTooLarge(const pipeline::Batch& batch, uint32_t i,
                                 const protocol::Request& request, cache::Session& session) {
  cache::Command look;
  look.quiet_access = true;
  look.key = batch.key(i);
  look.hash = batch.hash(i);
  const cache::Reply reply = store_->Execute(session, look);
  WatchedItem before;
  if (reply.outcome == Outcome::kHit) before = {WatchStatus::kFound, reply.value.size()};
  const Source& source = work_->sources[batch.source(i)];
  NoteTooLarge(*options_.watch, request, source.connection->fd(), look.key, before,
               session.now_s());
}

}  // namespace weft::server
