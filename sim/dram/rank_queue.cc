#include "sim/dram/rank_queue.h"

#include <algorithm>

#include "base/check.h"

namespace weft::sim {

RankQueue::RankQueue(int rank, int entries_max, int row_hits_max, const BankStates& states,
                     int banks)
    : rank_(rank),
      entries_max_(static_cast<size_t>(entries_max)),
      row_hits_max_(row_hits_max),
      states_(states),
      banks_(static_cast<size_t>(banks)) {
  requests_.reserve(entries_max_);
}

void RankQueue::Add(const QueuedRequest& request) {
  WEFT_DCHECK(has_room());
  requests_.push_back(request);
  Bank& bank = banks_[request.bank];
  ++bank.waiting;
  banks_waiting_ |= uint64_t{1} << request.bank;
  if (states_.OpenRow(rank_, request.bank) == request.row) {
    SetHitsWaiting(bank, bank.hits_waiting + 1);
  }
}

void RankQueue::SetHitsWaiting(Bank& bank, int hits) {
  hits_waiting_ += hits - bank.hits_waiting;
  bank.hits_waiting = hits;
}

bool RankQueue::Has(const QueuedRequest& request, bool is_write) const {
  return std::any_of(requests_.begin(), requests_.end(), [&](const QueuedRequest& waiting) {
    return waiting.is_write == is_write && AreForTheSameLine(waiting, request);
  });
}

bool RankQueue::PassesSameLine(size_t index) const {
  for (size_t i = 0; i < index; ++i) {
    if (AreForTheSameLine(requests_[i], requests_[index])) return true;
  }
  return false;
}

RankQueue::Choice RankQueue::Choose(Clock now) const {
  Clock earliest = kNever;
  uint64_t banks_seen = 0;
  int hits_seen = 0;
  for (size_t i = 0; i < requests_.size(); ++i) {
    // What is left are younger requests that would need ACT or PRE.
    if (banks_seen == banks_waiting_ && hits_seen == hits_waiting_) break;
    const QueuedRequest& request = requests_[i];
    const uint64_t bit = uint64_t{1} << request.bank;
    const bool is_oldest = (banks_seen & bit) == 0;
    banks_seen |= bit;
    const int64_t open_row = states_.OpenRow(rank_, request.bank);
    const bool is_hit = open_row == request.row;
    hits_seen += is_hit;
    Command command = request.is_write ? Command::kWrite : Command::kRead;
    if (!is_hit) {
      if (!is_oldest) continue;
      command = Command::kActivate;
      if (open_row != BankStates::kClosed) {
        const Bank& bank = banks_[request.bank];
        if (bank.hits_waiting > 0 && bank.served < row_hits_max_) continue;
        command = Command::kPrecharge;
      }
    }
    const Clock clock = states_.EarliestOf(command, rank_, request.bank);
    if (clock > now) {
      earliest = std::min(earliest, clock);
      continue;
    }
    if (is_hit && PassesSameLine(i)) continue;
    IssuedCommand issued{.clock = now, .command = command, .rank = rank_, .bank = request.bank};
    if (command != Command::kPrecharge) issued.row = request.row;
    if (is_hit) issued.column = request.column;
    return {true, now, i, issued};
  }
  return {false, earliest, 0, {}};
}

void RankQueue::OpenedRow(int bank, uint32_t row) {
  const auto hits = std::count_if(
      requests_.begin(), requests_.end(),
      [&](const QueuedRequest& request) { return request.bank == bank && request.row == row; });
  Bank& opened = banks_[static_cast<size_t>(bank)];
  SetHitsWaiting(opened, static_cast<int>(hits));
  opened.served = 0;
}

void RankQueue::ClosedRow(int bank) {
  Bank& closed = banks_[static_cast<size_t>(bank)];
  SetHitsWaiting(closed, 0);
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
  if (served.is_last_burst) {
    SetHitsWaiting(bank, bank.hits_waiting - 1);
    if (--bank.waiting == 0) banks_waiting_ &= ~(uint64_t{1} << request.bank);
    requests_.erase(requests_.begin() + static_cast<ptrdiff_t>(index));
  }
  return served;
}

}  // namespace weft::sim
