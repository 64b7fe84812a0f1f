// server/worker.h: one thread of the server: its sockets' requests through a pipeline and back.
//
// A turn of the event loop (task RV) hands over the ready connections. Their input becomes queries
// of a batch (PP), and a stage carries the batch out. Replies are written to the connections in
// order (RD, WR), and the loop sends them (SD).
//
// With a plan of several stages (server/worker_plan.cc) a batch may be under way on a device while
// the loop goes on. Its connections are held meanwhile, so that each has one batch at a time. When
// the device is done (OnWake) they are resumed, and the next turn runs the last stage and answers.
// Small batches go through the one-stage plan at once: nobody waits for a batch to fill. Where a
// planner chooses the plan (planner/planner.h), the worker asks it before each batch, and reports
// each that is done. Batches under way keep the plan that they began with.
//
// With a durable tier, a connection whose next request needs the disk is held: its keys go to the
// lookup pool, and when the answers are back (OnWake) its input is parsed again from that request.
// The other connections of the worker go on.
//
// Threads   OnBatch and the like: the loop's thread. counters(), times(): any.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "cache/store.h"
#include "net/event_loop.h"
#include "pipeline/cpu_stage.h"
#include "pipeline/plan_runner.h"
#include "planner/planner.h"
#include "protocol/batch_io.h"
#include "server/key_dump.h"
#include "server/latency.h"
#include "server/prefix_counts.h"
#include "server/turn_tickets.h"
#include "server/watch_hub.h"
#include "tier/lookup_pool.h"
#include "tier/mailbox.h"

namespace weft::server {

// What a worker asks of the server it belongs to. Called on the worker's thread.
class Front {
 public:
  virtual ~Front() = default;
  virtual std::string Stats(std::string_view arguments) = 0;
  virtual std::string_view Version() const = 0;
  virtual bool FlushAllowed() const = 0;
  virtual void SetVerbosity(uint32_t level) = 0;
  virtual void Shutdown(bool graceful) = 0;
  // Reads the certificate again; what the client is told.
  virtual std::string RefreshCerts() = 0;
  // Whether keys may be listed, and commands are counted by prefix; and the one list that there may
  // be at a time. Any thread.
  virtual bool DumpAllowed() const = 0;
  virtual bool CountsByPrefix() const = 0;
  virtual bool BeginDump() = 0;
  virtual void EndDump() = 0;
  // Whether these may enter. Any thread.
  virtual bool Admits(std::string_view user, std::string_view password) const = 0;
  // Does what signals have asked for, and looks after what needs it. Called often, by one worker.
  virtual void RunErrands() = 0;
};

// Fewer queries are done sooner by the CPU than a device begins with them.
inline constexpr uint32_t kDeviceBatchMinDefault = 64;

struct WorkerOptions {
  uint32_t item_bytes_max = 1u << 20;
  uint32_t start_s = 0;
  bool shutdown_enabled = false;
  char prefix_delimiter = ':';
  std::vector<protocol::Terms> terms;  // by listener: of each that has connections
  size_t output_high_bytes = size_t{1} << 20;
  // The plan of batches that have `device_batch_min` queries or more; one stage: of all.
  pipeline::Plan plan = pipeline::Plan::OneStageCpu();
  std::vector<processor::Guard*> devices;  // of the plan; they outlive the worker
  uint32_t device_batch_min = kDeviceBatchMinDefault;
  bool steal = true;
  // Chooses the plan instead, of those of the first device, which there must be; it outlives the
  // worker. `number`: the worker's, for it. Then `device_batch_min` is the least that the planner
  // can choose.
  planner::Planner* planner = nullptr;
  uint32_t number = 0;
  WatchPost* watch = nullptr;  // where what it does is told of; null: nobody may watch
};

class Worker final : public net::Handler, private pipeline::Sink {
 public:
  // The durable tier and who looks things up there; both null: none.
  struct Disk {
    tier::DiskTier* tier = nullptr;
    tier::LookupPool* pool = nullptr;
  };

