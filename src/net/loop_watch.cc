// Which connections a loop closes for what they do not do: those that are idle for too long, and
// those whose peer is gone while nothing is received from them.
#include <poll.h>

#include <algorithm>
#include <vector>

#include "net/loop_core.h"
#include "net/tls_session.h"

namespace weft::net {
namespace {

// Each connection that is not read from is looked at once in so long.
constexpr size_t kRoundMs = 1000;

}  // namespace

// Whether it is in the middle of something, so that it is not idle however long it takes. As in
// memcached, a peer on a Unix socket may be silent for ever: the system tells when it is gone.
bool LoopCore::IsBusy(const Connection& connection) {
  return connection.transport_ == Transport::kUnix || connection.held_ ||
         connection.input_room_.waits() || connection.output_room_.waits() ||
         connection.unsent() > 0 || connection.swallow_bytes_ > 0 ||
         connection.expected_bytes_ > connection.partial_.size();
}

void LoopCore::CloseIdle() {
  next_idle_sweep_ms_ = now_ms_ + std::max<uint64_t>(options_.idle_timeout_ms / 8, 1);
  for (size_t i = connections_.size(); i-- > 0;) {  // backwards: Close moves the last one here
    Connection& connection = *connections_[i];
    const uint64_t idle_ms = now_ms_ - std::min(now_ms_, connection.last_active_ms());
    if (IsBusy(connection) || idle_ms < options_.idle_timeout_ms) continue;
    idle_closed_.Add(1);
    Close(connection);
  }
}

// Of one whose peer has sent its last byte: whether the rest of its request is not among those that
// are here.
bool LoopCore::WaitsInVain(const Connection& connection) {
  // A session may keep a record that is not whole.
  const size_t kept = connection.tls_ == nullptr ? 0 : TlsSession::kRecordBytes;
  return connection.input_room_.waits() && !connection.recv_armed_ &&
         connection.expected_bytes_ >
             connection.partial_.size() + kept + UnreadBytes(connection.fd_);
}

// A loop that does not receive from a connection may not be told that the peer is gone: io_uring
// has nothing with the system then, and epoll says it once, perhaps before the connection began to
// wait. Without this look it kept its seat, and its place among those who wait, for as long as
// others hold the room. Nor does anybody say that the rest of a small request has come.
// A part of all at each tick, so that no turn is long.
void LoopCore::LookForGone() {
  const size_t all = connections_.size();
  const size_t part = all * static_cast<size_t>(options_.tick_ms) / kRoundMs + 1;
  std::vector<pollfd> sockets;
  std::vector<Connection*> owners;
  for (size_t i = 0; i < std::min(part, all); ++i) {
    if (next_watched_ >= all) next_watched_ = 0;
    Connection* const connection = connections_[next_watched_++];
    EndSlowHandshake(*connection);
    if (connection->MayRead() || connection->doomed_) continue;
    sockets.push_back({connection->fd_, POLLIN | POLLRDHUP, 0});
    owners.push_back(connection);
  }
  if (sockets.empty() || poll(sockets.data(), sockets.size(), 0) <= 0) return;
  for (size_t i = 0; i < sockets.size(); ++i) {
    Connection& connection = *owners[i];
    const short events = sockets[i].revents;
    const bool gone = (events & (POLLERR | POLLHUP)) != 0;
    if ((events & POLLERR) != 0 || (gone && connection.unsent() > 0)) {
      connection.doomed_ = true;  // what is still to be sent cannot be
    } else if ((gone || (events & POLLRDHUP) != 0) && WaitsInVain(connection)) {
      connection.at_end_ = true;
    } else if (events == 0 || !EndWaitIfHere(connection)) {
      continue;
    }
    Touch(connection);
  }
}

}  // namespace weft::net
