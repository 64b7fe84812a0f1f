#include "net/connection.h"

#include <algorithm>

#include "net/address.h"
#include "net/loop_core.h"
#include "net/tls_session.h"

namespace weft::net {

Connection::Connection(LoopCore* loop, int fd, uint64_t id, Transport transport,
                       uint16_t listener_index, uint64_t now_ms)
    : loop_(loop),
      fd_(fd),
      transport_(transport),
      listener_index_(listener_index),
      id_(id),
      opened_ms_(now_ms) {
  last_active_ms_.Set(now_ms);
  input_mark_.ms = output_mark_.ms = now_ms;
  input_room_.owner = output_room_.owner = this;
}

Connection::~Connection() = default;

void Connection::Swallow(uint64_t n) {
  const size_t here = static_cast<size_t>(std::min<uint64_t>(n, input_bytes_));
  Consume(here);
  swallow_bytes_ += n - here;
}

char* Connection::Reserve(size_t n) {
  loop_->Touch(*this);
  char* const space = output_.Reserve(n, loop_->arena_, loop_->pool_);
  if (space == nullptr) doomed_ = true;
  return space;
}

void Connection::Commit(size_t n) {
  output_.Commit(n, loop_->arena_);
  room_left_ -= std::min(room_left_, n);
}

bool Connection::Append(std::string_view bytes) {
  char* const space = Reserve(bytes.size());
  if (space == nullptr) return false;
  std::memcpy(space, bytes.data(), bytes.size());
  Commit(bytes.size());
  return true;
}

size_t Connection::OutputRoom() const {
  const size_t bytes = unsent();
  const bool free = unsent_held() <= kInputFreeBytes && bytes < kOutputFreeBytes;
  return room_left_ + (free ? kOutputFreeBytes - bytes : 0);
}

size_t Connection::TakeRoom(size_t n) {
  // Enough of its own is waiting for the peer: that has to go first, others have no part in it.
  if (unsent() >= loop_->options_.output_high_bytes) return 0;
  const size_t before = room_left_;
  return loop_->TakeOutputRoom(*this, n) ? room_left_ - before : 0;
}

void Connection::TakeBack(size_t bytes) {
  output_.KeepFront(bytes, loop_->pool_);
  loop_->Touch(*this);
}

void Connection::Resume() {
  if (!held_) return;
  held_ = false;
  has_more_ = true;
  loop_->RunSoon(*this);
}

void Connection::CloseAfterFlush() {
  closing_ = true;
  loop_->Touch(*this);
}

void Connection::CloseNow() {
  doomed_ = true;
  loop_->Touch(*this);
}

std::string Connection::PeerText() const { return net::PeerText(fd_); }

}  // namespace weft::net
