// server/rewrite_turns.h: how much of a turn a worker gives to commands that write an item again,
// of which they bring little: touches, gets that touch, appends to what is long.
//
// Once a turn has written so much of what is not short, those that are left wait for a later one,
// and whatever else clients ask for is answered between. Whoever has to wait has a ticket, and runs
// in the next round. While some wait, nobody without a ticket runs; so each has its part, which is
// all that it has in one turn, before any has another. A round ends with its last ticket, or once
// none of its holders has come for a while and others have: one that does not read its answers
// keeps nobody.
//
// Threads   the worker's.
#pragma once

#include <cstdint>

#include "pipeline/cpu_stage.h"

namespace weft::server {

class RewriteTurns {
 public:
  static constexpr uint64_t kTurnBytesMax = uint64_t{32} << 20;
  // Devices and disks have let go of a connection by then.
  static constexpr uint64_t kAwaitedNsMax = 50'000'000;

  // One a connection.
  struct Mark {
    uint64_t ticket = 0;  // the round that it waits for; 0: none
    uint64_t turn = 0;    // the last in which it ran
  };

  void BeginTurn(uint64_t now_ns) {
    now_ns_ = now_ns;
    turn_++;
    bytes_ = 0;
    refused_ = false;
  }
  // False: not in this turn.
  bool MayRun(Mark* mark) {
    const bool is_its_turn = mark->turn == turn_ || waiting_ + waiting_next_ == 0 ||
                             (mark->ticket != 0 && mark->ticket <= round_);
    if (bytes_ < kTurnBytesMax && is_its_turn) return true;
    refused_ = true;
    if (mark->ticket == 0) {
      mark->ticket = round_ + 1;
      waiting_next_++;
    }
    return false;
  }
  // It wrote so many bytes that it did not bring; 0 where there was no item. Few are no part.
  void Ran(Mark* mark, uint64_t bytes) {
    if (mark->ticket == round_) came_ns_ = now_ns_;
    Forget(mark);
    if (bytes >= pipeline::CpuStage::kHeavyBytesMin) mark->turn = turn_;
    bytes_ += bytes;
  }
  // It is closed.
  void Forget(Mark* mark) {
    if (mark->ticket == round_) waiting_--;
    if (mark->ticket == round_ + 1) waiting_next_--;
    mark->ticket = 0;
  }
  void EndTurn() {
    if (waiting_ != 0 && !(refused_ && now_ns_ - came_ns_ > kAwaitedNsMax)) return;
    round_++;  // whoever still has an older ticket may run, and is waited for no longer
    waiting_ = waiting_next_;
    waiting_next_ = 0;
    came_ns_ = now_ns_;
  }

 private:
  uint64_t now_ns_ = 0;  // when this turn began
  uint64_t turn_ = 1;
  uint64_t bytes_ = 0;  // in this turn
  uint64_t round_ = 1;
  uint32_t waiting_ = 0;       // tickets of this round
  uint32_t waiting_next_ = 0;  // and of the next one
  uint64_t came_ns_ = 0;       // when one of this round ran last, or it began
  bool refused_ = false;       // somebody, in this turn
};

}  // namespace weft::server
