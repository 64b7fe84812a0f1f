// net/event_loop.h: one thread's sockets. Each turn takes what all ready sockets have, hands the
// ready connections to the handler as one batch and sends all replies.
//
// It moves bytes and knows no protocol. One loop of a server accepts; accepted connections go to
// the loop of its group with the fewest. There are two kinds behind the same interface: epoll, and
// io_uring if the system allows it. Kind::kAuto takes io_uring then, because it costs less in
// echo_bench, and epoll otherwise.
//
// Bounds    A connection is read from only while its unsent output is below output_high_bytes. Half
//           requests and unsent replies of all loops are counted (net/room.h). If a room is used
//           up, whoever needs more of it waits: its socket is not read, or its request is not
//           answered. Nobody is closed for needing room. A connection that holds room, could move
//           on, and does not for stuck_ms is closed, but only while others wait for that room.
// Threads   Run and the handler's calls are on one thread, the loop's. Stop, Wake, Adopt,
//           ForEachConnection, Stats, kind may be called by any thread while the loop exists.
//           ShareWith before any Run. A loop is destroyed after Run has returned (or was never
//           called), and after every loop that shares with it has stopped.
// Errors    Create: kUnsupported for Kind::kUring if the system forbids it; kIoError otherwise.
// Cost      epoll: one receive and one send a ready connection a turn, one wait a turn. io_uring:
//           one system call a turn. No allocation for small requests and replies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/admission.h"
#include "net/connection.h"
#include "net/listener.h"
#include "weft/status.h"

namespace weft::net {

class TlsServer;

// What a server does with its connections. Called on the loop's thread only.
class Handler {
 public:
  virtual ~Handler() = default;
  // A connection was opened. May set its state and append a greeting.
  virtual void OnOpen(Connection&) {}
  // It is about to be closed: it held `bytes` of room and hardly moved for `ms`; others waited.
  virtual void OnStuck(const Connection&, size_t /*bytes*/, uint64_t /*ms*/) {}
  // It is gone: release its state. Nothing can be sent any more.
  virtual void OnClose(Connection&) {}
  // These have new input, or had more (Connection::HasMore). Each appears once.
  virtual void OnBatch(std::span<Connection* const> ready) = 0;
  // A connection's TLS is over for a reason that is not the peer's wish; it is about to be closed.
  virtual void OnTlsFailure(const Connection&, std::string_view /*why*/) {}
  // At least every tick_ms, idle or not.
  virtual void OnTick() {}
  // After EventLoop::Wake, once for any number of them.
  virtual void OnWake() {}
  // Before each wait for input: may do a small piece of other work. True: there may be more,
  // so there is no wait.
  virtual bool OnSpareTime() { return false; }
};

struct LoopOptions {
  // Listeners that this loop accepts from; not owned, must outlive the loop.
  std::vector<Listener*> listeners;
  // The connection limit shared by the loops; null: none. Not owned.
  Admission* admission = nullptr;
  // For listeners that speak TLS; null: none does. Not owned.
  TlsServer* tls = nullptr;
  // Sent to a connection beyond the limit before it is closed.
  std::string_view refusal = "ERROR Too many open connections\r\n";
  // The most that is taken from one connection in a turn; io_uring may exceed it by the 32 buffers
  // that the kernel fills before it looks at others.
  size_t take_bytes_max = size_t{64} << 10;
  // Unsent output above which a connection is not read from, and below which it is read again.
  size_t output_high_bytes = size_t{1} << 20;
  size_t output_low_bytes = size_t{256} << 10;
  // Memory for half requests and unsent replies, shared by loops. Null: the loop makes its own,
  // with Room's defaults. Not owned.
  Rooms* rooms = nullptr;
  // The longest request whose length the handler cannot know from its first bytes.
  size_t unknown_bytes_max = size_t{4} << 20;
  // A connection that holds room that others wait for is closed if it hardly moves for this long.
  uint64_t stuck_ms = 3000;
  int tick_ms = 100;
  // TCP connections that move no byte for this long are closed; 0: never. Those in the middle of a
  // reply, or of a request whose length is known, stay.
  uint64_t idle_timeout_ms = 0;
  // The loop's clock, for tests; null: the system's. While it stands still there are no ticks, and
  // nobody becomes idle or stuck. A loop with nothing to do looks at it about once in tick_ms.
  uint64_t (*clock_ms)() = nullptr;
};

// One connection as another thread sees it.
struct ConnectionInfo {
  uint64_t id = 0;
  int fd = -1;
  Transport transport = Transport::kTcp;
  uint16_t listener_index = 0;
  std::string peer;
  uint64_t age_ms = 0;
  uint64_t idle_ms = 0;
  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;
  uint64_t pending_output_bytes = 0;
  bool awaits_rest = false;  // of a request whose length is known
  bool in_batch = false;     // of the thread that asks: its request is being carried out
};

// Counters of one loop since its creation.
struct LoopStats {
  uint64_t connections_open = 0;
  uint64_t connections_opened = 0;
  uint64_t accept_pauses = 0;        // times accepting stopped for lack of descriptors or memory
  uint64_t accept_paused_us = 0;     // the sum of these pauses, by the loop's clock of milliseconds
  uint64_t loops_not_accepting = 0;  // now, for that reason
  uint64_t idle_closed = 0;
  uint64_t shed_closed = 0;  // closed because they were stuck with room that others waited for
  uint64_t turns = 0;
  uint64_t batches = 0;
  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;
  uint64_t buffer_bytes = 0;  // now held in half requests and unsent replies
};

class EventLoop {
 public:
  enum class Kind : uint8_t { kAuto, kUring, kEpoll };

  // `handler` is not owned and must outlive the loop.
  static Result<std::unique_ptr<EventLoop>> Create(Kind kind, const LoopOptions& options,
                                                   Handler* handler);
  // OK if io_uring works with all that is needed; otherwise kUnsupported with the reason.
  static Status UringAvailable();
  virtual ~EventLoop() = default;

  // Serves until Stop. Blocks.
  virtual Status Run() = 0;
  // Ends Run: accepts no more, lets all owed replies go out for at most `grace_ms`, closes.
  // Safe in a signal handler.
  virtual void Stop(uint64_t grace_ms) = 0;
  // Makes the loop call Handler::OnWake soon. Safe in a signal handler.
  virtual void Wake() = 0;
  // Takes a connected stream socket over, and owns it from here even on failure. kRetryLater: the
  // connection limit is reached or the loop has stopped; the socket was closed.
  virtual Status Adopt(int fd, Transport transport, uint16_t listener_index,
                       TlsMode tls = TlsMode::kNone) = 0;
  // Accepted connections go to the one of `group` that has the fewest. This loop may be among them.
  virtual void ShareWith(std::vector<EventLoop*> group) = 0;
  // Calls `visit` for each open connection. Holds a lock that opening and closing need: be quick.
  virtual void ForEachConnection(const std::function<void(const ConnectionInfo&)>& visit) = 0;
  virtual LoopStats Stats() const = 0;
  // "epoll" or "io_uring".
  virtual std::string_view kind() const = 0;
  // The loop's clock: monotonic milliseconds, read once a turn. Loop thread only.
  virtual uint64_t now_ms() const = 0;
};

}  // namespace weft::net
