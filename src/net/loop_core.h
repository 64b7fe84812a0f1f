// net/loop_core.h: the part of an event loop that does not depend on how it asks the system for
// bytes: the turn, the connections' lives, batches, limits, accepting, stopping. EpollLoop and
// UringLoop add the asking.
//
// One turn   OnSpareTime -> WaitAndReceive -> the bell -> connections that had more -> OnBatch ->
//            send -> tick.
// Freeing    A closed connection is freed at the end of the turn in which its back end let go of
//            it, so pointers taken during a turn stay good for it.
// Threads    As net/event_loop.h says; everything below "Owned by the loop's thread" is only its.
#pragma once

#include <atomic>
#include <deque>
#include <span>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "net/event_loop.h"
#include "net/handover.h"

namespace weft::net {

class LoopCore : public EventLoop {
 public:
  LoopCore(const LoopOptions& options, Handler* handler);
  ~LoopCore() override;

  // Creates what the loop needs from the system. Once, before anything else.
  Status Open();

  Status Run() override;
  void Stop(uint64_t grace_ms) override;
  void Wake() override;
  Status Adopt(int fd, Transport transport, uint16_t listener_index, TlsMode tls) override;
  void ShareWith(std::vector<EventLoop*> group) override;
  void ForEachConnection(const std::function<void(const ConnectionInfo&)>& visit) override
      WEFT_EXCLUDES(table_mutex_);
  LoopStats Stats() const override;
  uint64_t now_ms() const override { return now_ms_; }

 protected:
  // --- what a back end adds ------------------------------------------------------------------

  virtual Status OpenBackEnd() = 0;
  // First and last call on the loop's thread.
  virtual Status StartBackEnd() = 0;
  virtual void EndBackEnd() {}
  // Waits for at most `timeout_ms`, then receives: sets each connection's view and calls Deliver.
  virtual Status WaitAndReceive(int timeout_ms) = 0;
  // True if the next wait must not sleep.
  virtual bool HasWork() const = 0;
  // True while received bytes may lie where neither the socket nor a connection shows them.
  virtual bool HoldsInput() const { return false; }
  // Once a second or so: looks for events that the system failed to report.
  virtual void LookForLostEvents() {}
  // The handler is done with all views of this turn: their memory may be reused.
  virtual void InputTaken() = 0;
  // Begins to receive. False: the system refused.
  virtual bool Attach(Connection& connection) = 0;
  // Ends it; calls Bury, now or in a later turn.
  virtual void Detach(Connection& connection) = 0;
  // Sends now (SendNow) or leaves the connection send_queued_.
  virtual void SendOutput(Connection& connection) = 0;
  // Sets blocked_ off and calls Touch once the socket takes bytes again.
  virtual void WantWritable(Connection& connection) = 0;
  // MayRead may have changed.
  virtual void ReviewReading(Connection& connection) = 0;
  virtual void WatchListener(size_t index) = 0;
  virtual void UnwatchListener(size_t index) = 0;
  // True if nothing of a closed connection is still with the system.
  virtual bool AllBuried() const { return true; }

  // --- what a back end calls -----------------------------------------------------------------

  void UpdateClock();
  // Makes the bytes kept in partial_ the view.
  static void ShowPartial(Connection& connection);
  static bool ViewIsPartial(const Connection& connection);
  // Puts the connection, whose view is set, into the batch; or keeps its bytes if it needs more.
  void Deliver(Connection& connection);
  // Keeps the rest of the view beyond the turn.
  void KeepInput(Connection& connection);
  // Runs the batch gathered so far, and sends.
  void RunBatch();
  // Sends by system call as much as the socket takes.
  void SendNow(Connection& connection);
  void CountReceived(Connection& connection, size_t bytes);
  void CountSent(Connection& connection, size_t bytes);
  // The socket is full: keeps the output and waits for room.
  void Block(Connection& connection);
  // Decides whether the connection is closed, read from, or run again.
  void Review(Connection& connection);
  // How many bytes may be received for it now, at most `wanted`. 0: it waits for room, and
  // ReviewReading is called when it has some. Or it may still read, and asks again in the next
  // turn.
  size_t RoomToReceive(Connection& connection, size_t wanted);
  // Receives up to `asked` bytes into the connection's own memory, which become its view. Returns
  // as recv does; 0, too, if there is no memory and the connection is doomed.
  ssize_t ReceiveDirect(Connection& connection, size_t asked);
  // TLS: loop_tls.cc.
  // Takes what a sealed connection's socket or the system brought. Its plain bytes are kept with
  // it: ShowPartial shows them.
  void Unseal(Connection& connection, std::string_view sealed);
  // Receives so, up to `asked` bytes, which become its view. Returns as recv does.
  ssize_t ReceiveSealed(Connection& connection, size_t asked);
  // Turns replies into records: as many as may wait for the socket. Never while a send is queued.
  void Seal(Connection& connection);
  // The part that it keeps of its input has changed.
  void CountInput(Connection& connection);
  const std::vector<Connection*>& connections() const { return connections_; }
  void Bury(Connection& connection);
  // A listener has connections. Takes some of them; the back end comes again for the others, after
  // whatever else is ready. So only these few have descriptors beyond the limit of connections.
  void AcceptReady(size_t listener_index);
  void AcceptFailed(int error_number);
  void BellRang() { bell_rang_ = true; }
  bool accept_paused() const { return accept_paused_; }
  bool stopping() const { return stopping_; }

