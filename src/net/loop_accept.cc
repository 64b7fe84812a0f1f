// How connections come to a loop: one of a group accepts, and the one with the fewest gets them.
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "net/loop_core.h"

namespace weft::net {
namespace {

constexpr int kAcceptsPerTurn = 64;  // of one listener

}  // namespace

void LoopCore::ShareWith(std::vector<EventLoop*> group) {
  group_.clear();
  for (EventLoop* loop : group) group_.push_back(static_cast<LoopCore*>(loop));
}

LoopCore& LoopCore::Fewest() {
  if (group_.empty()) return *this;
  LoopCore* fewest = nullptr;
  uint32_t fewest_count = 0;
  for (size_t i = 0; i < group_.size(); ++i) {  // from where the last search ended: ties go round
    LoopCore* const loop = group_[(next_in_group_ + i) % group_.size()];
    const uint32_t count = loop->assigned_.load(std::memory_order_relaxed);
    if (fewest == nullptr || count < fewest_count) {
      fewest = loop;
      fewest_count = count;
    }
  }
  ++next_in_group_;
  return *fewest;
}

void LoopCore::Refuse(int fd, TlsMode tls) {
  // Whoever waits for a handshake could not read it.
  if (tls == TlsMode::kNone)
    (void)!send(fd, options_.refusal.data(), options_.refusal.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  EndPolitely(fd);
  close(fd);
}

void LoopCore::ReleaseSeat() {
  assigned_.fetch_sub(1, std::memory_order_relaxed);
  if (options_.admission != nullptr) options_.admission->Leave();
}

void LoopCore::Accepted(int fd, size_t listener_index) {
  const Listener& listener = *options_.listeners[listener_index];
  if (options_.admission != nullptr && !options_.admission->TryEnter())
    return Refuse(fd, listener.tls());
  const NewSocket socket{fd, listener.transport(), listener.tls(),
                         static_cast<uint16_t>(listener_index)};
  LoopCore& loop = Fewest();
  loop.assigned_.fetch_add(1, std::memory_order_relaxed);
  if (&loop == this) {
    OpenConnection(socket);
  } else if (!loop.handover_.Push(socket)) {
    close(fd);
    loop.ReleaseSeat();
  }
}

Status LoopCore::Adopt(int fd, Transport transport, uint16_t listener_index, TlsMode tls) {
  if (options_.admission != nullptr && !options_.admission->TryEnter()) {
    Refuse(fd, tls);
    return {Code::kRetryLater, "too many open connections"};
  }
  assigned_.fetch_add(1, std::memory_order_relaxed);
  if (handover_.Push({fd, transport, tls, listener_index})) return Status::Ok();
  close(fd);
  ReleaseSeat();
  return {Code::kRetryLater, "the event loop has stopped"};
}

void LoopCore::AcceptReady(size_t listener_index) {
  const int listener = options_.listeners[listener_index]->fd();
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      Accepted(fd, listener_index);
    } else if (errno != EINTR && errno != ECONNABORTED) {
      if (errno != EAGAIN && errno != EWOULDBLOCK) AcceptFailed(errno);
      return;
    }
  }
}

void LoopCore::AcceptFailed(int error_number) {
  const bool exhausted = error_number == EMFILE || error_number == ENFILE ||
                         error_number == ENOMEM || error_number == ENOBUFS;
  if (!exhausted || accept_paused_) return;
  // The waiting connection would wake the loop again and again: look away until the next tick.
  accept_pauses_.Add(1);
  accept_paused_ = true;
  accept_paused_from_.Set(now_ms_);
  UnwatchListeners();
}

void LoopCore::WatchListeners() {
  if (listening_) return;
  listening_ = true;
  for (size_t i = 0; i < options_.listeners.size(); ++i) WatchListener(i);
}

void LoopCore::UnwatchListeners() {
  if (!listening_) return;
  listening_ = false;
  for (size_t i = 0; i < options_.listeners.size(); ++i) UnwatchListener(i);
}

}  // namespace weft::net
