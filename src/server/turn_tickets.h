// server/turn_tickets.h: how much of a turn of its loop a worker gives to one kind of long
// commands. One kind rewrites items while bringing little (touches, appends to long items), or
// reads them in vain (counting no number): measured in bytes. The other is about the server (`stats
// conns`, flush_all): in nanoseconds.
//
// Once they have had their share of a turn, the rest wait for a later one, and other requests are
// answered between. Whoever has to wait has a ticket, and runs in the next round. While some wait,
// nobody without a ticket runs. So each has its part, which is all that it has in one turn, before
// any has another. A round ends with its last ticket. It also ends if turns have not been full for
// a while, holders have not come, and others wait: one that does not read its answers delays
// nobody.
//
// Threads   the worker's.
#pragma once

#include <cstdint>

namespace weft::server {

class TurnTickets {
 public:
  // By then devices and disks have let go of a connection.
  static constexpr uint64_t kAwaitedNsMax = 50'000'000;

  // One a connection.
  struct Mark {
    uint64_t ticket = 0;  // the round that it waits for; 0: none
    uint64_t turn = 0;    // the last in which it had a part
    uint64_t asked = 0;   // the last in which it was allowed to run
  };

  // `turn_max`: ends their part of a turn, in the unit of Ran. `asked_min`: less costly commands
  // need not ask, and are no part.
  explicit TurnTickets(uint64_t turn_max, uint64_t asked_min = 0)
      : turn_max_(turn_max), asked_min_(asked_min) {}

  // Also ends the turn before.
  void BeginTurn(uint64_t now_ns) {
    EndTurn();
    now_ns_ = now_ns;
    turn_++;
    had_ = 0;
    refused_ = false;
    holder_ran_ = false;
  }
  // False: not in this turn. *begins_to_wait: it did not wait before.
  bool MayRun(Mark* mark, bool* begins_to_wait) {
    const bool is_its_turn = mark->turn == turn_ || waiting_ + waiting_next_ == 0 || IsDue(*mark);
    *begins_to_wait = false;
    if (had_ < turn_max_ && is_its_turn) {
      mark->asked = turn_;
      return true;
    }
    refused_ = true;
    if (mark->ticket == round_) full_ns_ = now_ns_;  // it came: do not give up its round
    if (mark->ticket >= round_) return false;
    *begins_to_wait = mark->ticket == 0;
    mark->ticket = round_ + 1;
    waiting_next_++;
    return false;
  }
  // It took `cost`. A command that did not ask, because it must be carried out or seemed small, is
  // no part and takes none.
  void Ran(Mark* mark, uint64_t cost) {
    holder_ran_ |= mark->ticket == round_;
    const bool is_part = mark->asked == turn_ && cost >= asked_min_;
    if (is_part || IsDue(*mark)) mark->turn = turn_;
    Forget(mark);
    if (is_part) had_ += cost;
  }
  // The connection is closed.
  void Forget(Mark* mark) {
    if (mark->ticket == round_) waiting_--;
    if (mark->ticket == round_ + 1) waiting_next_--;
    mark->ticket = 0;
  }

 private:
  bool IsDue(const Mark& mark) const { return mark.ticket != 0 && mark.ticket <= round_; }
  void EndTurn() {
    if (holder_ran_ && had_ >= turn_max_) full_ns_ = now_ns_;
    if (waiting_ != 0 && !(refused_ && now_ns_ - full_ns_ > kAwaitedNsMax)) return;
    // Holders of older tickets may run, and are awaited no longer. If no part is left for one, it
    // gets a ticket of the next round, like a newcomer.
    round_++;
    waiting_ = waiting_next_;
    waiting_next_ = 0;
    full_ns_ = now_ns_;
  }

  const uint64_t turn_max_;
  const uint64_t asked_min_;
  uint64_t now_ns_ = 0;  // when this turn began
  uint64_t turn_ = 1;
  uint64_t had_ = 0;  // in this turn
  uint64_t round_ = 1;
  uint32_t waiting_ = 0;       // tickets of this round;
  uint32_t waiting_next_ = 0;  // tickets of the next one
  uint64_t full_ns_ = 0;       // when holders of this round last filled a turn; or when it began
  bool refused_ = false;       // somebody, in this turn
  bool holder_ran_ = false;    // one of this round, in this turn
};

}  // namespace weft::server
