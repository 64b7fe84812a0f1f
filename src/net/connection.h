// net/connection.h: one stream connection as its handler sees it: received bytes in, replies out.
//
// It knows no protocol. The handler takes bytes from readable() with Consume and appends replies
// with Reserve and Commit; the loop does everything else. An idle connection holds this object and
// nothing more.
//
// Threads: every member belongs to the loop's thread, except those marked "any thread". A pointer
//   to a connection is valid from Handler::OnOpen to the end of Handler::OnClose.
// Errors: Reserve and Append say when the system has no memory; the loop then closes the connection
//   after the batch, and the handler only stops writing to it.
// Cost: Reserve, Commit, Consume are a few instructions each; see net/output_queue.h.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "net/output_queue.h"
#include "net/owned_counter.h"
#include "net/partial_input.h"
#include "net/room.h"
#include "net/transport.h"

namespace weft::net {

class LoopCore;
class TlsSession;

class Connection {
 public:
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // --- input ---------------------------------------------------------------------------------

  // Input that was received and not consumed. Valid until Consume, or until OnBatch returns.
  std::string_view readable() const { return {input_, input_bytes_}; }
  // Drops the first `n` bytes. REQUIRES: n <= readable().size()
  void Consume(size_t n) {
    if (n > 0) whole_granted_ = half_kept_ = false;  // the request that they were for has ended
    input_ += n;
    input_bytes_ -= n;
  }
  // The request at the front of readable() needs `total_bytes` in all: the next OnBatch for this
  // connection comes once they are there. A hint; memory grows by what arrives.
  void ExpectBytes(size_t total_bytes) { expected_bytes_ = total_bytes; }
  // Throws away the next `n` bytes of input, those in readable() first.
  void Swallow(uint64_t n);
  // Says that complete requests are left in readable(). OnBatch is called for them without new
  // bytes, once the output has drained and there is room for a reply of `reply_bytes`. No more is
  // read until then. Holds for one OnBatch.
  void HasMore(size_t reply_bytes = 0) {
    has_more_ = true;
    room_wanted_ = reply_bytes;
  }
  // Says that the requests left in readable() can't be answered yet: OnBatch is not called for this
  // connection, and no more is read, until Resume. The rest of the loop goes on.
  void Hold() { held_ = true; }
  // Ends Hold: OnBatch comes soon, if there is enough input for it. Does nothing if it is not held.
  void Resume();
  // True once the peer has sent its last byte.
  bool at_end() const { return at_end_; }

  // --- output --------------------------------------------------------------------------------

  // Space for `n` contiguous bytes of reply, valid until the next Reserve or Commit on this
  // connection, or until OnBatch returns. Null if the system has no memory.
  char* Reserve(size_t n);
  // Sends the first `n` bytes of the reserved space. REQUIRES: n <= the last Reserve.
  void Commit(size_t n);
  // Reserve, copy, Commit. False if the system has no memory.
  bool Append(std::string_view bytes);
  // Bytes committed and neither sealed nor taken by the system.
  size_t pending_output() const { return output_.size(); }
  // Takes back what this OnBatch committed beyond `bytes` of pending_output(): it is not sent.
  // REQUIRES: bytes <= pending_output()
  void TakeBack(size_t bytes);
  // How many bytes may be committed now without asking. Replies within kOutputFreeBytes always may,
  // once the peer has taken all that was sent before.
  size_t OutputRoom() const;
  // Adds `n` or more to it, and returns how much. 0: output_high_bytes are unsent, the memory of
  // all unsent replies is used up, or others wait for it. Then the handler leaves the reply's
  // request unconsumed and calls HasMore.
  size_t TakeRoom(size_t n);
  // Closes when everything committed has gone out. Input is no longer delivered.
  void CloseAfterFlush();
  // Closes at the end of this turn, whether or not the output has gone out. For any connection, in
  // any of the handler's calls.
  void CloseNow();

  // --- about it ------------------------------------------------------------------------------

  uint64_t id() const { return id_; }  // unique in the process; any thread
  int fd() const { return fd_; }       // for its number, and to ask the system about it
  Transport transport() const { return transport_; }
  uint16_t listener_index() const { return listener_index_; }
  // The peer's address; asks the system each time.
  std::string PeerText() const;
  // Milliseconds of the loop's clock (EventLoop::now_ms) at opening and at the last byte moved.
  uint64_t opened_ms() const { return opened_ms_; }
  uint64_t last_active_ms() const { return last_active_ms_.value(); }
  uint64_t bytes_in() const { return bytes_in_.value(); }
  uint64_t bytes_out() const { return bytes_out_.value(); }

  // Held without asking: each connection may have this much of half a request and of unsent
  // replies, however little memory there is. One block of the pool each.
  static constexpr size_t kInputFreeBytes = 4096;
  static constexpr size_t kOutputFreeBytes = 4096 - 64;

  // Belongs to the handler; kept untouched.
  void* state = nullptr;

