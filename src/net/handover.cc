#include "net/handover.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace weft::net {

Handover::~Handover() {
  for (const NewSocket& socket : Take()) close(socket.fd);
  if (bell_fd_ >= 0) close(bell_fd_);
}

Status Handover::Open() {
  bell_fd_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  return bell_fd_ >= 0 ? Status::Ok() : Status::FromErrno("eventfd", errno);
}

bool Handover::Push(const NewSocket& socket) {
  bool first;
  {
    base::MutexLock lock(&mutex_);
    if (closed_) return false;
    first = sockets_.empty();
    sockets_.push_back(socket);
  }
  if (first) Ring();
  return true;
}

void Handover::Ring() {
  const int saved_errno = errno;  // a signal handler must leave it alone
  const uint64_t one = 1;
  // Fails only when the counter is full, and then the bell is ringing already.
  [[maybe_unused]] const ssize_t written = write(bell_fd_, &one, sizeof one);
  errno = saved_errno;
}

void Handover::Silence() {
  uint64_t count;
  [[maybe_unused]] const ssize_t taken = read(bell_fd_, &count, sizeof count);
}

std::vector<NewSocket> Handover::Take() {
  base::MutexLock lock(&mutex_);
  return std::exchange(sockets_, {});
}

void Handover::Close() {
  base::MutexLock lock(&mutex_);
  closed_ = true;
}

}  // namespace weft::net
