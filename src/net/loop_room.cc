// What a loop's connections hold of the rooms that all loops share, how they wait for more, and who
// is closed for holding it in vain. docs/design/0014-bounds-of-buffers.md has the reasons.
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "net/loop_core.h"
#include "net/tls_session.h"

namespace weft::net {
namespace {

// One that came so much earlier goes before another that lacks so much less.
constexpr uint64_t kBytesPerWaitedMs = 1024;
// Room for a whole request that its sender makes no use of for so long is taken back.
constexpr uint64_t kIdleGrantMs = 200;
// A holder must move this part of what it holds in stuck_ms, so that a byte now and then is not
// enough: 1 MiB has to be through in about three minutes.
constexpr size_t kMovedPart = 64;
// Whoever is in the newcomers' lane must be quick: 1 MiB in 24 seconds.
constexpr size_t kMovedPartInLane = 8;
// Of large requests no more than this is asked: 350 KB a second.
constexpr size_t kMovedBytesMax = size_t{1} << 20;
// Who has not taken what it was sent before waits as though it had come so much later.
constexpr uint64_t kUndeliveredPenaltyMs = 10'000;
// A reply takes this much more than it needs where there is plenty: fewer questions.
constexpr size_t kRoomStep = size_t{16} << 10;

// What is here in whole needs no room: a loop receives so much of it beside the rooms in a turn.
constexpr size_t kBesideBytes = size_t{256} << 10;

// Up to where room is asked for. Where nobody can tell how long a request is, it may be the longest
// line: given room by pieces, lines without an end would hold the lanes one after another.
size_t ExpectedBytes(size_t expected, size_t kept, size_t unknown_max) {
  return expected > kept ? expected : std::max(unknown_max, 2 * kept);
}

// By which the block for `expected` bytes is larger than what is taken.
size_t LackedBytes(size_t expected, size_t taken) {
  const size_t block = BufferPool::BlockBytes(expected);
  return block - std::min(taken, block - 1);
}

size_t InputCharge(size_t held) { return held > Connection::kInputFreeBytes ? held : 0; }

}  // namespace

// --- input -----------------------------------------------------------------------------------

void LoopCore::CountInput(Connection& connection) {
  const size_t charge = InputCharge(connection.partial_.held_bytes());
  Room::Holder& holder = connection.input_room_;
  // A grant for the whole request stays until that has come.
  if (charge != holder.taken() && (charge > holder.taken() || !connection.whole_granted_))
    rooms_->input.SetTaken(holder, charge);
}

size_t LoopCore::RestThatIsHere(const Connection& connection, size_t most) {
  if (connection.tls_ != nullptr) return 0;  // nobody can tell before it is opened
  const size_t here = std::min(UnreadBytes(connection.fd_), most);
  if (here == 0) return 0;
  const size_t kept = connection.partial_.size();
  // Such bytes stay only where the reply that they ask for waits: those are bounded.
  const auto may_take = [&](size_t rest) {
    return FitsRooms(kept + rest) || beside_bytes_kept_ + kept + rest <= kBesideBytes;
  };
  if (connection.expected_bytes_ > kept) {
    const size_t rest = connection.expected_bytes_ - kept;
    return rest <= here && may_take(rest) ? rest : 0;
  }
  // A request of unknown length is a line.
  if (!may_take(1)) return 0;
  if (look_ == nullptr) look_ = std::make_unique_for_overwrite<char[]>(options_.take_bytes_max);
  const ssize_t n = recv(connection.fd_, look_.get(), std::min(here, options_.take_bytes_max),
                         MSG_PEEK | MSG_DONTWAIT);
  const void* const end = n <= 0 ? nullptr : std::memchr(look_.get(), '\n', static_cast<size_t>(n));
  if (end == nullptr) return 0;
  const size_t rest = static_cast<size_t>(static_cast<const char*>(end) - look_.get()) + 1;
  return may_take(rest) ? rest : 0;
}

bool LoopCore::EndWaitIfHere(Connection& connection) {
  if (!connection.input_room_.waits()) return false;
  if (RestThatIsHere(connection, options_.take_bytes_max) == 0) return false;
  rooms_->input.Leave(connection.input_room_);
  return true;
}

bool LoopCore::FitsRooms(size_t n) const {
  const Room::Options& bounds = rooms_->input.options();
  return rooms_->input.used() + n <= bounds.bytes + bounds.lane_bytes + bounds.newcomer_bytes;
}

bool LoopCore::TakeBeside(Connection& connection, size_t rest) {
  const size_t n = connection.partial_.size() + rest;
  if (connection.beside_bytes_ != 0 || FitsRooms(n)) return true;
  if (beside_bytes_ + n > kBesideBytes) return false;
  connection.beside_bytes_ = n;
  beside_bytes_ += n;
  return true;
}

void LoopCore::EndBeside(Connection& connection) {
  beside_bytes_ -= connection.beside_bytes_;
  connection.beside_bytes_ = 0;
}

size_t LoopCore::RoomToReceive(Connection& connection, size_t wanted) {
  Room& room = rooms_->input;
  if (!room.tight()) return wanted;
  Room::Holder& holder = connection.input_room_;
  const size_t kept = connection.partial_.size();
  size_t may_keep = std::max(holder.taken(), Connection::kInputFreeBytes);
  if (connection.swallow_bytes_ > 0)
    may_keep += static_cast<size_t>(std::min<uint64_t>(connection.swallow_bytes_, wanted));
  if (may_keep > kept) return std::min(wanted, may_keep - kept);
  // Small requests that are here need not wait: they are through with this turn.
  if (const size_t rest = RestThatIsHere(connection, wanted); rest != 0)
    return TakeBeside(connection, rest) ? rest : 0;
  const size_t expected =
      ExpectedBytes(connection.expected_bytes_, kept, options_.unknown_bytes_max);
  const size_t need = LackedBytes(expected, holder.taken());
  const size_t lane_expected = ExpectedOfLane(connection);
  const size_t lane_need = lane_expected == 0 ? 0 : LackedBytes(lane_expected, holder.taken());
  // A line that is longer than the lane is none of it: others want it.
  if (lane_need == 0 && holder.in_lane()) LeaveInputLane(connection);
  const size_t charge = holder.taken();
  if (room.TryTake(holder, need, lane_need)) {
    GrantWhole(connection, charge);
    return std::min(wanted, holder.taken() - kept);
  }
  const uint64_t waited = now_ms_ * kBytesPerWaitedMs;
  room.Wait(holder, need, need + waited, &input_client_,
            connection.bytes_in() >= connection.newcomer_from_, {lane_need, lane_need + waited});
  connection.input_pace_.since_ms = now_ms_;
  connection.input_pace_.waits_for_lane = lane_need != 0;
  return 0;
}

void LoopCore::GrantWhole(Connection& connection, size_t charge_before) {
  connection.whole_granted_ = true;
  connection.charge_before_grant_ = charge_before;
  connection.input_pace_.since_ms = now_ms_;
}

ssize_t LoopCore::ReceiveDirect(Connection& connection, size_t asked) {
  if (connection.tls_ != nullptr) return ReceiveSealed(connection, asked);
  PartialInput& partial = connection.partial_;
  const size_t expected = connection.expected_bytes_;
  if (expected > partial.size()) asked = std::min(asked, expected - partial.size());
  const size_t hint = expected == 0 ? connection.input_room_.taken() : expected;
  char* const space = partial.Room(pool_, asked, hint);
  if (space == nullptr) {
    connection.doomed_ = true;
    return 0;
  }
  const ssize_t n = recv(connection.fd_, space, asked, MSG_DONTWAIT);
  const int error = errno;
  if (n > 0) {
    partial.Added(static_cast<size_t>(n));
    ShowPartial(connection);
  } else if (partial.size() == 0) {
    partial.Release(pool_);
  }
  CountInput(connection);
  errno = error;
  return n;
}

// --- output ----------------------------------------------------------------------------------

uint64_t LoopCore::UndeliveredBytes(int fd) {
  int bytes = 0;
  return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<uint64_t>(bytes) : 0;
}

bool LoopCore::TakeOutputRoom(Connection& connection, size_t n) {
  Room& room = rooms_->output;
  Room::Holder& holder = connection.output_room_;
  const size_t step = n < kRoomStep && !room.tight() ? kRoomStep : n;
  // Only where there is too little for all does it matter.
  const bool proven = room.tight() && IsProvenReader(connection, n);
  if (!room.TryTake(holder, step, proven ? step : 0)) return false;
  connection.output_pace_.since_ms = now_ms_;
  connection.room_left_ += step;
  return true;
}

void LoopCore::CountOutput(Connection& connection) {
  const size_t held = connection.unsent_held();
  const size_t charge = (held > Connection::kInputFreeBytes ? held : 0) + connection.room_left_;
  Room::Holder& holder = connection.output_room_;
  if (charge != holder.taken()) rooms_->output.SetTaken(holder, charge);
}

// REQUIRES: it has more, and its output has drained
void LoopCore::WaitForOutputRoom(Connection& connection) {
  if (connection.room_wanted_ <= connection.OutputRoom()) {
    rooms_->output.Leave(connection.output_room_);
    return RunSoon(connection);
  }
  if (connection.output_room_.waits()) return;
  // What it was sent before has left its output since the handler asked: it may be proven now.
  if (TakeOutputRoom(connection, connection.room_wanted_)) return RunSoon(connection);
  // The system's buffers may hold megabytes that a peer never takes: so far it has used no room of
  // ours in vain, but it is no newcomer.
  const bool is_newcomer = UndeliveredBytes(connection.fd_) == 0;
  connection.output_late_ = !is_newcomer;
  const size_t n = connection.room_wanted_;
  const uint64_t rank = now_ms_ + (is_newcomer ? 0 : kUndeliveredPenaltyMs);
  const size_t of_lane = IsProvenReader(connection, n) ? n : 0;
  rooms_->output.Wait(connection.output_room_, n, rank, &output_client_, is_newcomer,
                      {of_lane, rank});
}

// At each tick. Whoever waits behind the others, since it had not taken what it was sent, asks
// again once it has: as a newcomer, or of the lane.
void LoopCore::JudgeAnew(Connection& connection) {
  if (!connection.output_late_ || !connection.output_room_.waits()) return;
  if (UndeliveredBytes(connection.fd_) != 0) return;
  rooms_->output.Leave(connection.output_room_);
  RunSoon(connection);
}

// --- both ------------------------------------------------------------------------------------

void LoopCore::RingForGrants() {
  grants_due_.store(true);
  handover_.Ring();
}

void LoopCore::TakeGrants() {
  for (Room::Holder* holder : rooms_->input.Collect(&input_client_)) {
    Connection& connection = *static_cast<Connection*>(holder->owner);
    GrantWhole(connection, InputCharge(connection.partial_.held_bytes()));
    connection.input_mark_.ms = now_ms_;
    ReviewReading(connection);
  }
  for (Room::Holder* holder : rooms_->output.Collect(&output_client_)) {
    Connection& connection = *static_cast<Connection*>(holder->owner);
    connection.room_left_ += std::exchange(connection.room_wanted_, 0);
    connection.output_mark_.ms = connection.output_pace_.since_ms = now_ms_;
    RunSoon(connection);
  }
}

void LoopCore::LeaveRooms(Connection& connection) {
  EndBeside(connection);
  rooms_->input.Leave(connection.input_room_);
  rooms_->output.Leave(connection.output_room_);
  if (connection.input_room_.taken() != 0) rooms_->input.SetTaken(connection.input_room_, 0);
  if (connection.output_room_.taken() != 0) rooms_->output.SetTaken(connection.output_room_, 0);
}

void LoopCore::RevokeIdleGrant(Connection& connection) {
  if (!connection.whole_granted_ || connection.input_room_.waits() ||
      now_ms_ - std::min(now_ms_, connection.input_mark_.ms) < kIdleGrantMs ||
      now_ms_ - std::min(now_ms_, connection.last_active_ms()) < kIdleGrantMs)
    return;
  // Beyond the bound there is one grant at a time, so that somebody goes on. If it could come back
  // half used, each of those who wait could add to what all hold: the owner has stuck_ms instead.
  const size_t charge = InputCharge(connection.partial_.held_bytes());
  const size_t unused = connection.input_room_.taken() - charge;
  const Room& room = rooms_->input;
  // Nor can what is half used of the lane: others want it.
  const bool is_last_way =
      connection.input_room_.in_newcomers_lane() || room.used() > room.options().bytes + unused;
  if (charge > connection.charge_before_grant_ && is_last_way) return;
  connection.newcomer_from_ = connection.bytes_in() + unused;
  connection.whole_granted_ = false;
  CountInput(connection);
}

// For how long too little has moved of what it holds, though the peer could see to it. Otherwise 0,
// and the mark is set anew: whoever begins to hold some has all its time before it.
uint64_t LoopCore::JudgeMark(Connection::Mark& mark, uint64_t moved, size_t holds, bool may_move,
                             const Room::Holder& holder) const {
  mark.bytes = std::min(mark.bytes, moved);  // the system's queue may have grown since
  const size_t part = holder.in_newcomers_lane() ? kMovedPartInLane : kMovedPart;
  const size_t must_move = std::clamp<size_t>(holds / part, 1, kMovedBytesMax);
  const bool moves = moved >= mark.bytes + must_move;
  if (holds != 0 && may_move && !moves) return now_ms_ - std::min(now_ms_, mark.ms);
  mark = {now_ms_, moved};
  return 0;
}

// Of what others wait for. Bytes of one direction say nothing about what the other one holds.
uint64_t LoopCore::StuckMs(Connection& connection, size_t input_holds, size_t output_holds) {
  // Where it is not read from, its input is used up as its replies go out.
  const bool reads = connection.MayRead();
  if (!reads && !connection.input_room_.waits()) output_holds += std::exchange(input_holds, 0);
  // Also while it waits for room: what it holds must go.
  const bool may_send = connection.blocked_ && !connection.send_queued_;
  uint64_t sent = connection.bytes_out();
  if (output_holds != 0)
    sent -= std::min(sent, UndeliveredBytes(connection.fd_) +
                               (connection.tls_ == nullptr ? 0 : connection.wire_->size()));
  const uint64_t output_ms =
      JudgeMark(connection.output_mark_, sent, output_holds, may_send, connection.output_room_);
  const bool may_receive = reads && connection.partial_.size() > 0;
  const uint64_t input_ms = JudgeMark(connection.input_mark_, connection.bytes_in(), input_holds,
                                      may_receive, connection.input_room_);
  return std::max(input_ms, output_ms);
}

// While somebody waits for room, whoever holds some must use it. One is closed at a time, the one
// that holds most: perhaps that is enough.
void LoopCore::ReviewHolders() {
  const bool input = rooms_->input.waiting() > 0;
  const bool output = rooms_->output.waiting() > 0;
  if (!input && !output) {
    contended_ = false;
    return;
  }
  const bool begins = !contended_;
  contended_ = true;
  Connection* largest = nullptr;
  size_t largest_holds = 0;
  uint64_t largest_ms = 0;
  for (Connection* connection : connections_) {
    if (begins) connection->input_mark_.ms = connection->output_mark_.ms = now_ms_;
    ReviewPace(*connection);
    if (output) JudgeAnew(*connection);
    if (input) RevokeIdleGrant(*connection);
    const uint64_t stuck_ms = StuckMs(*connection, input ? connection->input_room_.taken() : 0,
                                      output ? connection->output_room_.taken() : 0);
    const size_t holds = connection->input_room_.taken() + connection->output_room_.taken();
    if (stuck_ms < options_.stuck_ms || holds <= largest_holds) continue;
    largest = connection;
    largest_holds = holds;
    largest_ms = stuck_ms;
  }
  if (largest == nullptr) return;
  handler_->OnStuck(*largest, largest_holds, largest_ms);
  shed_closed_.Add(1);
  Close(*largest);
}

}  // namespace weft::net
