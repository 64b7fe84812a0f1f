// net/epoll_loop.h: the event loop over epoll.
//
// Connections are registered once, edge-triggered: a slow or paused one costs no system call, the
// loop just remembers that it has unread bytes. Room for output is asked for only while a socket is
// full (a Unix socket would report it after every read of the peer). A receive that comes back
// short has emptied the socket. It is not repeated, unless the peer's end was announced, which lies
// behind the last byte. One that fills its buffer is repeated next turn.
// All receives of a turn go to one slab, one after the other, so the batch is dense in the cache.
// Half a request left from earlier is put in front of its continuation there. Long requests of
// known length are received straight into the connection's own memory.
//
// Threads   As net/event_loop.h.
// Cost      epoll_wait + one recv and one send per ready connection a turn.
#pragma once

#include <sys/epoll.h>

#include <memory>
#include <vector>

#include "net/loop_core.h"

namespace weft::net {

class EpollLoop final : public LoopCore {
 public:
  EpollLoop(const LoopOptions& options, Handler* handler);
  ~EpollLoop() override;
  std::string_view kind() const override { return "epoll"; }

 private:
  static constexpr int kEventsMax = 512;
  // Kept bytes up to this are copied to the slab; more are continued where they lie.
  static constexpr size_t kRejoinBytesMax = size_t{16} << 10;

  Status OpenBackEnd() override;
  Status StartBackEnd() override { return Status::Ok(); }
  Status WaitAndReceive(int timeout_ms) override;
  bool HasWork() const override { return !reread_.empty(); }
  void InputTaken() override { slab_used_ = 0; }
  bool Attach(Connection& connection) override;
  void Detach(Connection& connection) override;
  void SendOutput(Connection& connection) override { SendNow(connection); }
  void WantWritable(Connection& connection) override;
  void ReviewReading(Connection& connection) override;
  void WatchListener(size_t index) override;
  void UnwatchListener(size_t index) override;

  void OnEvent(const epoll_event& event);
  void OnConnectionEvent(Connection& connection, uint32_t events);
  void Reread(Connection& connection);
  void Receive(Connection& connection);
  void ReceiveIntoSlab(Connection& connection, size_t asked);
  void ReceiveIntoOwn(Connection& connection, size_t asked);
  // Acts on the result of a receive of up to `asked` bytes.
  void Received(Connection& connection, ssize_t n, size_t asked);

  // Constant after Open.
  int epoll_fd_ = -1;
  const size_t slab_bytes_;
  const std::unique_ptr<char[]> slab_;

  // Owned by the loop's thread.
  size_t slab_used_ = 0;
  std::vector<Connection*> reread_;   // may have bytes without a new event
  std::vector<Connection*> reading_;  // those of this turn; keeps its capacity
  epoll_event events_[kEventsMax];
};

}  // namespace weft::net
