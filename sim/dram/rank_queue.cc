#include "sim/dram/rank_queue.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace weft::sim {
namespace {

uint64_t BitOf(size_t index) { return uint64_t{1} << index; }

// Calls `function` with each request of the set, the oldest first, until it gives true.
template <typename Function>
bool AnyOf(uint64_t requests, Function function) {
  for (; requests != 0; requests &= requests - 1) {
    if (function(static_cast<size_t>(std::countr_zero(requests)))) return true;
  }
  return false;
}

// Younger requests move up by one.
uint64_t WithoutIndex(uint64_t requests, size_t index) {
  const uint64_t older = BitOf(index) - 1;
  return (requests & older) | (requests >> 1 & ~older);
}

}  // namespace

RankQueue::RankQueue(int rank, const Options& options, const BankStates& states, int banks)
    : rank_(rank),
      entries_max_(static_cast<size_t>(options.entries_max)),
      row_hits_max_(options.row_hits_max),
      is_in_order_(options.is_in_order),
      states_(states),
      banks_(static_cast<size_t>(banks)) {
  WEFT_CHECK(options.entries_max <= kEntriesMax);
  requests_.reserve(entries_max_);
}

void RankQueue::Add(const QueuedRequest& request) {
  WEFT_DCHECK(has_room());
  const uint64_t bit = BitOf(requests_.size());
  requests_.push_back(request);
  Bank& bank = banks_[request.bank];
  bank.waiting |= bit;
  banks_waiting_ |= BitOf(request.bank);
  if (request.is_write) writes_ |= bit;
  if (states_.OpenRow(rank_, request.bank) == request.row) bank.hits |= bit;
}

bool RankQueue::Has(const QueuedRequest& request, bool is_write) const {
  const uint64_t of_kind = is_write ? writes_ : ~writes_;
  return AnyOf(banks_[request.bank].waiting & of_kind,
               [&](size_t i) { return AreForTheSameLine(requests_[i], request); });
}

uint64_t RankQueue::WithoutPassing(uint64_t hits) const {
  uint64_t left = 0;
  AnyOf(hits, [&](size_t i) {
    // The older requests for its line hit its row as well.
    const bool passes = AnyOf(hits & (BitOf(i) - 1), [&](size_t older) {
      return AreForTheSameLine(requests_[older], requests_[i]);
    });
    if (!passes) left |= BitOf(i);
    return false;
  });
  return left;
}

RankQueue::Choice RankQueue::Choose(Clock now, const Permit& permit) const {
  size_t chosen = kEntriesMax;
  Command chosen_command = Command::kActivate;
  Clock next = kNever;
  for (uint64_t banks = banks_waiting_ & permit.banks; banks != 0; banks &= banks - 1) {
    const int bank_index = std::countr_zero(banks);
    const Bank& bank = banks_[static_cast<size_t>(bank_index)];
    const auto oldest = static_cast<size_t>(std::countr_zero(bank.waiting));
    if (oldest >= chosen) continue;
    // Takes the oldest of the requests if it may have the command now.
    const auto offer = [&](Command command, uint64_t requests) {
      const Clock clock = states_.EarliestOf(command, rank_, bank_index);
      if (clock > now) {
        next = std::min(next, clock);
        return;
      }
      if (IsColumn(command) && !std::has_single_bit(bank.hits)) {
        requests &= WithoutPassing(bank.hits);
      }
      const auto index = static_cast<size_t>(std::countr_zero(requests));
      if (index >= chosen) return;
      chosen = index;
      chosen_command = command;
    };
    if (bank.hits != 0 && permit.columns != Columns::kNone) {
      const uint64_t hits = permit.columns == Columns::kOldest ? bank.hits & 1 : bank.hits;
      if ((hits & ~writes_) != 0) offer(Command::kRead, hits & ~writes_);
      if ((hits & writes_) != 0) offer(Command::kWrite, hits & writes_);
    }
    if (!permit.rows || (bank.hits & BitOf(oldest)) != 0) continue;
    const bool is_closed = states_.OpenRow(rank_, bank_index) == BankStates::kClosed;
    if (is_closed || bank.hits == 0 || is_in_order_ || bank.served >= row_hits_max_) {
      offer(is_closed ? Command::kActivate : Command::kPrecharge, BitOf(oldest));
    }
  }
  if (chosen == kEntriesMax) return {false, next, 0, {}};
  const QueuedRequest& request = requests_[chosen];
  IssuedCommand issued{
      .clock = now, .command = chosen_command, .rank = rank_, .bank = request.bank};
  if (chosen_command != Command::kPrecharge) issued.row = request.row;
  if (IsColumn(chosen_command)) issued.column = request.column;
  return {true, now, chosen, issued};
}

void RankQueue::OpenedRow(int bank, uint32_t row) {
  Bank& opened = banks_[static_cast<size_t>(bank)];
  opened.hits = 0;
  opened.served = 0;
  AnyOf(opened.waiting, [&](size_t i) {
    if (requests_[i].row == row) opened.hits |= BitOf(i);
    return false;
  });
}

void RankQueue::ClosedRow(int bank) {
  Bank& closed = banks_[static_cast<size_t>(bank)];
  closed.hits = 0;
  closed.served = 0;
}

RankQueue::Served RankQueue::Serve(size_t index) {
  QueuedRequest& request = requests_[index];
  Bank& bank = banks_[request.bank];
  Served served{request, false, false, false};
  served.is_first_burst = !request.is_begun;
  served.is_row_hit = served.is_first_burst && bank.served > 0;
  if (served.is_first_burst) ++bank.served;
  request.is_begun = true;
  served.is_last_burst = --request.bursts_left == 0;
  if (served.is_last_burst) Remove(index);
  return served;
}

void RankQueue::Remove(size_t index) {
  const uint8_t bank = requests_[index].bank;
  for (uint64_t banks = banks_waiting_; banks != 0; banks &= banks - 1) {
    Bank& waiting = banks_[static_cast<size_t>(std::countr_zero(banks))];
    waiting.waiting = WithoutIndex(waiting.waiting, index);
    waiting.hits = WithoutIndex(waiting.hits, index);
  }
  writes_ = WithoutIndex(writes_, index);
  if (banks_[bank].waiting == 0) banks_waiting_ &= ~BitOf(bank);
  requests_.erase(requests_.begin() + static_cast<ptrdiff_t>(index));
}

}  // namespace weft::sim