  // kNoMemory where the store can have no more sessions, or a device has too little memory;
  // kInvalidArgument where the plan and the devices don't go together.
  static Result<std::unique_ptr<Worker>> Create(cache::Store* store, Front* front,
                                                const WorkerOptions& options, Disk disk);
  static Result<std::unique_ptr<Worker>> Create(cache::Store* store, Front* front,
                                                const WorkerOptions& options) {
    return Create(store, front, options, {});
  }
  // The loop whose handler this is. With a durable tier or devices: before the loop runs.
  void RunsOn(net::EventLoop* loop) { loop_ = loop; }

  void OnOpen(net::Connection& connection) override;
  void OnClose(net::Connection& connection) override;
  void OnBatch(std::span<net::Connection* const> ready) override;
  bool OnSpareTime() override;
  void OnTick() override;
  void OnWake() override;
  void OnStuck(const net::Connection& connection, size_t bytes, uint64_t ms) override;
  void OnTlsFailure(const net::Connection& connection, std::string_view why) override;

  const protocol::CommandCounters& counters() const { return counters_; }
  const pipeline::TaskTimes& times() const { return times_; }
  // Of commands, while the front has them counted.
  PrefixCounts& prefixes() { return prefixes_; }
  const TurnLatency& latency() const { return latency_; }
  // Times a connection had to let others go first.
  const base::Counter& yields() const { return yields_; }
  // Null where no plan can have a device.
  const pipeline::RunnerCounters* runner_counters() const {
    return runner_ == nullptr ? nullptr : &runner_->counters();
  }

 private:
  struct Work;
  // Of a connection that watches, or that somebody who watches was told of.
  struct WatchPeer {
    std::shared_ptr<Watcher> watcher;  // null: it does not watch
    std::string address;
    uint16_t port = 0;
  };
  // What stays with a connection between batches.
  struct Peer : protocol::Conversation {
    using Conversation::Conversation;
    std::unique_ptr<tier::Lookup> answers;  // to its lookups on disk
    uint32_t vain_rounds = 0;               // times in a row that these were out of date
    uint64_t lookups_finish = 0;            // tier::LookupPool::Ask
    Work* under_way = nullptr;              // its batch on a device

    std::unique_ptr<KeyDump> dump;     // the list of keys that it is being sent
    std::unique_ptr<WatchPeer> watch;  // null of most
    CloseReason close_reason = CloseReason::kError;
    WatchPeer& watch_peer() {
      if (watch == nullptr) watch = std::make_unique<WatchPeer>();
      return *watch;
    }
    bool watches() const { return watch != nullptr && watch->watcher != nullptr; }
    uint32_t refusals = 0;    // times that it failed to log in
    std::string late_answer;  // to the last of them, which waits
    uint64_t answer_ms = 0;   // on the loop's clock: when it is sent
    bool closing = false;     // nothing more is written to it
    bool stopped = false;     // in this turn: the rest of its input comes later
    size_t kept_bytes = 0;    // of `answers`, kept beyond a turn
    uint64_t since = 0;       // ticks of an earlier turn that brought its input; 0: none did
    TurnTickets::Mark heavy;
    TurnTickets::Mark rewrites;
  };
  static Peer& PeerOf(net::Connection& connection) { return *static_cast<Peer*>(connection.state); }

  // Of a turn, for commands about the server, and for bytes of long items that are written again.
  static constexpr uint64_t kTurnHeavyNsMax = 1'000'000;
  static constexpr uint64_t kTurnRewrittenBytesMax = uint64_t{32} << 20;
  // Steps of a list of keys in a turn: some 500 keys.
  static constexpr uint32_t kDumpStepsATurn = 8;
  // Whoever takes nothing of it for so long keeps others from theirs.
  static constexpr uint64_t kDumpStuckMs = 30'000;
  // Whoever guesses passwords on one connection gets so many answers, each so late.
  static constexpr uint32_t kRefusalsMax = 3;
  static constexpr uint64_t kRefusalMs = 100;
  // For replies of a source of a batch that goes to a device, or may wait for the disk, where there
  // is so much: a device does not ask, and no more is brought from disk than there is room for.
  static constexpr size_t kRoomAheadBytes = size_t{256} << 10;
  // Answers of the disk for connections that wait for a later turn. What is beyond that is looked
  // up again.
  static constexpr size_t kKeptBytesMax = size_t{16} << 20;

