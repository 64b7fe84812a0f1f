#include "sim/dram/bank_states.h"

#include <algorithm>

#include "base/check.h"

namespace weft::sim {

BankStates::BankStates(const Organization& organization, const Timing& timing, bool powers_down)
    : organization_(organization),
      banks_(organization.banks()),
      timing_(timing),
      gaps_(MakeGapTable(timing, powers_down)),
      open_rows_(static_cast<size_t>(organization.ranks * banks_), kClosed),
      by_bank_(open_rows_.size()),
      ranks_(static_cast<size_t>(organization.ranks)) {
  for (Rank& rank : ranks_) rank.activates.fill(-timing.tfaw);
}

void BankStates::Apply(const Gap& gap, const IssuedCommand& command) {
  const auto at = static_cast<size_t>(gap.next);
  const Clock from = command.clock + gap.clocks;
  const auto wait = [&](EarliestClocks& clocks) { clocks[at] = std::max(clocks[at], from); };
  switch (gap.scope) {
    case Scope::kBank: wait(by_bank_[BankIndex(command.rank, command.bank)]); return;
    case Scope::kBankGroup:
      if (organization_.bank_groups == 1) {
        wait(ranks_[static_cast<size_t>(command.rank)].earliest);
        return;
      }
      for (int bank = organization_.GroupOf(command.bank); bank < banks_;
           bank += organization_.bank_groups) {
        wait(by_bank_[BankIndex(command.rank, bank)]);
      }
      return;
    case Scope::kRank: wait(ranks_[static_cast<size_t>(command.rank)].earliest); return;
    case Scope::kOtherRanks:
      for (int rank = 0; rank < organization_.ranks; ++rank) {
        if (rank != command.rank) wait(ranks_[static_cast<size_t>(rank)].earliest);
      }
      return;
  }
}

void BankStates::BeActive(Rank& rank, Clock from) {
  if (rank.open_banks > 0 || from < rank.active_until) return;
  rank.active_clocks += rank.active_until - rank.active_since;
  rank.active_since = from;
  rank.active_until = from;
}

void BankStates::ChangeState(const IssuedCommand& command) {
  Rank& rank = ranks_[static_cast<size_t>(command.rank)];
  int64_t& open_row = open_rows_[BankIndex(command.rank, command.bank)];
  switch (command.command) {
    case Command::kActivate: {
      WEFT_DCHECK(open_row == kClosed);
      open_row = command.row;
      BeActive(rank, command.clock);
      ++rank.open_banks;
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
      --rank.open_banks;
      rank.active_until = std::max(rank.active_until, command.clock);
      return;
    case Command::kRefresh:
    case Command::kRefreshBank: {
      const bool is_of_bank = command.command == Command::kRefreshBank;
      WEFT_DCHECK(is_of_bank ? open_row == kClosed : rank.open_banks == 0);
      BeActive(rank, command.clock);
      const Clock end = command.clock + (is_of_bank ? timing_.trfc_pb : timing_.trfc);
      rank.active_until = std::max(rank.active_until, end);
      return;
    }
    case Command::kPowerDown:
      WEFT_DCHECK(rank.open_banks == 0 && !rank.is_powered_down);
      rank.is_powered_down = true;
      rank.powered_down_since = command.clock;
      return;
    case Command::kPowerUp:
      WEFT_DCHECK(rank.is_powered_down);
      rank.is_powered_down = false;
      rank.powered_down_clocks += command.clock - rank.powered_down_since;
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
    const Clock until = rank.open_banks > 0 ? now : std::min(now, rank.active_until);
    clocks += rank.active_clocks + until - rank.active_since;
  }
  return clocks;
}

Clock BankStates::PoweredDownRankClocks(Clock now) const {
  Clock clocks = 0;
  for (const Rank& rank : ranks_) {
    clocks += rank.powered_down_clocks;
    if (rank.is_powered_down) clocks += now - rank.powered_down_since;
  }
  return clocks;
}

}  // namespace weft::sim
