// sim/dram/bank_states.h: a channel's open rows, and from when on each command is legal.
//
// Units     clocks.
// Threads   one owner.
// Cost      a question two loads; a command some stores: one a rank for RD and WR, one a bank of
//           the group if there are groups.
// Source    the simulator's specification, section 2.1; gap_table.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sim/dram/command.h"
#include "sim/dram/gap_table.h"
#include "sim/dram/organization.h"

namespace weft::sim {

class BankStates {
 public:
  static constexpr int64_t kClosed = -1;

  // `powers_down`: is there power-down?
  BankStates(const Organization& organization, const Timing& timing, bool powers_down = false);

  // kClosed if none is.
  int64_t OpenRow(int rank, int bank) const { return open_rows_[BankIndex(rank, bank)]; }
  int OpenBanks(int rank) const { return ranks_[static_cast<size_t>(rank)].open_banks; }
  bool IsPoweredDown(int rank) const { return ranks_[static_cast<size_t>(rank)].is_powered_down; }

  // The first clock in which timing lets the command go. Only the caller knows whether the bank's
  // state does. `bank` does not matter for commands of a rank.
  Clock EarliestOf(Command command, int rank, int bank) const {
    const auto at = static_cast<size_t>(command);
    const Clock of_rank = ranks_[static_cast<size_t>(rank)].earliest[at];
    return IsOfRank(command) ? of_rank : std::max(of_rank, by_bank_[BankIndex(rank, bank)][at]);
  }

  // REQUIRES: EarliestOf(...) <= command.clock, and the bank's state fits.
  void Issue(const IssuedCommand& command);

  // Clocks before `now`, over all ranks, in which a rank had an open bank or refreshed, and those
  // from PDE to PDX. REQUIRES: no command was issued at `now` or later.
  Clock ActiveRankClocks(Clock now) const;
  Clock PoweredDownRankClocks(Clock now) const;

 private:
  using EarliestClocks = std::array<Clock, kCommands>;
  struct Rank {
    EarliestClocks earliest{};
    std::array<Clock, 4> activates{};  // the last four
    int next_activate = 0;             // which of them is the oldest
    int open_banks = 0;
    // The last time in which a bank was open or refreshed. It ends no earlier than active_until,
    // nor while open_banks > 0.
    Clock active_since = 0;
    Clock active_until = 0;
    Clock active_clocks = 0;  // of times before that
    bool is_powered_down = false;
    Clock powered_down_since = 0;   // while it is
    Clock powered_down_clocks = 0;  // of times before
  };

  size_t BankIndex(int rank, int bank) const {
    return static_cast<size_t>(rank) * static_cast<size_t>(banks_) + static_cast<size_t>(bank);
  }
  void Apply(const Gap& gap, const IssuedCommand& command);
  void ChangeState(const IssuedCommand& command);
  static void BeActive(Rank& rank, Clock from);

  // Constant after construction.
  const Organization organization_;
  const int banks_;  // of a rank
  const Timing timing_;
  const GapTable gaps_;

  std::vector<int64_t> open_rows_;       // by BankIndex
  std::vector<EarliestClocks> by_bank_;  // by BankIndex
  std::vector<Rank> ranks_;
};

}  // namespace weft::sim