  // A connection's part in a batch.
  struct Source {
    net::Connection* connection = nullptr;  // null: it was closed while the batch was under way
    uint32_t number = 0;
    size_t output_bytes = 0;  // pending before the batch
    int64_t room_given = 0;   // for replies of this batch
    size_t room_wanted = 0;   // for the reply that found none
    protocol::Entering entering;
    uint32_t queries = 0;  // of this batch
    // First record of it that was not carried out whole; null: all were.
    protocol::Entered* stopped = nullptr;
    uint32_t keys_done = 0;  // of that record, in this batch
    bool gives_way = false;  // it was stopped for what others rewrite
    bool refused = false;    // it failed to log in
    bool close = false;
  };

  // A batch with what it was made from.
  struct Work {
    pipeline::Batch* batch = nullptr;
    pipeline::BatchRun* run = nullptr;  // null: of the one-stage plan alone
    uint64_t since = 0;                 // ticks of the turn that it was sent off in
    protocol::Entries entered;
    std::vector<Source> sources;
    std::vector<char> scratch;
    // What `entered` points at, where the batch outlives the turn that its input came in.
    protocol::KeptBytes kept;
    bool keeps = false;
    bool is_watched = false;  // its queries are told of
  };

  Worker(cache::Store* store, Front* front, const WorkerOptions& options,
         std::unique_ptr<cache::Session> session, Disk disk);

  Status OpenPlan();
  size_t Fill(Work* work, std::span<net::Connection* const> ready);
  void Yield(net::Connection* connection);
  void RunOneStage(Work* work);
  void SettleAll(Work* work);
  void NoteDone(const Work& work);
  // worker_plan.cc
  std::span<net::Connection* const> AnswerLanded(std::span<net::Connection* const> ready);
  void FollowPlanner();
  Work* FreeWork();
  bool SendOff(Work* work);
  void Land(Work* work);
  void ResumeLanded();
  void ForgetConnection(net::Connection& connection);

  void Settle(Source* source);
  void Stop(Source* source);
  void BeginTurn();
  bool KeepAnswers(net::Connection& connection);
  void DropAnswers(Peer* peer);
  void WaitForDisk(Source* source, uint64_t since);
  void FlushIfDue();
  void FlushAll(const protocol::Request& request, cache::Session& session);
  void Write(pipeline::Batch& batch, uint32_t begin, uint32_t end,
             cache::Session& session) override;
  // worker_gets.cc: gets that travel as their keys alone.
  uint32_t GetsEnd(const pipeline::Batch& batch, uint32_t begin, uint32_t end) const;
  void CountGets(uint32_t gets, uint32_t hits, const Source& source);
  uint32_t WriteGets(const pipeline::Batch& batch, uint32_t begin, uint32_t end,
                     const cache::Session& session);
  uint32_t WriteBinaryGets(const pipeline::Batch& batch, uint32_t begin, uint32_t end,
                           const cache::Session& session);
  void WriteBinaryRead(const pipeline::Batch& batch, uint32_t i, cache::Session& session);
  // worker.cc
  void WriteOne(pipeline::Batch& batch, uint32_t i, cache::Session& session);
  void WriteReply(const pipeline::Batch& batch, uint32_t i, const protocol::Request& request,
                  const cache::Reply& reply, bool ends, cache::Session& session);
  void RunOther(pipeline::Batch& batch, uint32_t i, cache::Session& session) override;
  // worker_room.cc
  void AddSource(Work* work, net::Connection& connection);
  bool MoreRoom(pipeline::Batch& batch, uint32_t source, int64_t bytes) override;
  bool MayRewrite(const pipeline::Batch& batch, uint32_t i) override;
  void Rewrote(const pipeline::Batch& batch, uint32_t i, uint64_t bytes) override;
  bool MayRunNow(pipeline::Batch& batch, uint32_t i);
  static bool IsHeavy(protocol::RequestKind kind);
  void TakeRoomOfText(pipeline::Batch& batch, uint32_t i);
  void AnswerOther(const protocol::Request& request, cache::Session& session);
  void AnswerStats(std::string_view arguments, const cache::Session& session);
  // worker_log.cc
  static bool Logs();
  static void LogOpened(const net::Connection& connection);
  void LogClosed(const net::Connection& connection) const;
  static void LogRefused(const net::Connection& connection, const protocol::Request& request);
  static void LogForeign(const net::Connection& connection, const Peer& peer);
  // worker_dump.cc
  void BeginDump(const protocol::Request& request, net::Connection& connection);
  void SendDump(net::Connection& connection);
  void EndDump(Peer* peer);
  void EndStuckDump();
  std::span<net::Connection* const> GoOnWithDump(std::span<net::Connection* const> ready);
  // worker_watch.cc
  void NoteOpened(net::Connection& connection);
  void NoteClosed(const net::Connection& connection, const Peer& peer);
  bool IsWatched(uint32_t some_of) const {
    return options_.watch != nullptr && options_.watch->IsWatched(some_of);
  }
  static void NoteReason(const protocol::Request& request, net::Connection& connection);
  void BeginWatch(const protocol::Entered& entered, net::Connection& connection);
  static void HoldWatcher(net::Connection& connection);
  void EndWatch(net::Connection& connection, const Peer& peer);
  void SendLines();
  void LookAfterWatchers();
  void NoteWatched(const pipeline::Batch& batch, uint32_t i, const protocol::Request& request,
                   const cache::Reply& reply, const cache::Session& session) const;
  void NoteWatchedTooLarge(const pipeline::Batch& batch, uint32_t i,
                           const protocol::Request& request, cache::Session& session);
  // worker_login.cc
  void Login(const protocol::Request& request, Source* source);
  void DelayAnswer(net::Connection& connection);
  void AnswerLate();

