#include "server/worker.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "cache/entry.h"
#include "pipeline/reply_of.h"
#include "server/stats.h"

namespace weft::server {

using protocol::Entered;
using protocol::Request;
using protocol::RequestKind;

namespace {

// So often answers may be out of date when they come, before the worker itself looks up.
constexpr uint32_t kVainRoundsMax = 3;

// So many batches one connection fills in a turn before others get theirs. What comes with one
// receive is seldom more.
constexpr uint32_t kBatchesATurn = 4;

// So long a reading of the clock of seconds is good for.
constexpr uint64_t kSecondsLastNs = 1'000'000;

}  // namespace

Result<std::unique_ptr<Worker>> Worker::Create(cache::Store* store, Front* front,
                                               const WorkerOptions& options, Disk disk) {
  std::unique_ptr<cache::Session> session = store->NewSession();
  if (session == nullptr) return Status(Code::kNoMemory, "too many worker threads");
  // The constructor is private so that no worker exists without a session; owned at once.
  std::unique_ptr<Worker> worker(new Worker(store, front, options, std::move(session), disk));
  if (Status status = worker->OpenPlan(); !status.ok()) return status;
  return worker;
}

Worker::Worker(cache::Store* store, Front* front, const WorkerOptions& options,
               std::unique_ptr<cache::Session> session, Disk disk)
    : store_(store),
      front_(front),
      options_(options),
      disk_(disk),
      session_(std::move(session)),
      prefixes_(options.prefix_delimiter),
      turn_(disk.tier == nullptr ? nullptr
                                 : std::make_unique<pipeline::DiskTurn>(disk.tier, store)),
      stage_(store, &times_, turn_.get()),
      device_batch_min_(options.device_batch_min),
      batch_(pipeline::Plan::OneStageCpu()),
      mailbox_([this] { loop_->Wake(); }) {
  own_.batch = &batch_;
  own_.scratch.resize(protocol::kScratchBytes);
  if (options.watch == nullptr) return;
  options.watch->set_wake([this] { loop_->Wake(); });
  session_->set_eviction_watch(options.watch);
}

void Worker::OnOpen(net::Connection& connection) {
  WEFT_CHECK(connection.listener_index() < options_.terms.size());
  auto peer = std::make_unique<Peer>(options_.terms[connection.listener_index()]);
  connection.state = peer.release();  // OnClose takes it back
  if (Logs()) LogOpened(connection);
  if (IsWatched(protocol::kWatchConnections)) NoteOpened(connection);
}

void Worker::OnClose(net::Connection& connection) {
  if (held_.erase(connection.id()) != 0) disk_.pool->Forget(connection.id(), &mailbox_);
  ForgetConnection(connection);
  std::erase(refused_, &connection);
  Peer& peer = PeerOf(connection);
  if (peer.dump != nullptr) EndDump(&peer);
  EndWatch(connection, peer);
  if (IsWatched(protocol::kWatchConnections)) NoteClosed(connection, peer);
  rewrites_.Forget(&peer.rewrites);
  heavy_.Forget(&peer.heavy);
  DropAnswers(&peer);
  if (Logs()) LogClosed(connection);
  const std::unique_ptr<Peer> gone(&peer);
}

void Worker::OnTick() {
  if (options_.number == 0) front_->RunErrands();
  if (!refused_.empty()) AnswerLate();
  if (dumping_ != nullptr) EndStuckDump();
  if (!watchers_.empty()) LookAfterWatchers();
  FlushIfDue();
  ResumeLanded();
  store_->Maintain(*session_, 1);
}

// Answers have come: their connections go on.
void Worker::OnWake() {
  if (options_.number == 0) front_->RunErrands();
  SendLines();
  ResumeLanded();
  for (tier::Mailbox::Letter& letter : mailbox_.Take()) {
    const auto held = held_.find(letter.id);
    if (held == held_.end()) continue;  // it was closed meanwhile
    Peer& peer = PeerOf(*held->second);
    DropAnswers(&peer);
    peer.answers = std::move(letter.lookup);
    peer.lookups_finish = letter.finish;
    held->second->Resume();
    held_.erase(held);
  }
}

void Worker::OnBatch(std::span<net::Connection* const> ready) {
  FlushIfDue();
  if (turn_begins_) BeginTurn();
  if (dumping_ != nullptr) ready = GoOnWithDump(ready);
  if (runner_ != nullptr) ready = AnswerLanded(ready);
  uint32_t in_a_row = 0;  // batches that the first of `ready` has filled
  while (!ready.empty()) {
    FollowPlanner();
    Work* const work = FreeWork();
    const uint64_t start = base::ReadTicks();
    const size_t filled = Fill(work, ready);
    times_.Add(pipeline::Task::kParse, base::ReadTicks() - start, work->batch->size());
    const bool sends = work->run != nullptr && work->batch->size() >= device_batch_min_;
    const bool under_way = sends && SendOff(work);
    if (!sends) RunOneStage(work);
    // The last one may have more than fitted; it goes first next time, if it may still be written.
    const Source& last = work->sources.back();
    const bool has_more = last.entering.exhausted == protocol::Exhausted::kBatchFull &&
                          last.stopped == nullptr && !last.close &&
                          !(under_way && last.queries != 0);
    in_a_row = has_more ? in_a_row + 1 : 0;
    const bool yields = in_a_row == kBatchesATurn;
    if (yields) Yield(ready[filled - 1]);
    ready = ready.subspan(has_more && !yields ? filled - 1 : filled);
    if (yields) in_a_row = 0;
  }
}

void Worker::BeginTurn() {
  turn_begins_ = false;
  const uint64_t now_ns = latency_.BeginTurn();
  // The clock of seconds is no finer. Also where the processor's counter has stepped back.
  if (now_ns - now_s_read_ns_ >= kSecondsLastNs) {
    now_s_ = base::NowSeconds();
    now_s_read_ns_ = now_ns;
  }
  heavy_.BeginTurn(now_ns);
  rewrites_.BeginTurn(now_ns);
}

// It has taken its share of the turn: others are received from, and sent to, before it goes on.
void Worker::Yield(net::Connection* connection) {
  PeerOf(*connection).since = latency_.began_ticks();
  connection->HasMore();
  yields_.Add(1);
}

// New requests come before what devices are at, so a set at a time. A turn of the loop begins so,
// after the replies of the last one have been sent.
bool Worker::OnSpareTime() {
  latency_.EndTurn();
  turn_begins_ = true;
  return runner_ != nullptr && runner_->Help();
}

void Worker::RunOneStage(Work* work) {
  work_ = work;
  stage_.Run(*work->batch, *session_, *this);
  SettleAll(work);
  NoteDone(*work);
}

void Worker::NoteDone(const Work& work) {
  if (options_.planner != nullptr) options_.planner->Note(options_.number, *work.batch);
}

void Worker::SettleAll(Work* work) {
  for (Source& source : work->sources) {
    if (source.connection != nullptr) Settle(&source);
  }
}

// Enters the requests of the first connections of `ready` until the batch is full; returns how
// many connections took part.
size_t Worker::Fill(Work* work, std::span<net::Connection* const> ready) {
  pipeline::Batch& batch = *work->batch;
  batch.Clear();
  work->entered.Clear();
  work->sources.clear();
  work->kept.Clear();
  // Not of a batch that may go to a device, which does not say what it found.
  work->is_watched = work->run == nullptr && IsWatched(protocol::kWatchQueries);
  if (turn_ != nullptr) turn_->Clear();
  protocol::ParseContext context;
  context.now_s = now_s_;
  context.start_s = options_.start_s;
  context.item_bytes_max = options_.item_bytes_max;
  context.shutdown_enabled = options_.shutdown_enabled;
  context.scratch = work->scratch.data();
  // A device does not show versions, nor does the disk.
  context.gets_alone = runner_ == nullptr && turn_ == nullptr;
  size_t count = 0;
  while (count < ready.size() && !batch.full()) {
    net::Connection& connection = *ready[count++];
    AddSource(work, connection);
    Source& source = work->sources.back();
    Peer& peer = PeerOf(connection);
    if (turn_ != nullptr) turn_->AddSource(peer.answers.get(), peer.vain_rounds >= kVainRoundsMax);
    const uint32_t before = batch.size();
    source.entering = protocol::Enter(connection.readable(), context, *store_, source.number, &peer,
                                      &batch, &work->entered, work->keeps ? &work->kept : nullptr);
    source.queries = batch.size() - before;
  }
  return count;
}

// After the batch: takes what was answered off the connection's input.
void Worker::Settle(Source* source) {
  net::Connection& connection = *source->connection;
  Peer& peer = PeerOf(connection);
  if (turn_ != nullptr && turn_->failed(source->number)) {
    // What was acknowledged does not last: nothing of this batch is sent. Which of the requests are
    // meant by one error the client could not tell if more came after it.
    connection.TakeBack(source->output_bytes);
    // In the binary protocol an error belongs to one packet: nothing is said.
    if (peer.dialect != protocol::Dialect::kBinary) connection.Append(protocol::kIoErrorText);
    source->close = true;  // what it sent is not entered again
  }
  if (source->close) {
    peer.closing = true;
    DropAnswers(&peer);  // a client that does not read may be away for long
    return connection.CloseAfterFlush();
  }
  if (source->stopped != nullptr) {
    if (work_->batch->rewritten(source->number) >= pipeline::CpuStage::kRewrittenBytesMax) {
      source->room_wanted = 0;  // it was not for room that it was stopped
      yields_.Add(1);
    }
    return Stop(source);
  }
  DropAnswers(&peer);
  peer.vain_rounds = 0;
  peer.since = 0;
  size_t done_bytes = source->entering.parsed_bytes;
  if (source->entering.exhausted == protocol::Exhausted::kBatchFull && !work_->entered.empty() &&
      !work_->entered.back().whole) {
    const Entered& last = work_->entered.back();
    done_bytes =
        protocol::ComeBack(work_->entered, last, last.keys_entered, connection.readable(), &peer);
  }
  // The end of the line that asked for a list stays until that is out: the loop comes again for it.
  const bool waits = source->entering.exhausted == protocol::Exhausted::kWaits;
  if (waits && peer.dump != nullptr) done_bytes--;
  connection.Consume(done_bytes);
  if (source->entering.swallow_bytes != 0) connection.Swallow(source->entering.swallow_bytes);
  switch (source->entering.exhausted) {
    case protocol::Exhausted::kClose:
      if (Logs()) LogForeign(connection, peer);
      peer.closing = true;
      return connection.CloseAfterFlush();
    case protocol::Exhausted::kBatchFull: return;  // OnBatch sees to what is left
    case protocol::Exhausted::kWaits:
      peer.stopped = true;  // what is behind it is not entered in this turn
      if (peer.watches()) return HoldWatcher(connection);
      return source->refused ? DelayAnswer(connection) : connection.HasMore();
    case protocol::Exhausted::kInput:
      // Also 0: a batch that landed in this turn may have asked for bytes that are here by now.
      connection.ExpectBytes(source->entering.needed_bytes);
      return;
  }
}

// Not all may be answered now: the rest comes again when the output has drained, or when the disk
// has answered.
void Worker::Stop(Source* source) {
  net::Connection& connection = *source->connection;
  Peer& peer = PeerOf(connection);
  peer.stopped = true;
  const uint64_t since = std::exchange(peer.since, 0);
  connection.Consume(protocol::ComeBack(work_->entered, *source->stopped, source->keys_done,
                                        connection.readable(), &peer));
  if (turn_ != nullptr && turn_->waiting(source->number)) return WaitForDisk(source, since);
  if (source->gives_way && KeepAnswers(connection)) return connection.HasMore();
  // A client that does not read may be away for long: what it would be told is read again then.
  DropAnswers(&peer);
  peer.vain_rounds = 0;
  connection.HasMore(source->room_wanted);
}

// Whether what the disk has told a connection, which goes on in a later turn, is there until then.
bool Worker::KeepAnswers(net::Connection& connection) {
  Peer& peer = PeerOf(connection);
  if (peer.answers == nullptr) return true;
  if (connection.pending_output() > kRoomAheadBytes) return false;
  if (peer.kept_bytes != 0) return true;
  const size_t bytes = peer.answers->found_bytes();
  if (bytes > kKeptBytesMax - std::min(kKeptBytesMax, kept_bytes_)) return false;
  peer.kept_bytes = bytes;
  kept_bytes_ += bytes;
  return true;
}

void Worker::DropAnswers(Peer* peer) {
  peer->answers.reset();
  kept_bytes_ -= std::exchange(peer->kept_bytes, 0);
}

void Worker::WaitForDisk(Source* source, uint64_t since) {
  net::Connection& connection = *source->connection;
  Peer& peer = PeerOf(connection);
  const bool went_on = source->stopped->begin != 0 || source->keys_done != 0;
  peer.vain_rounds = went_on || peer.answers == nullptr ? 0 : peer.vain_rounds + 1;
  DropAnswers(&peer);
  peer.since = since != 0 ? since : latency_.began_ticks();
  held_.emplace(connection.id(), &connection);
  connection.Hold();
  disk_.pool->Ask(connection.id(), turn_->TakeLookup(source->number), &mailbox_,
                  peer.lookups_finish);
}

void Worker::FlushIfDue() {
  const uint32_t now_s = base::NowSeconds();
  if (turn_ != nullptr && disk_.tier->FlushIsDue(now_s)) disk_.tier->FlushDue(now_s);
}

void Worker::Write(pipeline::Batch& batch, uint32_t begin, uint32_t end, cache::Session& session) {
  for (uint32_t i = begin; i < end;) {
    uint32_t gets_end = WriteGets(batch, i, end, session);
    if (gets_end == i) gets_end = WriteBinaryGets(batch, i, end, session);
    if (gets_end == i) WriteOne(batch, i++, session);
    i = std::max(i, gets_end);
  }
}

void Worker::WriteOne(pipeline::Batch& batch, uint32_t i, cache::Session& session) {
  Entered& entered = work_->entered[batch.tag(i)];
  const Request& request = work_->entered.RequestOf(entered);
  Source& source = work_->sources[batch.source(i)];
  if (source.connection == nullptr || source.close || source.stopped != nullptr) return;
  if (batch.state(i) == pipeline::QueryState::kSkipped) {
    source.stopped = &entered;
    return;
  }
  const bool last_of_batch = i + 1 == batch.size() || batch.tag(i + 1) != batch.tag(i);
  source.keys_done = last_of_batch ? 0 : source.keys_done + 1;
  if (entered.is_binary_read()) return WriteBinaryRead(batch, i, session);
  if (batch.kind(i) == pipeline::QueryKind::kOther) {
    latency_.Note(LatencyClass::kOther, 1, PeerOf(*source.connection).since);
    net::Connection& out = *source.connection;
    char* const start = out.Reserve(other_text_.size());
    if (start != nullptr)
      out.Commit(static_cast<size_t>(protocol::WriteText(request, other_text_, start) - start));
  } else {
    const cache::Reply reply = pipeline::ReplyOf(batch, i, session);
    entered.failure = protocol::Worse(entered.failure, reply.outcome);
    WriteReply(batch, i, request, reply, last_of_batch && entered.whole, session);
  }
  source.close = request.close;
  if (request.close) NoteReason(request, *source.connection);
}

// `ends`: the request ends with this query.
void Worker::WriteReply(const pipeline::Batch& batch, uint32_t i, const Request& request,
                        const cache::Reply& reply, bool ends, cache::Session& session) {
  net::Connection& out = *work_->sources[batch.source(i)].connection;
  protocol::WriteQuery(request, batch.key(i), ends, work_->entered[batch.tag(i)].failure, reply,
                       out);
  protocol::CountReply(request, reply, &counters_);
  latency_.Note(LatencyClassOf(request.command.verb), 1, PeerOf(out).since);
  if (front_->CountsByPrefix()) prefixes_.Note(request, batch.key(i), reply);
  if (work_->is_watched) NoteWatched(batch, i, request, reply, session);
}

void Worker::RunOther(pipeline::Batch& batch, uint32_t i, cache::Session& session) {
  other_text_.clear();
  const Source& source = work_->sources[batch.source(i)];
  if (source.close || source.stopped != nullptr) return;
  if (source.connection == nullptr) return;  // nobody waits for it any more
  if (!MayRunNow(batch, i)) return;
  const Request& request = work_->entered.RequestOf(work_->entered[batch.tag(i)]);
  if (work_->is_watched && request.refused == protocol::Refused::kTooLarge)
    NoteWatchedTooLarge(batch, i, request, session);
  if (request.drop_key) {
    cache::Command drop = request.command;
    drop.key = batch.key(i);
    drop.hash = batch.hash(i);
    if (turn_ != nullptr) {
      turn_->DropKey(source.number, drop, session);
    } else {
      store_->Execute(session, drop);
    }
  }
  protocol::CountRefused(request.refused, &counters_);
  if (request.kind == RequestKind::kText && Logs()) LogRefused(*source.connection, request);
  const uint64_t start_ns = IsHeavy(request.kind) ? base::NowNs() : 0;
  if (request.kind == RequestKind::kLogin) {
    Login(request, &work_->sources[batch.source(i)]);
  } else if (request.kind == RequestKind::kDump) {
    BeginDump(request, *source.connection);
  } else if (request.kind == RequestKind::kWatch) {
    BeginWatch(work_->entered[batch.tag(i)], *source.connection);
  } else {
    AnswerOther(request, session);
  }
  if (request.binary) other_text_ = protocol::BinaryFromText(request, other_text_);
  if (work_->sources[batch.source(i)].refused)
    PeerOf(*source.connection).late_answer = std::exchange(other_text_, {});
  if (start_ns != 0) heavy_.Ran(&PeerOf(*source.connection).heavy, base::NowNs() - start_ns);
  TakeRoomOfText(batch, i);
}

void Worker::FlushAll(const Request& request, cache::Session& session) {
  other_text_ = protocol::kOkText;
  if (turn_ == nullptr) return store_->Flush(session, request.flush_at_s);
  session.End();
  const Status status = disk_.tier->Flush(request.flush_at_s, base::NowSeconds());
  session.Begin();
  if (!status.ok()) other_text_ = protocol::kIoErrorText;
}

void Worker::AnswerStats(std::string_view arguments, const cache::Session& session) {
  other_text_ = front_->Stats(arguments);
  // The keys are the store's, to which the front has no session.
  uint32_t limit = 0;
  if (other_text_ == kEmptyReport && CachedumpLimit(arguments, &limit))
    other_text_ = CachedumpText(session, limit);
  if (other_text_ == kEmptyReport && WantsSizes(arguments))
    other_text_ = SizesText(session, store_->ItemCount());
}

void Worker::AnswerOther(const Request& request, cache::Session& session) {
  switch (request.kind) {
    case RequestKind::kText: other_text_ = request.text; return;
    case RequestKind::kVersion:
      other_text_ = "VERSION " + std::string(front_->Version()) + "\r\n";
      return;
    case RequestKind::kStats: return AnswerStats(request.arguments, session);
    case RequestKind::kFlushAll:
      counters_.cmd_flush.Add(1);
      if (!request.text.empty()) {
        other_text_ = request.text;
        return;
      }
      if (!front_->FlushAllowed()) {
        other_text_ = "CLIENT_ERROR flush_all not allowed\r\n";
        return;
      }
      return FlushAll(request, session);
    case RequestKind::kVerbosity: front_->SetVerbosity(request.number); break;
    case RequestKind::kMemoryLimit:
      if (Status status = store_->SetMemoryLimit(uint64_t{request.number} << 20); !status.ok()) {
        other_text_ = "SERVER_ERROR " + std::string(status.message()) + "\r\n";
        return;
      }
      break;
    case RequestKind::kRefreshCerts: other_text_ = front_->RefreshCerts(); return;
    case RequestKind::kShutdown: return front_->Shutdown(request.graceful);
    default: return;  // kQuit says nothing
  }
  other_text_ = protocol::kOkText;
}

}  // namespace weft::server