 private:
  friend class LoopCore;
  friend class EpollLoop;
  friend class UringLoop;
  Connection(LoopCore* loop, int fd, uint64_t id, Transport transport, uint16_t listener_index,
             uint64_t now_ms);
  ~Connection();

  // Whether the loop may take more input for it now.
  bool MayRead() const {
    return !paused_ && !has_more_ && !held_ && !closing_ && !at_end_ && !closed_ &&
           !input_room_.waits();
  }

  // Whether its input holds requests that will be answered without new bytes.
  bool OwesAnswers() const { return has_more_ || held_; }

  // Bytes that the system has not taken: what is sealed, and what will be.
  size_t unsent() const { return output_.size() + (tls_ == nullptr ? 0 : wire_->size()); }
  // Of blocks for these.
  size_t unsent_held() const {
    return output_.held_bytes() + (tls_ == nullptr ? 0 : wire_->held_bytes());
  }

  static constexpr int32_t kAllSent = INT32_MAX;

  // How far whatever it holds of a room was last seen to be of use, while others wait.
  struct Mark {
    uint64_t ms = 0;
    uint64_t bytes = 0;  // bytes moved until then
  };

  // How quick its peer is with large requests or replies: only quick ones are given the lane.
  struct Pace {
    bool IsSlow(uint64_t now_ms) const { return now_ms < slow_until_ms; }
    uint64_t since_ms = 0;  // its peer could use what it has, or waits for room
    uint64_t slow_until_ms = 0;
    bool waits_for_lane = false;  // and nobody has looked yet
  };

  // Constant after construction.
  LoopCore* const loop_;
  const int fd_;
  const Transport transport_;
  const uint16_t listener_index_;
  const uint64_t id_;
  const uint64_t opened_ms_;

  // Owned by the loop's thread.
  uint32_t slot_ = 0;               // place in the loop's table
  bool has_more_ : 1 = false;       // complete requests wait in the input
  bool held_ : 1 = false;           // held: no answers before Resume
  bool at_end_ : 1 = false;         // the peer sent its last byte
  bool closing_ : 1 = false;        // to close once the output is out
  bool closed_ : 1 = false;         // OnClose was called; waits to be freed
  bool doomed_ : 1 = false;         // close at the next review, output or not
  bool paused_ : 1 = false;         // not read from: too much output
  bool whole_granted_ : 1 = false;  // granted: room for all of its half request
  bool half_kept_ : 1 = false;      // part of its request was kept beyond a turn
  bool output_late_ : 1 = false;    // it waits for output room behind others: see JudgeAnew
  bool blocked_ : 1 = false;        // the socket takes no more bytes until it says so
  bool in_ready_ : 1 = false;
  bool in_touched_ : 1 = false;
  bool in_again_ : 1 = false;
  bool unread_ : 1 = false;      // epoll: the socket may have bytes nobody asked for
  bool end_comes_ : 1 = false;   // epoll: the system has said that the peer sent its last byte
  bool recv_armed_ : 1 = false;  // io_uring: a receive is with the system
  bool cancelling_ : 1 = false;  // io_uring: its cancellation is, too
  bool poll_armed_ : 1 = false;  // io_uring: a wait for room is with the system
  bool input_poll_armed_ : 1 = false;  // io_uring: so is one for input
  bool send_queued_ : 1 = false;       // io_uring: output is named by an entry not yet submitted
  bool listed_ : 1 = false;            // the back end will receive for it again by itself
  bool looked_at_ : 1 = false;         // io_uring: since it last received, for a lost end
  int32_t send_result_ = kAllSent;     // io_uring: the result of the queued send
  const char* input_ = nullptr;        // the view; into partial_ or into the loop's buffers
  size_t input_bytes_ = 0;
  size_t expected_bytes_ = 0;
  uint64_t swallow_bytes_ = 0;
  size_t room_wanted_ = 0;  // of output: HasMore waits for it
  size_t room_left_ = 0;    // of output: taken and not committed
  PartialInput partial_;
  OutputQueue output_;               // as the handler wrote it
  OutputQueue* wire_ = &output_;     // as it goes out: what tls_ has sealed, or the same
  std::unique_ptr<TlsSession> tls_;  // null: plain bytes
  Room::Holder input_room_;          // for partial_
  size_t charge_before_grant_ = 0;   // of input_room_; while whole_granted_
  uint64_t newcomer_from_ = 0;       // bytes_in_ at which it has made up for unused room
  size_t beside_bytes_ = 0;          // of a small request; received beside the rooms
  Room::Holder output_room_;         // for output_
  Mark input_mark_;                  // of bytes received
  Mark output_mark_;                 // of bytes that the peer's system has taken
  Pace input_pace_;
  Pace output_pace_;

  // Written by the loop's thread, read by any.
  OwnedCounter last_active_ms_;
  OwnedCounter bytes_in_;
  OwnedCounter bytes_out_;
  OwnedCounter output_bytes_seen_;  // pending output as of the last review
  OwnedCounter half_at_;            // bytes_in_ when part of a request of known length was kept
};

}  // namespace weft::net
