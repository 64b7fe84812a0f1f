// server/turn_tickets.h: how much of a turn of its loop a worker gives to one kind of long
// commands: those that write an item again of which they bring little (touches, appends to what is
// long), or read it in vain (counting what is no number), in bytes; those about the server (`stats
// conns`, flush_all), in nanoseconds.
//
// Once they have had so much of a turn, those that are left wait for a later one, and whatever else
// clients ask for is answered between. Whoever has to wait has a ticket, and runs in the next
// round. While some wait, nobody without a ticket runs; so each has its part, which is all that it
// has in one turn, before any has another. A round ends with its last ticket. It also ends where
// turns have not been full for a while, though holders have not come and others wait: one that does
// not read its answers keeps nobody.
//
// Threads   the worker's.
#pragma once

#include <cstdint>

namespace weft::server {

class TurnTickets {
 public:
  // Devices and disks have let go of a connection by then.
  static constexpr uint64_t kAwaitedNsMax = 50'000'000;

  // One a connection.
  struct Mark {
    uint64_t ticket = 0;  // the round that it waits for; 0: none
    uint64_t turn = 0;    // the last in which it had a part
    uint64_t asked = 0;   // the last in which it was told that it may run
  };

  // `turn_max`: what ends their part of a turn, in the unit of Ran. `asked_min`: what costs less is
  // not asked for, and is no part.
  explicit TurnTickets(uint64_t turn_max, uint64_t asked_min = 0)
      : turn_max_(turn_max), asked_min_(asked_min) {}

  // Ends the turn before, too.
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
    if (mark->ticket == round_) full_ns_ = now_ns_;  // it came, and its round is not to be given up
    if (mark->ticket >= round_) return false;
    *begins_to_wait = mark->ticket == 0;
    mark->ticket = round_ + 1;
    waiting_next_++;
    return false;
  }
  // It took so much. What did not ask, as it must be carried out or seemed to be little, is no part
  // and takes none.
  void Ran(Mark* mark, uint64_t cost) {
    holder_ran_ |= mark->ticket == round_;
    const bool is_part = mark->asked == turn_ && cost >= asked_min_;
    if (is_part || IsDue(*mark)) mark->turn = turn_;
    Forget(mark);
    if (is_part) had_ += cost;
  }
  // It is closed.
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
    // Whoever still has an older ticket may run, and is waited for no longer. Where there is no
    // part left for it, it gets one of the next round, as whoever is new.
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
  uint32_t waiting_ = 0;       // tickets of this round
  uint32_t waiting_next_ = 0;  // and of the next one
  uint64_t full_ns_ = 0;       // when holders of this round last filled a turn, or it began
  bool refused_ = false;       // somebody, in this turn
  bool holder_ran_ = false;    // one of this round, in this turn
};

}  // namespace weft::server
