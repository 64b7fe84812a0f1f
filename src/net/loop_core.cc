#include "net/loop_core.h"

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/check.h"
#include "net/tls_session.h"

namespace weft::net {
namespace {

constexpr size_t kArenaBytes = size_t{512} << 10;
constexpr int kStopPollMs = 2;
constexpr uint64_t kTrimMs = 1000;

// Unique over all loops. Relaxed: only uniqueness matters.
std::atomic<uint64_t> next_connection_id{1};

uint64_t CoarseMs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

}  // namespace

size_t LoopCore::UnreadBytes(int fd) {
  int bytes = 0;
  return ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

LoopCore::LoopCore(const LoopOptions& options, Handler* handler)
    : options_(options),
      own_rooms_(options.rooms == nullptr ? std::make_unique<Rooms>() : nullptr),
      rooms_(options.rooms == nullptr ? own_rooms_.get() : options.rooms),
      handler_(handler),
      arena_(kArenaBytes),
      input_client_([this] { RingForGrants(); }),
      output_client_([this] { RingForGrants(); }) {
  UpdateClock();
}

LoopCore::~LoopCore() {
  // Run has closed all connections; what is here was opened by nobody but a failed Run.
  WEFT_CHECK(connections_.empty());
  FreeClosed();
  RefuseNewSockets();
}

void LoopCore::RefuseNewSockets() {
  handover_.Close();
  for (const NewSocket& socket : handover_.Take()) {
    close(socket.fd);
    ReleaseSeat();
  }
}

Status LoopCore::Open() {
  Status status = handover_.Open();
  return status.ok() ? OpenBackEnd() : status;
}

void LoopCore::UpdateClock() {
  now_ms_ = options_.clock_ms == nullptr ? CoarseMs() : options_.clock_ms();
  clock_ms_.Set(now_ms_);
}

// --- the turn --------------------------------------------------------------------------------

Status LoopCore::Run() {
  thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  UpdateClock();
  Status status = StartBackEnd();
  next_tick_ms_ = now_ms_ + static_cast<uint64_t>(options_.tick_ms);
  if (status.ok()) WatchListeners();
  while (status.ok() && !Finished()) {
    status = WaitAndReceive(handler_->OnSpareTime() ? 0 : TimeoutMs());
    turns_.Add(1);
    if (bell_rang_) AnswerBell();
    if (options_.tls != nullptr) GoOnWithHandshakes();
    RunAgain();
    RunBatch();
    if (now_ms_ >= next_tick_ms_) Tick();
    if (stopping_) StopStep();
    FlushTouched();
    FreeClosed();
  }
  while (!connections_.empty()) {  // only after a failed wait
    connections_.back()->send_queued_ = false;
    Close(*connections_.back());
  }
  EndBackEnd();
  FreeClosed();
  if (!status.ok()) RefuseNewSockets();  // others may still give it some, and nobody serves them
  return status;
}

int LoopCore::TimeoutMs() const {
  if (!again_.empty() || !handshakes_.empty() || HasWork()) return 0;
  const int until_tick = static_cast<int>(next_tick_ms_ - std::min(now_ms_, next_tick_ms_));
  // The coarse clock lags by up to 4 ms: a wait of the exact rest would end too early and spin.
  return stopping_ ? kStopPollMs : until_tick + 4;
}

void LoopCore::AnswerBell() {
  bell_rang_ = false;
  handover_.Silence();
  for (const NewSocket& socket : handover_.Take()) OpenConnection(socket);
  if (grants_due_.exchange(false)) TakeGrants();
  if (wake_requested_.exchange(false)) handler_->OnWake();
  if (!stopping_ && stop_grace_ms_.load() >= 0) BeginStop();
}

void LoopCore::RunAgain() {
  // Deliver puts nothing on the list, so it may be walked in place.
  for (Connection* connection : again_) {
    connection->in_again_ = false;
    if (connection->closed_ || connection->in_ready_) continue;
    ShowPartial(*connection);
    Deliver(*connection);
  }
  again_.clear();
}

void LoopCore::ShowPartial(Connection& connection) {
  connection.input_ = connection.partial_.data();
  connection.input_bytes_ = connection.partial_.size();
}

bool LoopCore::ViewIsPartial(const Connection& connection) {
  const char* const own = connection.partial_.data();
  return own != nullptr && connection.input_ >= own &&
         connection.input_ <= own + connection.partial_.size();
}

void LoopCore::Deliver(Connection& connection) {
  if (connection.swallow_bytes_ > 0) {
    const uint64_t n = std::min<uint64_t>(connection.swallow_bytes_, connection.input_bytes_);
    connection.swallow_bytes_ -= n;
    connection.Consume(static_cast<size_t>(n));
  }
  if (connection.held_ ||
      connection.input_bytes_ < std::max<size_t>(connection.expected_bytes_, 1)) {
    if (!connection.held_) {  // it was resumed, or given room, but needs new bytes
      connection.has_more_ = false;
      connection.room_wanted_ = connection.room_left_ = 0;
    }
    KeepInput(connection);
    Touch(connection);
    return;
  }
  if (connection.in_ready_) return;
  connection.in_ready_ = true;
  ready_.push_back(&connection);
}

void LoopCore::KeepInput(Connection& connection) {
  if (ViewIsPartial(connection)) {
    connection.partial_.DropFront(pool_, connection.partial_.size() - connection.input_bytes_);
  } else if (connection.input_bytes_ > 0 &&
             !connection.partial_.Append(pool_, connection.readable(),
                                         connection.expected_bytes_)) {
    connection.doomed_ = true;
  }
  connection.input_ = nullptr;
  connection.input_bytes_ = 0;
  CountInput(connection);
  if (!connection.OwesAnswers()) EndBeside(connection);
  if (connection.partial_.size() > 0) NoteHalf(connection);
  // The system may have brought the rest of a request, while room for it was waited for.
  if (connection.partial_.size() < Connection::kInputFreeBytes)
    rooms_->input.Leave(connection.input_room_);
}

void LoopCore::RunBatch() {
  if (!ready_.empty()) {
    batches_.Add(1);
    for (Connection* connection : ready_) {
      connection->in_ready_ = false;
      connection->has_more_ = false;
      connection->expected_bytes_ = 0;
      connection->room_wanted_ = 0;
    }
    handler_->OnBatch(ready_);
    for (Connection* connection : ready_) {
      if (!connection->held_) connection->room_left_ = 0;
      KeepInput(*connection);
      Touch(*connection);
    }
    ready_.clear();
  }
  beside_bytes_kept_ = beside_bytes_;
  InputTaken();
  FlushTouched();
}

void LoopCore::FlushTouched() {
  SendTouched();
  if (sends_queued_ == 0) arena_.Reset();
}

void LoopCore::SendTouched() {
  // By index: a review may close a connection, whose handler may write to another.
  for (size_t i = 0; i < touched_.size(); ++i) {
    Connection& connection = *touched_[i];
    connection.in_touched_ = false;
    if (connection.closed_ || connection.send_queued_) continue;
    if (connection.tls_ != nullptr) Seal(connection);
    if (connection.wire_->empty()) {
      // What was reserved and never committed; of sealed ones it may be what waits for a handshake.
      if (connection.output_.empty()) connection.output_.Clear(pool_);
    } else if (!connection.blocked_ && !connection.doomed_) {
      SendOutput(connection);
    }
    if (!connection.send_queued_) Review(connection);
  }
  touched_.clear();
}

void LoopCore::Tick() {
  next_tick_ms_ = now_ms_ + static_cast<uint64_t>(options_.tick_ms);
  handler_->OnTick();
  if (accept_paused_ && !stopping_) {
    accept_paused_ = false;
    accept_paused_ms_.Add(now_ms_ - accept_paused_from_.value());
    accept_paused_from_.Set(0);
    WatchListeners();
  }
  if (options_.idle_timeout_ms > 0 && now_ms_ >= next_idle_sweep_ms_) CloseIdle();
  LookForGone();
  ReviewHolders();
  if (now_ms_ >= next_trim_ms_) {
    next_trim_ms_ = now_ms_ + kTrimMs;
    pool_.Trim();
    LookForLostEvents();
  }
}

void LoopCore::FreeClosed() {
  for (Connection* connection : graveyard_) delete connection;
  graveyard_.clear();
}

// --- sending ---------------------------------------------------------------------------------

void LoopCore::CountReceived(Connection& connection, size_t bytes) {
  connection.last_active_ms_.Set(now_ms_);
  if (connection.tls_ != nullptr) return;  // plain bytes count: OpenRecords
  connection.bytes_in_.Add(bytes);
  bytes_in_.Add(bytes);
}

void LoopCore::CountSent(Connection& connection, size_t bytes) {
  connection.wire_->Advance(bytes, pool_);
  connection.last_active_ms_.Set(now_ms_);
  if (connection.tls_ != nullptr) return;  // plain bytes count: Seal
  connection.bytes_out_.Add(bytes);
  bytes_out_.Add(bytes);
}

void LoopCore::Block(Connection& connection) {
  if (!connection.wire_->KeepUnsent(pool_)) {
    connection.doomed_ = true;
    return;
  }
  connection.blocked_ = true;
  WantWritable(connection);
}

void LoopCore::SendNow(Connection& connection) {
  constexpr int kVectors = 32;
  constexpr int kRounds = 8;  // a peer that reads as fast as we send must not hold up the others
  iovec vectors[kVectors];
  for (int round = 0; round < kRounds && !connection.wire_->empty(); ++round) {
    msghdr message = {};
    message.msg_iov = vectors;
    message.msg_iovlen = static_cast<size_t>(connection.wire_->Gather(vectors, kVectors));
    const ssize_t sent = message.msg_iovlen == 1
                             ? send(connection.fd_, vectors[0].iov_base, vectors[0].iov_len,
                                    MSG_NOSIGNAL | MSG_DONTWAIT)
                             : sendmsg(connection.fd_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      CountSent(connection, static_cast<size_t>(sent));
      if (connection.tls_ != nullptr && connection.wire_->empty()) Seal(connection);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == ENOMEM) {
      break;
    } else if (errno != EINTR) {
      connection.doomed_ = true;
      connection.output_.Clear(pool_);
      connection.wire_->Clear(pool_);
    }
  }
  if (!connection.wire_->empty()) Block(connection);
}

// --- deciding --------------------------------------------------------------------------------

void LoopCore::Review(Connection& connection) {
  const size_t pending = connection.unsent();
  connection.output_bytes_seen_.Set(pending);
  const bool answered = connection.closing_ || (connection.at_end_ && !connection.OwesAnswers());
  if (connection.doomed_ || (pending == 0 && answered)) return Close(connection);
  CountOutput(connection);
  // Two marks keep a connection from flapping at the limit.
  connection.paused_ =
      pending > (connection.paused_ ? options_.output_low_bytes : options_.output_high_bytes);
  if (connection.has_more_ && !connection.in_again_ && pending <= options_.output_low_bytes) {
    WaitForOutputRoom(connection);
  }
  ReviewReading(connection);
}

// --- opening and closing ---------------------------------------------------------------------

void LoopCore::OpenConnection(const NewSocket& socket) {
  if (stopping_) {
    close(socket.fd);
    ReleaseSeat();
    return;
  }
  // Owned by connections_ from Register on; Free deletes it.
  auto* connection = new Connection(this, socket.fd, next_connection_id.fetch_add(1),
                                    socket.transport, socket.listener_index, now_ms_);
  EnterTable(*connection);
  opened_.Add(1);
  if (socket.tls != TlsMode::kNone && !BeginTls(*connection, socket.tls)) {
    connection->doomed_ = true;
    Touch(*connection);
  }
  handler_->OnOpen(*connection);
  if (!Attach(*connection)) {
    connection->doomed_ = true;
    Touch(*connection);
  }
}

void LoopCore::Close(Connection& connection) {
  if (connection.closed_) return;
  if (connection.send_queued_) {  // the queued entry names its output: it is reviewed once sent
    connection.doomed_ = true;
    return;
  }
  connection.closed_ = true;
  handler_->OnClose(connection);
  LeaveTable(connection);
  if (connection.in_again_) Unlist(again_, connection);
  if (connection.tls_ != nullptr) EndTls(connection);
  connection.output_.Clear(pool_);
  connection.partial_.Release(pool_);
  LeaveRooms(connection);
  ReleaseSeat();
  if (!connection.doomed_ && !connection.at_end_) EndPolitely(connection.fd_);
  Detach(connection);
}

void LoopCore::EndPolitely(int fd) {
  constexpr size_t kDrainBytesMax = size_t{1} << 20;
  char scrap[16384];
  shutdown(fd, SHUT_WR);
  for (size_t total = 0; total < kDrainBytesMax;) {
    const ssize_t n = recv(fd, scrap, sizeof scrap, MSG_DONTWAIT);
    if (n <= 0) return;
    total += static_cast<size_t>(n);
  }
}

void LoopCore::Unlist(std::vector<Connection*>& list, Connection& connection) {
  list.erase(std::remove(list.begin(), list.end(), &connection), list.end());
}

void LoopCore::Bury(Connection& connection) {
  close(connection.fd_);
  graveyard_.push_back(&connection);
}

void LoopCore::EnterTable(Connection& connection) {
  base::MutexLock lock(&table_mutex_);
  connection.slot_ = static_cast<uint32_t>(connections_.size());
  connections_.push_back(&connection);
}

void LoopCore::LeaveTable(Connection& connection) {
  base::MutexLock lock(&table_mutex_);
  Connection* const last = connections_.back();
  connections_[connection.slot_] = last;
  last->slot_ = connection.slot_;
  connections_.pop_back();
}

void LoopCore::ForEachConnection(const std::function<void(const ConnectionInfo&)>& visit) {
  const uint64_t now = clock_ms_.value();
  // Another thread may not look into the batch.
  std::vector<const Connection*> batch;
  if (thread_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
    batch.assign(ready_.begin(), ready_.end());
    std::sort(batch.begin(), batch.end());
  }
  base::MutexLock lock(&table_mutex_);
  for (const Connection* connection : connections_) {
    ConnectionInfo info;
    info.id = connection->id_;
    info.fd = connection->fd_;
    info.transport = connection->transport_;
    info.listener_index = connection->listener_index_;
    info.peer = connection->PeerText();
    info.age_ms = now - std::min(now, connection->opened_ms_);
    info.idle_ms = now - std::min(now, connection->last_active_ms());
    info.bytes_in = connection->bytes_in();
    info.bytes_out = connection->bytes_out();
    info.pending_output_bytes = connection->output_bytes_seen_.value();
    info.awaits_rest = info.bytes_in != 0 && connection->half_at_.value() == info.bytes_in;
    info.in_batch = std::binary_search(batch.begin(), batch.end(), connection);
    visit(info);
  }
}

LoopStats LoopCore::Stats() const {
  LoopStats stats;
  stats.connections_open = assigned_.load(std::memory_order_relaxed);
  stats.connections_opened = opened_.value();
  stats.accept_pauses = accept_pauses_.value();
  const uint64_t paused_before_ms = accept_paused_ms_.value();
  const uint64_t paused_from = accept_paused_from_.value();
  const uint64_t now_ms = std::max(clock_ms_.value(), paused_from);
  stats.loops_not_accepting = paused_from == 0 ? 0 : 1;
  stats.accept_paused_us =
      (paused_before_ms + (paused_from == 0 ? 0 : now_ms - paused_from)) * 1000;
  stats.idle_closed = idle_closed_.value();
  stats.shed_closed = shed_closed_.value();
  stats.turns = turns_.value();
  stats.batches = batches_.value();
  stats.bytes_in = bytes_in_.value();
  stats.bytes_out = bytes_out_.value();
  stats.buffer_bytes = pool_.in_use_bytes();
  return stats;
}

// --- stopping --------------------------------------------------------------------------------

void LoopCore::Stop(uint64_t grace_ms) {
  stop_grace_ms_.store(static_cast<int64_t>(std::min<uint64_t>(grace_ms, INT64_MAX)));
  handover_.Ring();
}

void LoopCore::Wake() {
  wake_requested_.store(true);
  handover_.Ring();
}

void LoopCore::BeginStop() {
  UnwatchListeners();
  handover_.Close();
  for (const NewSocket& socket : handover_.Take()) OpenConnection(socket);
  const auto grace = static_cast<uint64_t>(stop_grace_ms_.load());
  stop_deadline_ms_ = now_ms_ + std::min<uint64_t>(grace, INT32_MAX);
  stopping_ = true;
}

bool LoopCore::Settled(const Connection& connection) const {
  return connection.unsent() == 0 && !connection.send_queued_ && !connection.OwesAnswers() &&
         !connection.in_ready_ && connection.partial_.size() == 0 &&
         UnreadBytes(connection.fd_) == 0;
}

void LoopCore::StopStep() {
  const bool late = now_ms_ >= stop_deadline_ms_;
  if (!late && HoldsInput()) return;
  for (size_t i = connections_.size(); i-- > 0;) {
    if (late || Settled(*connections_[i])) Close(*connections_[i]);
  }
}

}  // namespace weft::net
