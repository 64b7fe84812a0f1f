#include "sim/dram/bank_states.h"

#include <algorithm>

#include "base/check.h"

namespace weft::sim {

BankStates::BankStates(const Organization& organization, const Timing& timing)
    : organization_(organization),
      banks_(organization.banks()),
      timing_(timing),
      gaps_(MakeGapTable(timing)),
      open_rows_(static_cast<size_t>(organization.ranks * banks_), kClosed),
      by_bank_(open_rows_.size()),
      by_group_(static_cast<size_t>(organization.ranks * organization.bank_groups)),
      ranks_(static_cast<size_t>(organization.ranks)) {
  for (Rank& rank : ranks_) rank.activates.fill(-timing.tfaw);
}

void BankStates::Apply(const Gap& gap, const IssuedCommand& command) {
  const auto at = static_cast<size_t>(gap.next);
  const Clock from = command.clock + gap.clocks;
  const auto wait = [&](EarliestClocks& clocks) { clocks[at] = std::max(clocks[at], from); };
  switch (gap.scope) {
    case Scope::kBank: wait(by_bank_[BankIndex(command.rank, command.bank)]); return;
    case Scope::kBankGroup: wait(by_group_[GroupIndex(command.rank, command.bank)]); return;
    case Scope::kRank: wait(ranks_[static_cast<size_t>(command.rank)].earliest); return;
    case Scope::kOtherRanks:
      for (int rank = 0; rank < organization_.ranks; ++rank) {
        if (rank != command.rank) wait(ranks_[static_cast<size_t>(rank)].earliest);
      }
      return;
  }
}

void BankStates::ChangeState(const IssuedCommand& command) {
  Rank& rank = ranks_[static_cast<size_t>(command.rank)];
  int64_t& open_row = open_rows_[BankIndex(command.rank, command.bank)];
  switch (command.command) {
    case Command::kActivate: {
      WEFT_DCHECK(open_row == kClosed);
      open_row = command.row;
      if (rank.open_banks++ == 0) rank.active_since = command.clock;
      rank.activates[static_cast<size_t>(rank.next_activate)] = command.clock;
      rank.next_activate = (rank.next_activate + 1) % 4;
      Clock& earliest = rank.earliest[static_cast<size_t>(Command::kActivate)];
      const Clock fourth_last = rank.activates[static_cast<size_t>(rank.next_activate)];
      earliest = std::max(earliest, fourth_last + timing_.tfaw);
      return;
    }
    case Command::kPrecharge:
      WEFT_DCHECK(open_row != kClosed);
      open_row = kClosed;
      if (--rank.open_banks == 0) rank.active_clocks += command.clock - rank.active_since;
      return;
    case Command::kRefresh:
      WEFT_DCHECK(rank.open_banks == 0);
      rank.refresh_started = command.clock;
      ++rank.refreshes;
      return;
    case Command::kRead:
    case Command::kWrite: WEFT_DCHECK(open_row == command.row); return;
  }
}

void BankStates::Issue(const IssuedCommand& command) {
  WEFT_DCHECK(EarliestOf(command.command, command.rank, command.bank) <= command.clock);
  for (const Gap& gap : gaps_[static_cast<size_t>(command.command)]) Apply(gap, command);
  ChangeState(command);
}

Clock BankStates::ActiveRankClocks(Clock now) const {
  Clock clocks = 0;
  for (const Rank& rank : ranks_) {
    clocks += rank.active_clocks;
    if (rank.open_banks > 0) clocks += now - rank.active_since;
    if (rank.refreshes > 0) {
      clocks += (rank.refreshes - 1) * timing_.trfc +
                std::min<Clock>(timing_.trfc, now - rank.refresh_started);
    }
  }
  return clocks;
}

}  // namespace weft::sim
