// What the io_uring loop does with bytes that the system has received, and how it receives while
// memory for half requests is tight: not by receives that the system carries out unasked, but by a
// poll and a system call. See uring_loop.h.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <vector>

#include "net/uring_loop.h"

namespace weft::net {

void UringLoop::TakeBuffer(Connection& connection, unsigned buffer, size_t bytes) {
  CountReceived(connection, bytes);
  connection.looked_at_ = false;
  if (connection.tls_ != nullptr) return TakeSealed(connection, buffer, bytes);
  const char* data = buffers_.get() + buffer * kBufferBytes;
  const uint64_t swallowed = std::min<uint64_t>(connection.swallow_bytes_, bytes);
  connection.swallow_bytes_ -= swallowed;
  data += swallowed;
  bytes -= static_cast<size_t>(swallowed);
  if (connection.closing_ || bytes == 0) return ReturnBuffer(buffer);
  const bool may_read = connection.MayRead();
  if (may_read && connection.input_ == nullptr && connection.partial_.size() == 0) {
    connection.input_ = data;
    connection.input_bytes_ = bytes;
    lent_buffers_.push_back(buffer);
    return Deliver(connection);
  }
  const bool view_elsewhere = connection.input_ != nullptr && !ViewIsPartial(connection);
  const std::string_view view = view_elsewhere ? connection.readable() : std::string_view();
  if (!connection.partial_.Append(pool_, view, connection.expected_bytes_) ||
      !connection.partial_.Append(pool_, {data, bytes}, connection.expected_bytes_)) {
    connection.doomed_ = true;
  }
  CountInput(connection);
  ReturnBuffer(buffer);
  if (!may_read) {
    // No further byte may come: what it waits for may be here. It runs again when it may.
    if (!connection.held_) connection.has_more_ = true;
    return Touch(connection);
  }
  ShowPartial(connection);
  Deliver(connection);
}

void UringLoop::TakeSealed(Connection& connection, unsigned buffer, size_t bytes) {
  if (connection.closing_) return ReturnBuffer(buffer);
  const bool may_read = connection.MayRead();
  Unseal(connection, {buffers_.get() + buffer * kBufferBytes, bytes});
  ReturnBuffer(buffer);
  if (!may_read) {  // as above
    if (!connection.held_ && connection.partial_.size() > 0) connection.has_more_ = true;
    return Touch(connection);
  }
  ShowPartial(connection);
  Deliver(connection);
}

// A kernel may lose the end of a stream that comes right behind its last bytes, and the receive
// that is with it waits for ever (Linux before "io_uring/poll: fix multishot recv missing EOF on
// wakeup race"). So whoever has been silent for a second is asked for once, and received from anew.
void UringLoop::LookForLostEvents() {
  constexpr uint64_t kSilentMs = 1000;
  std::vector<pollfd> sockets;
  std::vector<Connection*> owners;
  for (Connection* connection : connections()) {
    const uint64_t silent_ms = now_ms() - std::min(now_ms(), connection->last_active_ms());
    if (connection->looked_at_ || silent_ms < kSilentMs) continue;
    if (!connection->recv_armed_ || connection->cancelling_) continue;
    sockets.push_back({connection->fd_, POLLIN | POLLRDHUP, 0});
    owners.push_back(connection);
  }
  // Where the system lacks memory to look, they are looked at the next time.
  if (sockets.empty() || poll(sockets.data(), sockets.size(), 0) < 0) return;
  for (size_t i = 0; i < sockets.size(); ++i) {
    owners[i]->looked_at_ = true;
    if (sockets[i].revents == 0) continue;
    owners[i]->cancelling_ = true;
    CancelWord(Word(*owners[i], kReceive));
  }
}

void UringLoop::ArmInputPoll(Connection& connection) {
  io_uring_sqe* const entry = NextEntry();
  io_uring_prep_poll_add(entry, connection.fd_, POLLIN | POLLRDHUP);
  entry->user_data = Word(connection, kInput);
  connection.input_poll_armed_ = true;
}

// Receives that are with the system would go on to take what there is no room for.
void UringLoop::FollowTightness() {
  if (tight_ == rooms_->input.tight()) return;
  tight_ = !tight_;
  if (!tight_) return;
  for (Connection* connection : connections()) {
    if (!connection->recv_armed_ || connection->cancelling_) continue;
    connection->cancelling_ = true;
    CancelWord(Word(*connection, kReceive));
  }
}

void UringLoop::OnInput(Connection& connection) {
  connection.input_poll_armed_ = false;
  if (connection.closed_) return BuryIfFree(connection);
  Touch(connection);  // whatever comes of it, its reading is reviewed
  if (!connection.MayRead() || connection.in_ready_) return;
  const size_t asked = RoomToReceive(connection, options_.take_bytes_max);
  if (asked == 0) return;
  const ssize_t n = ReceiveDirect(connection, asked);
  if (n > 0) {
    CountReceived(connection, static_cast<size_t>(n));
    Deliver(connection);
  } else if (n == 0) {
    connection.at_end_ = true;
  } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
    connection.doomed_ = true;
  }
}

}  // namespace weft::net
