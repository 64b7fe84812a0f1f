// server/heavy_turns.h: how much of a turn a worker gives to commands that take long, as `stats
// conns` or `flush_all`, however many of them clients pipeline.
//
// Once a turn has spent so long on them, those that are left wait for a later one, and the other
// connections are served between. While some wait, each connection has its part before any has
// another: MayRun is asked in any order.
//
// Threads   the worker's.
#pragma once

#include <cstdint>

namespace weft::server {

class HeavyTurns {
 public:
  static constexpr uint64_t kTurnNsMax = 1'000'000;

  // One a connection.
  struct Mark {
    uint64_t round = 0;  // the last in which it had its part
  };

  void BeginTurn() {
    spent_ns_ = 0;
    ran_ = deferred_ = false;
  }
  // False: not in this turn.
  bool MayRun(const Mark& mark) {
    const bool may = spent_ns_ < kTurnNsMax && !(contended_ && mark.round == round_);
    deferred_ |= !may;
    return may;
  }
  void Ran(Mark* mark, uint64_t ns) {
    mark->round = round_;
    spent_ns_ += ns;
    ran_ = true;
  }
  void EndTurn() {
    contended_ = deferred_;
    if (deferred_ && !ran_) round_++;  // all that wait have had their part
  }

 private:
  uint64_t round_ = 1;
  uint64_t spent_ns_ = 0;
  bool contended_ = false;  // some were left over from the last turn
  bool ran_ = false;
  bool deferred_ = false;
};

}  // namespace weft::server
