// What a worker's replies may take, and its long commands of a turn. See worker.h, net/room.h,
// server/turn_tickets.h and docs/design/0014-bounds-of-buffers.md.
#include <utility>

#include <spdlog/spdlog.h>

#include "base/clock.h"
#include "server/worker.h"

namespace weft::server {

void Worker::AddSource(Work* work, net::Connection& connection) {
  Source& source = work->sources.emplace_back();
  source.connection = &connection;
  source.output_bytes = connection.pending_output();
  size_t room = connection.OutputRoom();
  if ((work->keeps || turn_ != nullptr) && room < kRoomAheadBytes)
    room += connection.TakeRoom(kRoomAheadBytes - room);
  source.room_given = static_cast<int64_t>(room);
  source.number = work->batch->AddSource(source.room_given);
}

bool Worker::MoreRoom(pipeline::Batch& batch, uint32_t number, int64_t bytes) {
  Source& source = work_->sources[number];
  const int64_t lacking = bytes - batch.room(number);
  if (source.connection == nullptr) {  // what is written for it goes nowhere
    batch.AddRoom(number, lacking);
    return true;
  }
  source.room_wanted = 0;
  const int64_t used =
      static_cast<int64_t>(source.output_bytes) + source.room_given - batch.room(number);
  // Enough for one turn: the peer may take that first.
  if (used >= static_cast<int64_t>(options_.output_high_bytes)) return false;
  const auto added =
      static_cast<int64_t>(source.connection->TakeRoom(static_cast<size_t>(lacking)));
  if (added == 0) {
    source.room_wanted = static_cast<size_t>(bytes);
    return false;
  }
  source.room_given += added;
  batch.AddRoom(number, added);
  return true;
}

bool Worker::MayRewrite(const pipeline::Batch& batch, uint32_t i) {
  Source& source = work_->sources[batch.source(i)];
  bool begins_to_wait = false;
  if (source.connection == nullptr ||
      rewrites_.MayRun(&PeerOf(*source.connection).rewrites, &begins_to_wait))
    return true;
  source.gives_way = true;
  yields_.Add(begins_to_wait ? 1 : 0);
  return false;
}

void Worker::Rewrote(const pipeline::Batch& batch, uint32_t i, uint64_t bytes) {
  const Source& source = work_->sources[batch.source(i)];
  if (source.connection != nullptr) rewrites_.Ran(&PeerOf(*source.connection).rewrites, bytes);
}

// Those that look at much, or wait for locks or the disk.
bool Worker::IsHeavy(protocol::RequestKind kind) {
  return kind == protocol::RequestKind::kStats || kind == protocol::RequestKind::kFlushAll ||
         kind == protocol::RequestKind::kMemoryLimit;
}

bool Worker::MayRunNow(pipeline::Batch& batch, uint32_t i) {
  const Source& source = work_->sources[batch.source(i)];
  const protocol::Request& request = work_->entered.RequestOf(work_->entered[batch.tag(i)]);
  bool begins_to_wait = false;
  if (!IsHeavy(request.kind) || heavy_.MayRun(&PeerOf(*source.connection).heavy, &begins_to_wait))
    return true;
  yields_.Add(begins_to_wait ? 1 : 0);
  batch.SetState(i, pipeline::QueryState::kSkipped);
  return false;
}

// What is as long as others like is only known once it is written: where there is no room for it
// now, it is asked for again. It has no effect.
void Worker::TakeRoomOfText(pipeline::Batch& batch, uint32_t i) {
  const uint32_t number = batch.source(i);
  const int64_t bytes = static_cast<int64_t>(other_text_.size()) - pipeline::Batch::kReplyBytes;
  if (bytes <= 0) return;
  const protocol::Request& request = work_->entered.RequestOf(work_->entered[batch.tag(i)]);
  const bool is_stats = request.kind == protocol::RequestKind::kStats;
  if (is_stats && bytes > batch.room(number) && !MoreRoom(batch, number, bytes)) {
    // An eighth more, for it may be longer by then: it must not lose its place.
    if (work_->sources[number].room_wanted != 0)
      work_->sources[number].room_wanted =
          other_text_.size() + other_text_.size() / 8 + pipeline::Batch::kReplyBytes;
    other_text_.clear();
    return batch.SetState(i, pipeline::QueryState::kSkipped);
  }
  batch.TakeRoom(number, bytes);
}

void Worker::OnStuck(const net::Connection& connection, size_t bytes, uint64_t ms) {
  const uint32_t now_s = base::NowSeconds();
  if (now_s == stuck_logged_s_) {
    stuck_unsaid_++;
    return;
  }
  stuck_logged_s_ = now_s;
  spdlog::warn(
      "closed {}: it held {} bytes of buffers that others waited for, and hardly moved any data "
      "for {} ms; {} more were closed since the last such line",
      connection.PeerText(), bytes, ms, std::exchange(stuck_unsaid_, 0));
}

}  // namespace weft::server
