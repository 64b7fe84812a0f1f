// compaction/merge.h: the entries of several sorted runs as one sorted sequence.
//
// A tree of losers: the run whose entry came out plays again on its way up, against the loser of
// each earlier game; one comparison a level. Comparisons are of eight-byte prefixes, of whole keys
// only where those are the same. Of two equal keys the one of the earlier (newer) run comes first.
//
// Threads   one thread at a time.
// Errors    status(): that of the first run that failed. The merge ends there.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "compaction/job.h"
#include "compaction/key_prefix.h"
#include "compaction/run_cursor.h"

namespace weft::compaction {

template <typename Order>
class Merge {
 public:
  // What is given must outlive this. Start moves to the first entry.
  Merge(const Job& job, const KeyPrefix& prefix, Order order) : order_(order) {
    for (const auto& tables : job.runs) cursors_.emplace_back(job, tables, prefix, order);
    losers_.resize(cursors_.size() + 1);
  }

  // These return false at the end and after an error.
  bool Start();
  bool Next() {
    RunCursor<Order>& winner = cursors_[winner_];
    if (!winner.Next() && !winner.status().ok()) [[unlikely]]
      return Fail(winner.status());
    Replay();
    return cursors_[winner_].valid();
  }

  // Of the entry; until Next.
  std::string_view key() const { return cursors_[winner_].key(); }
  std::string_view value() const { return cursors_[winner_].value(); }

  const Status& status() const { return status_; }
  bool keys_outside_bounds() const {
    for (const auto& cursor : cursors_) {
      if (cursor.keys_outside_bounds()) return true;
    }
    return false;
  }
  uint64_t bytes_read() const {
    uint64_t sum = 0;
    for (const auto& cursor : cursors_) sum += cursor.bytes_read();
    return sum;
  }

 private:
  bool Before(size_t a, size_t b) const {
    const uint64_t prefix_a = cursors_[a].prefix();
    const uint64_t prefix_b = cursors_[b].prefix();
    return prefix_a == prefix_b ? BeforeByKey(a, b) : prefix_a < prefix_b;
  }
  bool BeforeByKey(size_t a, size_t b) const {
    if (!cursors_[a].valid() || !cursors_[b].valid()) return cursors_[a].valid();
    const int order = order_.Compare(cursors_[a].key(), cursors_[b].key());
    return order == 0 ? a < b : order < 0;
  }
  // Games are numbered as in a heap: game i has the winners of games 2i and 2i + 1; numbers from
  // the count of runs on are the runs.
  size_t Play(size_t game);
  void Replay();
  bool Fail(const Status& status) {
    status_ = status;
    return false;
  }

  const Order order_;
  std::vector<RunCursor<Order>> cursors_;
  std::vector<size_t> losers_;  // by game, from 1
  size_t winner_ = 0;
  Status status_;
};

template <typename Order>
bool Merge<Order>::Start() {
  if (cursors_.empty()) return false;
  for (auto& cursor : cursors_) {
    if (!cursor.Next() && !cursor.status().ok()) return Fail(cursor.status());
  }
  winner_ = Play(1);
  return cursors_[winner_].valid();
}

template <typename Order>
size_t Merge<Order>::Play(size_t game) {
  if (game >= cursors_.size()) return game - cursors_.size();
  size_t winner = Play(2 * game);
  size_t loser = Play(2 * game + 1);
  if (Before(loser, winner)) std::swap(winner, loser);
  losers_[game] = loser;
  return winner;
}

template <typename Order>
inline void Merge<Order>::Replay() {
  size_t winner = winner_;
  for (size_t game = (winner + cursors_.size()) / 2; game != 0; game /= 2) {
    if (Before(losers_[game], winner)) std::swap(losers_[game], winner);
  }
  winner_ = winner;
}

}  // namespace weft::compaction
