#include "net/uring_loop.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "base/check.h"

namespace weft::net {
namespace {

constexpr unsigned kSubmissionEntries = 2048;
// Room for every buffer, every failed send of a turn and a good many endings at once.
constexpr unsigned kCompletionEntries = 8192;
constexpr size_t kQueuedSendsMax = 4096;
constexpr size_t kQueuedSendBytesMax = size_t{64} << 10;
constexpr unsigned kBufferCount = 512;
constexpr int kBufferGroup = 0;

io_uring_params RingParams() {
  io_uring_params params = {};
  params.flags = IORING_SETUP_CQSIZE | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
                 IORING_SETUP_SUBMIT_ALL | IORING_SETUP_R_DISABLED;
  params.cq_entries = kCompletionEntries;
  return params;
}

Status Unsupported(const char* what, int error) {
  return {Code::kUnsupported,
          "io_uring: " + std::string(Status::FromErrno(what, -error).message())};
}

// A ring for one try, gone with it.
struct TrialRing {
  TrialRing() {
    io_uring_params params = RingParams();
    params.flags &= ~IORING_SETUP_R_DISABLED;
    params.cq_entries = 16;
    error = io_uring_queue_init_params(8, &ring, &params);
    if (error == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) error = -errno;
  }
  ~TrialRing() {
    for (int end : ends) {
      if (end >= 0) close(end);
    }
    if (ring.ring_fd > 0) io_uring_queue_exit(&ring);
    if (buffer_ring != MAP_FAILED) munmap(buffer_ring, 4096);
  }
  io_uring ring = {};
  int ends[2] = {-1, -1};
  int error = 0;
  void* buffer_ring = MAP_FAILED;
  char buffer[64] = "";
};

int LendBuffer(TrialRing& trial) {
  trial.buffer_ring =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (trial.buffer_ring == MAP_FAILED) return -errno;
  io_uring_buf_reg registration = {};
  registration.ring_addr = reinterpret_cast<uint64_t>(trial.buffer_ring);
  registration.ring_entries = 2;
  const int error = io_uring_register_buf_ring(&trial.ring, &registration, 0);
  if (error != 0) return error;
  auto* buffers = static_cast<io_uring_buf_ring*>(trial.buffer_ring);
  io_uring_buf_ring_add(buffers, trial.buffer, sizeof trial.buffer, 0, 1, 0);
  io_uring_buf_ring_advance(buffers, 1);
  return 0;
}

// One send that must say nothing and one multishot receive that must bring its byte and stay armed.
Status Try() {
  TrialRing trial;
  if (trial.error != 0) return Unsupported("io_uring_setup", trial.error);
  if (const int error = LendBuffer(trial); error != 0) return Unsupported("buffer ring", error);
  io_uring_sqe* entry = io_uring_get_sqe(&trial.ring);
  io_uring_prep_send(entry, trial.ends[0], "x", 1, MSG_DONTWAIT | MSG_WAITALL | MSG_NOSIGNAL);
  entry->flags |= IOSQE_CQE_SKIP_SUCCESS;
  entry = io_uring_get_sqe(&trial.ring);
  io_uring_prep_recv_multishot(entry, trial.ends[1], nullptr, 0, 0);
  entry->flags |= IOSQE_BUFFER_SELECT;
  entry->buf_group = 0;
  entry->user_data = 1;
  __kernel_timespec limit = {1, 0};
  io_uring_cqe* completion = nullptr;
  const int error = io_uring_submit_and_wait_timeout(&trial.ring, &completion, 1, &limit, nullptr);
  if (error < 0 || completion == nullptr) return Unsupported("io_uring_enter", error);
  if (completion->res < 0) return Unsupported("multishot receive", completion->res);
  const bool as_wanted = completion->user_data == 1 && completion->res == 1 &&
                         (completion->flags & IORING_CQE_F_BUFFER) != 0 &&
                         (completion->flags & IORING_CQE_F_MORE) != 0 && trial.buffer[0] == 'x';
  if (!as_wanted)
    return {Code::kUnsupported,
            "io_uring: multishot receive behaves differently from what Weft needs"};
  return Status::Ok();
}

}  // namespace

Status UringLoop::Probe() {
  // Never destroyed: threads may outlive main.
  static const Status* const status = new Status(Try());
  return *status;
}

UringLoop::UringLoop(const LoopOptions& options, Handler* handler)
    : LoopCore(options, handler),
      accept_armed_(options.listeners.size(), false),
      accept_wanted_(options.listeners.size(), false) {}

UringLoop::~UringLoop() {
  if (ring_open_) io_uring_queue_exit(&ring_);
  if (buffer_ring_ != nullptr) munmap(buffer_ring_, kBufferCount * sizeof(io_uring_buf));
  for (Connection* connection : leaving_) Bury(*connection);
}

Status UringLoop::OpenBackEnd() {
  io_uring_params params = RingParams();
  const int error = io_uring_queue_init_params(kSubmissionEntries, &ring_, &params);
  if (error != 0) return Unsupported("io_uring_setup", error);
  ring_open_ = true;
  return OpenBuffers();
}

Status UringLoop::OpenBuffers() {
  void* const memory = mmap(nullptr, kBufferCount * sizeof(io_uring_buf), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return Status::FromErrno("mmap", errno);
  buffer_ring_ = static_cast<io_uring_buf_ring*>(memory);
  io_uring_buf_reg registration = {};
  registration.ring_addr = reinterpret_cast<uint64_t>(memory);
  registration.ring_entries = kBufferCount;
  registration.bgid = kBufferGroup;
  const int error = io_uring_register_buf_ring(&ring_, &registration, 0);
  if (error != 0) return Unsupported("io_uring_register_buf_ring", error);
  buffers_ = std::make_unique_for_overwrite<char[]>(kBufferCount * kBufferBytes);
  for (unsigned i = 0; i < kBufferCount; ++i) ReturnBuffer(i);
  io_uring_buf_ring_advance(buffer_ring_, returned_count_);
  returned_count_ = 0;
  return Status::Ok();
}

Status UringLoop::StartBackEnd() {
  // liburing 2.3 declares io_uring_enable_rings but its shared library does not export it.
  const int error = io_uring_register(static_cast<unsigned>(ring_.ring_fd),
                                      IORING_REGISTER_ENABLE_RINGS, nullptr, 0);
  if (error != 0) return Unsupported("enable the ring", error);
  io_uring_register_ring_fd(&ring_);  // saves a look-up a call; its failure costs only that
  ArmBell();
  return Status::Ok();
}

void UringLoop::EndBackEnd() {
  if ((ring_.int_flags & 1) != 0) io_uring_unregister_ring_fd(&ring_);
}

// --- entries ---------------------------------------------------------------------------------

io_uring_sqe* UringLoop::NextEntry() {
  io_uring_sqe* entry = io_uring_get_sqe(&ring_);
  if (entry == nullptr) {
    io_uring_submit(&ring_);
    entry = io_uring_get_sqe(&ring_);
    WEFT_CHECK(entry != nullptr);
  }
  return entry;
}

void UringLoop::CancelWord(uint64_t word) {
  io_uring_sqe* const entry = NextEntry();
  io_uring_prep_cancel64(entry, word, 0);
  entry->user_data = kIgnore;
  entry->flags |= IOSQE_CQE_SKIP_SUCCESS;
}

void UringLoop::ArmReceive(Connection& connection) {
  io_uring_sqe* const entry = NextEntry();
  io_uring_prep_recv_multishot(entry, connection.fd_, nullptr, 0, 0);
  entry->user_data = Word(connection, kReceive);
  entry->flags |= IOSQE_BUFFER_SELECT;
  entry->buf_group = kBufferGroup;
  connection.recv_armed_ = true;
}

void UringLoop::ArmBell() {
  io_uring_sqe* const entry = NextEntry();
  io_uring_prep_poll_multishot(entry, handover_.bell_fd(), POLLIN);
  entry->user_data = kBell;
}

void UringLoop::WantWritable(Connection& connection) {
  io_uring_sqe* const entry = NextEntry();
  io_uring_prep_poll_add(entry, connection.fd_, POLLOUT);
  entry->user_data = Word(connection, kRoom);
  connection.poll_armed_ = true;
}

// --- the turn --------------------------------------------------------------------------------

bool UringLoop::HasWork() const { return review_soon_ || HoldsInput(); }

bool UringLoop::HoldsInput() const {
  return io_uring_cq_ready(&ring_) > 0 || io_uring_cq_has_overflow(&ring_);
}

Status UringLoop::Enter(int timeout_ms) {
  int result;
  if (timeout_ms == 0) {
    result = io_uring_submit_and_get_events(&ring_);
  } else {
    __kernel_timespec limit = {timeout_ms / 1000, (timeout_ms % 1000) * 1'000'000LL};
    io_uring_cqe* first = nullptr;
    result = io_uring_submit_and_wait_timeout(&ring_, &first, 1, &limit, nullptr);
  }
  // An interrupted or timed out call may leave entries behind, and FinishSends counts on none.
  for (int i = 0; i < 64 && io_uring_sq_ready(&ring_) > 0; ++i) io_uring_submit(&ring_);
  if (io_uring_sq_ready(&ring_) > 0) return Status::FromErrno("io_uring_enter", EBUSY);
  const bool usual =
      result >= 0 || result == -ETIME || result == -EINTR || result == -EAGAIN || result == -EBUSY;
  return usual ? Status::Ok() : Status::FromErrno("io_uring_enter", -result);
}

// What the ring had no room for is kept by the kernel. It may name failed sends, so it is fetched
// before those that nothing names are taken for sent.
void UringLoop::TakeSpilled() {
  while (io_uring_cq_has_overflow(&ring_)) {
    unsigned head;
    unsigned count = 0;
    io_uring_cqe* completion;
    io_uring_for_each_cqe(&ring_, head, completion) {
      spilled_.push_back(*completion);
      ++count;
    }
    io_uring_cq_advance(&ring_, count);
    const int result = io_uring_get_events(&ring_);
    if (count == 0 && result < 0 && result != -EINTR) return;
  }
}

Status UringLoop::WaitAndReceive(int timeout_ms) {
  Status status = Enter(timeout_ms);
  if (!status.ok()) return status;
  UpdateClock();
  review_soon_ = false;
  TakeSpilled();
  FinishSends();
  FollowTightness();
  for (const io_uring_cqe& completion : spilled_) OnCompletion(completion);
  spilled_.clear();
  unsigned head;
  unsigned count = 0;
  io_uring_cqe* completion;
  io_uring_for_each_cqe(&ring_, head, completion) {
    OnCompletion(*completion);
    ++count;
  }
  io_uring_cq_advance(&ring_, count);
  return Status::Ok();
}

void UringLoop::OnCompletion(const io_uring_cqe& completion) {
  const uint64_t subject = completion.user_data & ~kTagMask;
  switch (completion.user_data & kTagMask) {
    case kReceive: return OnReceive(*reinterpret_cast<Connection*>(subject), completion);
    case kInput: return OnInput(*reinterpret_cast<Connection*>(subject));
    case kRoom: return OnRoom(*reinterpret_cast<Connection*>(subject));
    case kAccept: return OnAccept(static_cast<size_t>(subject / 8), completion);
    case kBell:
      BellRang();
      if ((completion.flags & IORING_CQE_F_MORE) == 0) ArmBell();
      return;
    default: return;  // failed sends were seen by FinishSends
  }
}

void UringLoop::InputTaken() {
  for (unsigned buffer : lent_buffers_) ReturnBuffer(buffer);
  lent_buffers_.clear();
  FollowTightness();
  // While memory is tight the system gets no buffers back: it would fill them before the receives
  // that are with it are cancelled, turn after turn.
  if (returned_count_ > 0 && !tight_) {
    io_uring_buf_ring_advance(buffer_ring_, returned_count_);
    returned_count_ = 0;
  }
  for (Connection* connection : rearm_) {
    connection->listed_ = false;
    if (!connection->closed_) ReviewReading(*connection);
  }
  rearm_.clear();
}

// --- receiving -------------------------------------------------------------------------------

void UringLoop::ReturnBuffer(unsigned buffer) {
  io_uring_buf_ring_add(buffer_ring_, buffers_.get() + buffer * kBufferBytes, kBufferBytes,
                        static_cast<unsigned short>(buffer), io_uring_buf_ring_mask(kBufferCount),
                        returned_count_++);
}

void UringLoop::OnReceive(Connection& connection, const io_uring_cqe& completion) {
  if ((completion.flags & IORING_CQE_F_MORE) == 0) {
    connection.recv_armed_ = false;
    connection.cancelling_ = false;
  }
  const bool has_buffer = (completion.flags & IORING_CQE_F_BUFFER) != 0;
  const unsigned buffer = completion.flags >> IORING_CQE_BUFFER_SHIFT;
  if (connection.closed_) {
    if (has_buffer) ReturnBuffer(buffer);
    return BuryIfFree(connection);
  }
  const int result = completion.res;
  if (result > 0) {
    TakeBuffer(connection, buffer, static_cast<size_t>(result));
  } else {
    if (has_buffer) ReturnBuffer(buffer);
    if (result == 0) {
      connection.at_end_ = true;
    } else if (result != -ENOBUFS && result != -ECANCELED && result != -EINTR &&
               result != -EAGAIN) {
      connection.doomed_ = true;
    }
    Touch(connection);
  }
  if (!connection.recv_armed_ && !connection.listed_) {
    connection.listed_ = true;
    rearm_.push_back(&connection);
  }
}

void UringLoop::ReviewReading(Connection& connection) {
  if (!connection.recv_armed_) {
    if (connection.input_poll_armed_ || !connection.MayRead()) return;
    return tight_ ? ArmInputPoll(connection) : ArmReceive(connection);
  }
  // Requests that wait for the output to drain need no cancelling unless more keep piling up.
  const bool piling = connection.partial_.size() > options_.take_bytes_max;
  const bool unwanted = connection.paused_ || connection.closing_ ||
                        ((connection.has_more_ || connection.held_) && piling);
  if (unwanted && !connection.cancelling_) {
    connection.cancelling_ = true;
    CancelWord(Word(connection, kReceive));
  }
}

// --- sending ---------------------------------------------------------------------------------

void UringLoop::SendOutput(Connection& connection) {
  iovec pieces[2];
  const int count = connection.wire_->Gather(pieces, 2);
  const bool more = connection.tls_ != nullptr && !connection.output_.empty();  // to seal
  if (count != 1 || more || pieces[0].iov_len > kQueuedSendBytesMax ||
      queued_sends_.size() >= kQueuedSendsMax) {
    return SendNow(connection);
  }
  io_uring_sqe* const entry = NextEntry();
  io_uring_prep_send(entry, connection.fd_, pieces[0].iov_base, pieces[0].iov_len,
                     MSG_NOSIGNAL | MSG_DONTWAIT | MSG_WAITALL);
  entry->user_data = Word(connection, kSend);
  entry->flags |= IOSQE_CQE_SKIP_SUCCESS;
  connection.send_queued_ = true;
  connection.send_result_ = Connection::kAllSent;
  queued_sends_.push_back({&connection, pieces[0].iov_len});
  sends_queued_ = queued_sends_.size();
  if (connection.has_more_ || connection.closing_ || connection.at_end_ || connection.paused_ ||
      stopping() || (connection.output_room_.taken() != 0 && rooms_->output.tight())) {
    review_soon_ = true;
  }
  // Nobody else watches the socket until the send is done, which only the next event tells.
  if (!connection.recv_armed_) ReviewReading(connection);
}

void UringLoop::FinishSends() {
  if (queued_sends_.empty()) return;
  const auto note_failure = [](const io_uring_cqe& completion) {
    if ((completion.user_data & kTagMask) != kSend) return;
    reinterpret_cast<Connection*>(completion.user_data & ~kTagMask)->send_result_ = completion.res;
  };
  for (const io_uring_cqe& completion : spilled_) note_failure(completion);
  unsigned head;
  io_uring_cqe* completion;
  io_uring_for_each_cqe(&ring_, head, completion) note_failure(*completion);
  // What OnClose or OnTick wrote since the last flush may still lie in the arena.
  const bool arena_free = touched_.empty();
  for (const QueuedSend& send : queued_sends_) FinishSend(*send.connection, send.bytes);
  queued_sends_.clear();
  sends_queued_ = 0;
  if (arena_free) arena_.Reset();  // whatever was not sent has been kept elsewhere
}

void UringLoop::FinishSend(Connection& connection, size_t bytes) {
  connection.send_queued_ = false;
  const int result = connection.send_result_;
  if (result == Connection::kAllSent) {
    CountSent(connection, bytes);
  } else if (result > 0) {
    CountSent(connection, static_cast<size_t>(result));
    Block(connection);
  } else if (result == -EAGAIN || result == -ENOBUFS || result == -ENOMEM) {
    Block(connection);
  } else if (result != -EINTR) {
    connection.doomed_ = true;
  }
  if (connection.doomed_) {
    connection.output_.Clear(pool_);
    connection.wire_->Clear(pool_);
  }
  if (connection.unsent() > 0 && !connection.blocked_) {
    if (!connection.output_.KeepUnsent(pool_) || !connection.wire_->KeepUnsent(pool_))
      connection.doomed_ = true;
    Touch(connection);
  }
  Review(connection);
}

void UringLoop::OnRoom(Connection& connection) {
  connection.poll_armed_ = false;
  if (connection.closed_) return BuryIfFree(connection);
  connection.blocked_ = false;
  Touch(connection);
}

// --- opening and closing ---------------------------------------------------------------------

bool UringLoop::Attach(Connection& connection) {
  ArmReceive(connection);
  return true;
}

void UringLoop::Detach(Connection& connection) {
  leaving_.insert(&connection);
  // By their words: to find what a descriptor has, the system looks through all that it has.
  if (connection.recv_armed_) CancelWord(Word(connection, kReceive));
  if (connection.poll_armed_) CancelWord(Word(connection, kRoom));
  if (connection.input_poll_armed_) CancelWord(Word(connection, kInput));
  BuryIfFree(connection);
}

void UringLoop::BuryIfFree(Connection& connection) {
  if (IsWithSystem(connection)) return;
  leaving_.erase(&connection);
  Bury(connection);
}

// --- accepting -------------------------------------------------------------------------------

void UringLoop::WatchListener(size_t index) {
  accept_wanted_[index] = true;
  if (accept_armed_[index]) return;
  accept_armed_[index] = true;
  io_uring_sqe* const entry = NextEntry();
  io_uring_prep_poll_add(entry, options_.listeners[index]->fd(), POLLIN);
  entry->user_data = index * 8 | kAccept;
}

void UringLoop::UnwatchListener(size_t index) {
  accept_wanted_[index] = false;
  if (!accept_armed_[index]) return;
  CancelWord(index * 8 | kAccept);
}

void UringLoop::OnAccept(size_t index, const io_uring_cqe& completion) {
  accept_armed_[index] = false;
  if (completion.res >= 0) {
    AcceptReady(index);
  } else if (completion.res != -ECANCELED) {
    AcceptFailed(-completion.res);
  }
  if (!accept_armed_[index] && accept_wanted_[index]) WatchListener(index);
}

}  // namespace weft::net
