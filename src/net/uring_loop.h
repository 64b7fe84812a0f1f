// net/uring_loop.h: the event loop over io_uring.
//
// Each connection has one multishot receive that fills buffers of a ring shared by all. A listener
// has a poll, not a multishot accept. That would take all comers while it runs, however many, so
// all would have descriptors before the first can be refused. The call that waits for the next
// input also submits the sends of a turn. A send neither waits nor is split (MSG_DONTWAIT |
// MSG_WAITALL), and it reports only failure. So when the call returns, every send is decided and
// the arena may be reused.
//
// While memory is tight (LoopCore::RoomToReceive) nothing may arrive unasked. Then connections wait
// for input by a poll, and receive by system call, as many bytes as there is room for.
//
//   turn: enter { sends of the last batch; wait } -> sends that failed -> receives -> OnBatch
//
// A send that reports only failure does not end the wait by itself: a third fewer turns, measured.
// A full socket goes on with a wait for room and ordinary sends (LoopCore::SendNow), as do replies
// in several pieces.
//
// Threads   As net/event_loop.h. The ring is made disabled and enabled on the loop's thread, which
//           becomes its only user.
// Errors    Open and Probe: kUnsupported if the kernel, seccomp or a sysctl refuses.
// Cost      One system call a turn.
#pragma once

#include <liburing.h>

#include <memory>
#include <unordered_set>
#include <vector>

#include "net/loop_core.h"

namespace weft::net {

class UringLoop final : public LoopCore {
 public:
  UringLoop(const LoopOptions& options, Handler* handler);
  ~UringLoop() override;
  // Tries, once in the process, a real ring with all that the loop uses.
  static Status Probe();
  std::string_view kind() const override { return "io_uring"; }

 private:
  // What a completion belongs to: the low bits of its word. The rest is an address or an index.
  enum Tag : uint64_t { kReceive, kRoom, kSend, kBell, kAccept, kIgnore, kInput };
  static constexpr uint64_t kTagMask = 7;
  static constexpr size_t kBufferBytes = 4096;  // of each one that the system fills
  struct QueuedSend {
    Connection* connection;
    size_t bytes;
  };

  Status OpenBackEnd() override;
  Status StartBackEnd() override;
  void EndBackEnd() override;
  Status WaitAndReceive(int timeout_ms) override;
  bool HasWork() const override;
  bool HoldsInput() const override;
  void InputTaken() override;
  bool Attach(Connection& connection) override;
  void Detach(Connection& connection) override;
  void SendOutput(Connection& connection) override;
  void WantWritable(Connection& connection) override;
  void ReviewReading(Connection& connection) override;
  void WatchListener(size_t index) override;
  void UnwatchListener(size_t index) override;
  bool AllBuried() const override { return leaving_.empty(); }

  Status OpenBuffers();
  static uint64_t Word(const Connection& connection, Tag tag) {
    return reinterpret_cast<uint64_t>(&connection) | tag;
  }
  // An empty entry; submits the present ones if there is no room.
  io_uring_sqe* NextEntry();
  void CancelWord(uint64_t word);
  Status Enter(int timeout_ms);
  void TakeSpilled();
  void LookForLostEvents() override;
  void FinishSends();
  void FinishSend(Connection& connection, size_t bytes);
  void OnCompletion(const io_uring_cqe& completion);
  void OnReceive(Connection& connection, const io_uring_cqe& completion);
  void OnAccept(size_t index, const io_uring_cqe& completion);
  void OnRoom(Connection& connection);
  void TakeBuffer(Connection& connection, unsigned buffer, size_t bytes);
  void TakeSealed(Connection& connection, unsigned buffer, size_t bytes);
  void ReturnBuffer(unsigned buffer);
  void ArmReceive(Connection& connection);
  void ArmInputPoll(Connection& connection);
  void OnInput(Connection& connection);
  void FollowTightness();
  bool IsWithSystem(const Connection& connection) const {
    return connection.recv_armed_ || connection.poll_armed_ || connection.input_poll_armed_;
  }
  void ArmBell();
  void BuryIfFree(Connection& connection);

  // Constant after Open.
  io_uring ring_;
  bool ring_open_ = false;
  io_uring_buf_ring* buffer_ring_ = nullptr;
  std::unique_ptr<char[]> buffers_;

  // Owned by the loop's thread.
  std::vector<QueuedSend> queued_sends_;
  std::vector<io_uring_cqe> spilled_;        // of this turn; the ring had no room for them
  std::vector<unsigned> lent_buffers_;       // views of this turn
  std::vector<Connection*> rearm_;           // receive again once buffers are back
  std::unordered_set<Connection*> leaving_;  // closed, with something still with the system
  std::vector<bool> accept_armed_;
  std::vector<bool> accept_wanted_;
  int returned_count_ = 0;    // buffers put back, not yet shown to the kernel
  bool tight_ = false;        // input comes by polls
  bool review_soon_ = false;  // a queued send decides more than its own bytes
};

}  // namespace weft::net
