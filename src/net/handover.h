// net/handover.h: how other threads reach a loop: sockets for it, and a bell that wakes it.
//
// Threads: Push, Ring any thread (Ring also in a signal handler); Take, Silence, Close the loop's.
// Cost: a lock and, for the first of several, one write to an eventfd. Never on a request's way.
#pragma once

#include <cstdint>
#include <vector>

#include "base/mutex.h"
#include "net/transport.h"
#include "weft/status.h"

namespace weft::net {

// A connected socket on its way to a loop.
struct NewSocket {
  int fd;
  Transport transport;
  TlsMode tls;
  uint16_t listener_index;
};

class Handover {
 public:
  Handover() = default;
  // Closes the sockets that nobody took.
  ~Handover();
  Handover(const Handover&) = delete;
  Handover& operator=(const Handover&) = delete;

  Status Open();
  // Readable while there is something to take or the bell was rung.
  int bell_fd() const { return bell_fd_; }

  // False when the loop has stopped taking; the socket stays the caller's.
  bool Push(const NewSocket& socket) WEFT_EXCLUDES(mutex_);
  void Ring();

  void Silence();
  std::vector<NewSocket> Take() WEFT_EXCLUDES(mutex_);
  // From now on Push says false.
  void Close() WEFT_EXCLUDES(mutex_);

 private:
  // Constant after Open.
  int bell_fd_ = -1;

  base::Mutex mutex_;
  std::vector<NewSocket> sockets_ WEFT_GUARDED_BY(mutex_);
  bool closed_ WEFT_GUARDED_BY(mutex_) = false;
};

}  // namespace weft::net