  // Constant after construction.
  cache::Store* const store_;
  Front* const front_;
  const WorkerOptions options_;
  const Disk disk_;
  net::EventLoop* loop_ = nullptr;  // set once, before it runs

  // Owned by the worker's thread; the counters are read by any.
  std::unique_ptr<cache::Session> session_;
  pipeline::TaskTimes times_;
  protocol::CommandCounters counters_;
  base::Counter yields_;
  PrefixCounts prefixes_;
  TurnLatency latency_;
  std::unique_ptr<pipeline::DiskTurn> turn_;  // null without a durable tier
  pipeline::CpuStage stage_;
  uint32_t device_batch_min_;
  uint64_t decision_ = 0;  // of the planner's, that is followed
  bool is_device_lost_ = false;
  pipeline::Batch batch_;
  Work own_;                              // of the one-stage plan, within a turn
  Work* work_ = nullptr;                  // being written
  std::vector<Work> works_;               // by run
  std::vector<net::Connection*> fresh_;   // scratch: ready ones without a batch under way
  std::vector<net::Connection*> others_;  // scratch: ready ones without a list under way
  uint32_t now_s_ = base::NowSeconds();
  uint64_t now_s_read_ns_ = 0;  // when, on the clock of turns
  bool turn_begins_ = true;     // of the loop: it may bring several batches of connections
  TurnTickets heavy_{kTurnHeavyNsMax};
  TurnTickets rewrites_{kTurnRewrittenBytesMax, pipeline::CpuStage::kHeavyBytesMin};
  size_t kept_bytes_ = 0;  // of all peers
  uint32_t stuck_logged_s_ = 0;
  uint64_t stuck_unsaid_ = 0;  // closed for it, and not told of in the log
  std::string other_text_;     // answer to the query of kind kOther at work
  std::unordered_map<uint64_t, net::Connection*> held_;  // by id: those that wait for the disk
  // Who is being sent a list of keys, if any; what it had been sent when it last took something.
  net::Connection* dumping_ = nullptr;
  uint64_t dump_sent_bytes_ = 0;
  uint64_t dump_moved_ms_ = 0;
  std::vector<net::Connection*> watchers_;
  std::vector<net::Connection*> refused_;  // that wait for the answer to a login

  // Provides its own synchronisation.
  tier::Mailbox mailbox_;
  // Last: it goes first, and waits for the devices.
  std::unique_ptr<pipeline::PlanRunner> runner_;  // null where no plan can have a device
};

}  // namespace weft::server
