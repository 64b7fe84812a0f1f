// server/heavy_turns.h: how much of a turn a worker gives to what takes long, however much of it
// clients pipeline: commands such as `stats conns` or `flush_all`, in nanoseconds; and what writes
// large items again, in bytes.
//
// Once a turn has spent so much on them, those that are left wait for a later one, and the other
// connections are served between. While some wait, each connection has its part, within one turn,
// before any has another: MayRun is asked in any order.
//
// Threads   the worker's.
#pragma once

#include <cstdint>

namespace weft::server {

class HeavyTurns {
 public:
  // One a connection.
  struct Mark {
    uint64_t round = 0;  // the last in which it had its part
    uint64_t turn = 0;   // the last one
  };

  // `turn_max`: the cost at which a turn has spent enough.
  explicit HeavyTurns(uint64_t turn_max) : turn_max_(turn_max) {}

  void BeginTurn() {
    turn_++;
    spent_ = 0;
    ran_ = deferred_ = false;
  }
  // False: not in this turn.
  bool MayRun(const Mark& mark) {
    const bool had_its_part = mark.round == round_ && mark.turn != turn_;
    const bool may = spent_ < turn_max_ && !(contended_ && had_its_part);
    deferred_ |= !may;
    return may;
  }
  void Ran(Mark* mark, uint64_t cost) {
    *mark = {round_, turn_};
    spent_ += cost;
    ran_ = true;
  }
  void EndTurn() {
    contended_ = deferred_;
    if (deferred_ && !ran_) round_++;  // all that wait have had their part
  }

 private:
  const uint64_t turn_max_;
  uint64_t round_ = 1;
  uint64_t turn_ = 1;
  uint64_t spent_ = 0;      // in this turn
  bool contended_ = false;  // some were left over from the last turn
  bool ran_ = false;
  bool deferred_ = false;
};

}  // namespace weft::server
