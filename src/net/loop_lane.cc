// Who is given the lane of a room, and for how long: connections that have moved much before and
// are quick. docs/design/0014-bounds-of-buffers.md has the reasons.
#include <algorithm>

#include "net/loop_core.h"

namespace weft::net {
namespace {

// A quick peer needs no longer for what is large, or moves so much in a millisecond.
constexpr uint64_t kQuickMs = 1000;
constexpr size_t kQuickBytesPerMs = 1024;
// For so long whoever was slow is not given the lane.
constexpr uint64_t kSlowMs = 120'000;
// While it waits, a quick peer sends so much as fits any socket.
constexpr uint64_t kLookMs = 300;
constexpr size_t kLookBytes = size_t{32} << 10;

}  // namespace

// It must have moved twice as many bytes. No lane holds the longest line, and most lines need
// little: whoever sends one asks for what the lane has for large ones. For all of it at once: two
// that grow by pieces could wait for each other. That is no way for strangers, since a thousand of
// them may have lines without an end.
size_t LoopCore::ExpectedOfLane(const Connection& connection) const {
  if (connection.input_pace_.IsSlow(now_ms_)) return 0;
  const size_t kept = connection.partial_.size();
  const auto proven = static_cast<size_t>(connection.bytes_in() / 2);
  if (connection.expected_bytes_ > kept)
    return proven >= connection.expected_bytes_ ? connection.expected_bytes_ : 0;
  const size_t lane = rooms_->input.options().lane_bytes;
  const size_t expected = std::min({proven, options_.unknown_bytes_max, lane - lane / 5});
  return proven >= 2 * kept && expected > kept ? expected : 0;
}

void LoopCore::LeaveInputLane(Connection& connection) {
  connection.input_pace_.slow_until_ms = now_ms_ + kSlowMs;
  rooms_->input.LeaveLane(connection.input_room_);
}

// Whoever has taken all that was sent to it, more than this, is likely to take this.
bool LoopCore::IsProvenReader(const Connection& connection, size_t n) const {
  return !connection.output_pace_.IsSlow(now_ms_) && connection.unsent() == 0 &&
         connection.bytes_out() >= 2 * n && UndeliveredBytes(connection.fd_) == 0;
}

bool LoopCore::IsLong(const Connection::Pace& pace, size_t bytes) const {
  const uint64_t ms = now_ms_ - std::min(now_ms_, pace.since_ms);
  return ms >= std::max<uint64_t>(kQuickMs, bytes / kQuickBytesPerMs);
}

void LoopCore::NoteHalf(Connection& connection) {
  Connection::Pace& pace = connection.input_pace_;
  const size_t kept = connection.partial_.size();
  const bool waits = connection.input_room_.waits() || connection.OwesAnswers();
  if (!connection.half_kept_ || waits) {
    pace.since_ms = now_ms_;
  } else if (kept > Connection::kInputFreeBytes && IsLong(pace, kept)) {
    pace.slow_until_ms = now_ms_ + kSlowMs;
  }
  connection.half_kept_ = true;
  if (connection.expected_bytes_ > kept && !connection.OwesAnswers())
    connection.half_at_.Set(connection.bytes_in());
}

// Of one that waits for the lane, once: a slow one would keep it for as long as its bytes take.
void LoopCore::ReviewWait(Connection& connection) {
  Connection::Pace& pace = connection.input_pace_;
  const uint64_t waited_ms = now_ms_ - std::min(now_ms_, pace.since_ms);
  if (waited_ms < kQuickMs && EndWaitIfHere(connection)) return Touch(connection);
  if (!pace.waits_for_lane || waited_ms < kLookMs) return;
  pace.waits_for_lane = false;
  const size_t kept = connection.partial_.size();
  const size_t rest = connection.expected_bytes_ > kept ? connection.expected_bytes_ - kept
                                                        : options_.unknown_bytes_max;
  if (UnreadBytes(connection.fd_) >= std::min(rest, kLookBytes)) return;
  LeaveInputLane(connection);
}

// At each tick, while others wait. Whoever keeps room for long is slow if it is its peer that keeps
// it waiting. What it has of the lane becomes room like any other, whose fault it may be.
void LoopCore::ReviewPace(Connection& connection) {
  Room::Holder& input = connection.input_room_;
  if (input.waits()) ReviewWait(connection);
  if ((connection.whole_granted_ || input.in_lane()) &&
      IsLong(connection.input_pace_, input.taken())) {
    if (connection.MayRead() && UnreadBytes(connection.fd_) == 0)
      connection.input_pace_.slow_until_ms = now_ms_ + kSlowMs;
    if (input.in_lane()) rooms_->input.LeaveLane(input);
  }
  Room::Holder& output = connection.output_room_;
  if (output.taken() != 0 && IsLong(connection.output_pace_, output.taken())) {
    if (connection.blocked_) connection.output_pace_.slow_until_ms = now_ms_ + kSlowMs;
    if (output.in_lane()) rooms_->output.LeaveLane(output);
  }
}

}  // namespace weft::net