  // Constant after construction.
  const LoopOptions options_;
  const std::unique_ptr<Rooms> own_rooms_;  // null if the options name others
  Rooms* const rooms_;
  Handler* const handler_;
  Handover handover_;

  // Owned by the loop's thread.
  BufferPool pool_;
  OutputArena arena_;
  std::unique_ptr<char[]> look_;  // take_bytes_max, for looks into sockets; null before the first
  size_t sends_queued_ = 0;       // while not zero the arena is in use

 private:
  friend class Connection;

  // The connection's output is sent and its state reviewed at the end of the batch.
  void Touch(Connection& connection) {
    if (connection.in_touched_) return;
    connection.in_touched_ = true;
    touched_.push_back(&connection);
  }
  // It runs again with the input that it keeps.
  void RunSoon(Connection& connection) {
    if (connection.in_again_ || connection.closed_) return;
    connection.in_again_ = true;
    again_.push_back(&connection);
  }
  friend class EpollLoop;
  friend class UringLoop;

  int TimeoutMs() const;
  void AnswerBell();
  void RunAgain();
  void FlushTouched();
  void SendTouched();
  void Tick();
  void FreeClosed();

  // Memory: loop_room.cc.
  // Bytes that a socket holds.
  static size_t UnreadBytes(int fd);
  // Bytes that the peer's system has not taken. The queue of our own takes bytes in large steps.
  static uint64_t UndeliveredBytes(int fd);
  // If the socket holds the rest of a request whose front the connection keeps, at most `most`
  // bytes, and there is memory for a turn: its bytes. Otherwise 0.
  size_t RestThatIsHere(const Connection& connection, size_t most);
  // A connection that waits for room needs none once the rest of its small request has come.
  bool EndWaitIfHere(Connection& connection);
  bool FitsRooms(size_t n) const;
  // `rest` bytes end its request. False: so much was received beside the rooms in this turn that
  // those requests must be answered first.
  bool TakeBeside(Connection& connection, size_t rest);
  // It owes no answer to the request that was received beside the rooms.
  void EndBeside(Connection& connection);
  bool TakeOutputRoom(Connection& connection, size_t n);
  void CountOutput(Connection& connection);
  void WaitForOutputRoom(Connection& connection);
  void JudgeAnew(Connection& connection);
  void LeaveRooms(Connection& connection);
  // It has room for all of its request now, and held `charge_before` until then.
  void GrantWhole(Connection& connection, size_t charge_before);
  void RingForGrants();  // any thread
  void TakeGrants();
  void ReviewHolders();
  void RevokeIdleGrant(Connection& connection);
  uint64_t JudgeMark(Connection::Mark& mark, uint64_t moved, size_t holds, bool may_move,
                     const Room::Holder& holder) const;
  uint64_t StuckMs(Connection& connection, size_t input_holds, size_t output_holds);

  // The lane: loop_lane.cc.
  // Bytes of its request, in all, for which it asks the lane; 0: it is not proven.
  size_t ExpectedOfLane(const Connection& connection) const;
  bool IsProvenReader(const Connection& connection, size_t n) const;
  // Whether that many bytes take longer than a quick peer would need.
  bool IsLong(const Connection::Pace& pace, size_t bytes) const;
  // Part of its request is kept beyond the turn.
  void NoteHalf(Connection& connection);
  // It gets no more of the lane for a while, and its part of it becomes common room.
  void LeaveInputLane(Connection& connection);
  void ReviewPace(Connection& connection);
  void ReviewWait(Connection& connection);

