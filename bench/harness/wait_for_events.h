// bench/harness/wait_for_events.h: epoll_pwait2, even if the kernel (before 5.11) lacks it.
//
// Threads   any.
// Cost      one system call; three if the kernel lacks it.
#pragma once

#include <poll.h>
#include <sys/epoll.h>

#include <cerrno>

namespace weft::bench {

// Like epoll_pwait2 without a mask. `limit` null: none.
inline int WaitForEvents(int epoll, epoll_event* events, int events_max, const timespec* limit) {
  const int ready = epoll_pwait2(epoll, events, events_max, limit, nullptr);
  if (ready >= 0 || errno != ENOSYS) return ready;
  pollfd any{epoll, POLLIN, 0};
  if (ppoll(&any, 1, limit, nullptr) < 0) return -1;
  return epoll_wait(epoll, events, events_max, 0);
}

}  // namespace weft::bench
