#include "net/epoll_loop.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace weft::net {
namespace {

// An event's word is a Connection's address or one of these, which are too small to be one.
constexpr uint64_t kBellWord = 1;
constexpr uint64_t kListenerWord = 3;  // + 4 * index
constexpr uint64_t kSmallWord = uint64_t{1} << 20;

constexpr uint32_t kInputEvents = EPOLLIN | EPOLLRDHUP | EPOLLET;
constexpr size_t kSlabBytesMin = size_t{1} << 20;

}  // namespace

EpollLoop::EpollLoop(const LoopOptions& options, Handler* handler)
    : LoopCore(options, handler),
      slab_bytes_(std::max(kSlabBytesMin, 4 * options.take_bytes_max)),
      slab_(std::make_unique_for_overwrite<char[]>(slab_bytes_)) {}

EpollLoop::~EpollLoop() {
  if (epoll_fd_ >= 0) close(epoll_fd_);
}

Status EpollLoop::OpenBackEnd() {
  epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_fd_ < 0) return Status::FromErrno("epoll_create1", errno);
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u64 = kBellWord;
  if (epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, handover_.bell_fd(), &event) != 0) {
    return Status::FromErrno("epoll_ctl", errno);
  }
  return Status::Ok();
}

Status EpollLoop::WaitAndReceive(int timeout_ms) {
  const int count = epoll_wait(epoll_fd_, events_, kEventsMax, timeout_ms);
  UpdateClock();
  if (count < 0 && errno != EINTR) return Status::FromErrno("epoll_wait", errno);
  reading_.swap(reread_);
  for (int i = 0; i < count; ++i) OnEvent(events_[i]);
  for (Connection* connection : reading_) {
    connection->listed_ = false;
    if (!connection->closed_ && connection->unread_) Receive(*connection);
  }
  reading_.clear();
  return Status::Ok();
}

void EpollLoop::OnEvent(const epoll_event& event) {
  const uint64_t word = event.data.u64;
  if (word == kBellWord) return BellRang();
  if (word < kSmallWord) return AcceptReady(static_cast<size_t>(word / 4));
  OnConnectionEvent(*reinterpret_cast<Connection*>(word), event.events);
}

void EpollLoop::OnConnectionEvent(Connection& connection, uint32_t events) {
  if (connection.closed_) return;
  constexpr uint32_t kGone = EPOLLERR | EPOLLHUP;
  if ((events & EPOLLOUT) != 0 && connection.blocked_) {
    connection.blocked_ = false;
    epoll_event interest = {};
    interest.events = kInputEvents;
    interest.data.u64 = reinterpret_cast<uint64_t>(&connection);
    epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, connection.fd_, &interest);
    Touch(connection);
  }
  if ((events & (EPOLLIN | EPOLLRDHUP | kGone)) == 0) return;
  if ((events & kGone) != 0 && !connection.MayRead() &&
      ((events & EPOLLERR) != 0 || connection.unsent() > 0)) {
    // Both directions are down, so what is still to be sent cannot be.
    connection.doomed_ = true;
    Touch(connection);
    return;
  }
  if ((events & (EPOLLRDHUP | kGone)) != 0) connection.end_comes_ = true;
  EndWaitIfHere(connection);
  // Of one that is gone, too: what it sent before is carried out, once that may be read.
  Receive(connection);
}

void EpollLoop::Reread(Connection& connection) {
  connection.unread_ = true;
  if (connection.listed_ || !connection.MayRead()) return;
  connection.listed_ = true;
  reread_.push_back(&connection);
}

void EpollLoop::Receive(Connection& connection) {
  // A full slab runs the batch, whose reviews may change what is allowed here.
  if (slab_bytes_ - slab_used_ < kRejoinBytesMax + options_.take_bytes_max) RunBatch();
  connection.unread_ = true;
  if (!connection.MayRead() || connection.in_ready_) return;
  const size_t asked = RoomToReceive(connection, options_.take_bytes_max);
  if (asked == 0) return Reread(connection);  // in the next turn, unless it waits
  const size_t kept = connection.partial_.size();
  if (connection.tls_ != nullptr || kept > kRejoinBytesMax ||
      connection.expected_bytes_ > kept + kRejoinBytesMax) {
    ReceiveIntoOwn(connection, asked);
  } else {
    ReceiveIntoSlab(connection, asked);
  }
}

void EpollLoop::ReceiveIntoSlab(Connection& connection, size_t asked) {
  char* const start = slab_.get() + slab_used_;
  const size_t kept = connection.partial_.size();
  if (kept > 0) std::memcpy(start, connection.partial_.data(), kept);
  const ssize_t n = recv(connection.fd_, start + kept, asked, MSG_DONTWAIT);
  if (n > 0) {
    connection.partial_.Release(pool_);
    connection.input_ = start;
    connection.input_bytes_ = kept + static_cast<size_t>(n);
    slab_used_ += connection.input_bytes_;
  }
  Received(connection, n, asked);
}

void EpollLoop::ReceiveIntoOwn(Connection& connection, size_t asked) {
  // Sealed bytes are more than what is in them.
  if (connection.tls_ == nullptr && connection.expected_bytes_ > connection.partial_.size())
    asked = std::min(asked, connection.expected_bytes_ - connection.partial_.size());
  const ssize_t n = ReceiveDirect(connection, asked);
  if (connection.doomed_) return Touch(connection);
  Received(connection, n, asked);
}

void EpollLoop::Received(Connection& connection, ssize_t n, size_t asked) {
  connection.unread_ = false;
  if (n > 0) {
    CountReceived(connection, static_cast<size_t>(n));
    // The end lies behind the data, however many receives that takes, with no event of its own.
    if (static_cast<size_t>(n) == asked || connection.end_comes_) Reread(connection);
    Deliver(connection);
  } else if (n == 0) {
    connection.at_end_ = true;
    Touch(connection);
  } else if (errno == EINTR) {
    Reread(connection);
  } else if (errno != EAGAIN && errno != EWOULDBLOCK) {
    connection.doomed_ = true;
    Touch(connection);
  }
}

void EpollLoop::ReviewReading(Connection& connection) {
  if (connection.unread_) Reread(connection);
}

bool EpollLoop::Attach(Connection& connection) {
  epoll_event event = {};
  event.events = kInputEvents;
  event.data.u64 = reinterpret_cast<uint64_t>(&connection);
  return epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, connection.fd_, &event) == 0;
}

void EpollLoop::Detach(Connection& connection) {
  if (connection.listed_)
    reread_.erase(std::remove(reread_.begin(), reread_.end(), &connection), reread_.end());
  Bury(connection);  // closing the descriptor takes it out of the set
}

void EpollLoop::WantWritable(Connection& connection) {
  epoll_event event = {};
  event.events = kInputEvents | EPOLLOUT;
  event.data.u64 = reinterpret_cast<uint64_t>(&connection);
  if (epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, connection.fd_, &event) != 0) connection.doomed_ = true;
}

void EpollLoop::WatchListener(size_t index) {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u64 = kListenerWord + 4 * index;
  if (epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, options_.listeners[index]->fd(), &event) != 0) {
    AcceptFailed(errno);
  }
}

void EpollLoop::UnwatchListener(size_t index) {
  epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, options_.listeners[index]->fd(), nullptr);
}

}  // namespace weft::net