  // TLS: loop_tls.cc.
  bool BeginTls(Connection& connection, TlsMode mode);
  void EndTls(Connection& connection);
  bool MayShakeHands(Connection& connection, std::string_view sealed);
  void GoOnWithHandshakes();
  void OpenRecords(Connection& connection, std::string_view sealed);
  void FailTls(Connection& connection);
  void EndSlowHandshake(Connection& connection);
  void FailHandshake(Connection& connection, std::string_view why);

  // Connections.
  void OpenConnection(const NewSocket& socket);
  // Closes sockets that it is given, now and from now on.
  void RefuseNewSockets();
  void Close(Connection& connection);
  // Closing with unread input makes TCP reset the connection, which can overtake the last reply.
  static void EndPolitely(int fd);
  static bool IsBusy(const Connection& connection);
  void CloseIdle();    // loop_watch.cc
  void LookForGone();  // loop_watch.cc
  static bool WaitsInVain(const Connection& connection);
  void Unlist(std::vector<Connection*>& list, Connection& connection);
  void EnterTable(Connection& connection) WEFT_EXCLUDES(table_mutex_);
  void LeaveTable(Connection& connection) WEFT_EXCLUDES(table_mutex_);

  // Accepting: loop_accept.cc.
  LoopCore& Fewest();
  void Accepted(int fd, size_t listener_index);
  void Refuse(int fd, TlsMode tls);
  void WatchListeners();
  void UnwatchListeners();
  void ReleaseSeat();

  // Stopping.
  void BeginStop();
  void StopStep();
  bool Settled(const Connection& connection) const;
  bool Finished() const { return stopping_ && connections_.empty() && AllBuried(); }

  // Constant once Run has begun.
  std::vector<LoopCore*> group_;

  // Owned by the loop's thread.
  std::vector<Connection*> ready_;
  std::vector<Connection*> touched_;
  std::vector<Connection*> again_;
  std::vector<Connection*> graveyard_;
  std::deque<Connection*> handshakes_;  // that wait for their turn: the first comes next
  int handshake_steps_left_ = 0;        // first answers, in this turn
  std::unique_ptr<char[]> sealed_;      // take_bytes_max, as received; null before the first
  size_t next_in_group_ = 0;
  size_t next_watched_ = 0;  // in connections_
  uint64_t now_ms_ = 0;
  uint64_t next_tick_ms_ = 0;
  uint64_t next_idle_sweep_ms_ = 0;
  uint64_t next_trim_ms_ = 0;
  Room::Client input_client_;
  Room::Client output_client_;
  size_t beside_bytes_ = 0;       // that all connections received beside the rooms
  size_t beside_bytes_kept_ = 0;  // the part from before this turn
  uint64_t stop_deadline_ms_ = 0;
  bool contended_ = false;  // somebody waits for room
  bool bell_rang_ = false;
  bool accept_paused_ = false;
  bool listening_ = false;
  bool stopping_ = false;

  // Changed by the loop's thread under the mutex, so that others may walk it under the mutex.
  base::Mutex table_mutex_;
  std::vector<Connection*> connections_;

  // Any thread. Relaxed: only the thread itself finds its own id.
  std::atomic<std::thread::id> thread_{};
  // Any thread. Sequentially consistent: read after the bell, whose system calls cost far more.
  std::atomic<int64_t> stop_grace_ms_{-1};
  std::atomic<bool> wake_requested_{false};
  std::atomic<bool> grants_due_{false};
  // Connections given to this loop, including those on their way. Relaxed: a count, no data.
  std::atomic<uint32_t> assigned_{0};

  // Written by the loop's thread, read by any.
  OwnedCounter clock_ms_;
  OwnedCounter opened_;
  OwnedCounter accept_pauses_;
  OwnedCounter accept_paused_ms_;    // without the present pause
  OwnedCounter accept_paused_from_;  // on clock_ms_; 0: it accepts
  OwnedCounter idle_closed_;
  OwnedCounter shed_closed_;
  OwnedCounter turns_;
  OwnedCounter batches_;
  OwnedCounter bytes_in_;
  OwnedCounter bytes_out_;
};

}  // namespace weft::net
