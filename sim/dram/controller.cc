#include "sim/dram/controller.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace weft::sim {

Controller::Controller(const Preset& preset, ControllerOptions options)
    : organization_(preset.organization),
      timing_(preset.timing),
      options_(std::move(options)),
      transactions_max_(static_cast<size_t>(options_.transactions_max)),
      states_(organization_, timing_),
      refresh_(organization_.ranks, timing_.trefi),
      rank_wakes_(static_cast<size_t>(organization_.ranks), kNever),
      last_served_rank_(organization_.ranks - 1) {
  for (int rank = 0; rank < organization_.ranks; ++rank) {
    queues_.emplace_back(rank, options_.commands_max, options_.row_hits_max, states_,
                         organization_.banks());
  }
}

void Controller::Accept(uint64_t id, const Place& place, bool is_write) {
  WEFT_CHECK(CanAccept());
  transactions_.push_back(
      {.rank = place.rank,
       .request = {.id = id,
                   .accepted = now_,
                   .row = place.row,
                   .column = place.column,
                   .bank = static_cast<uint8_t>(place.bank),
                   .is_write = is_write,
                   .bursts_left = static_cast<uint8_t>(organization_.bursts_per_line())}});
  ++pending_;
  may_move_ = true;
}

void Controller::Tick() {
  Complete();
  if (options_.refreshes) refresh_.Advance(now_);
  if (!IssueForRefresh()) IssueForRequest();
  if (may_move_) MoveTransaction();
  ++now_;
}

Clock Controller::NextEvent() const {
  if (may_move_ || !options_.skips) return now_;
  Clock next = kNever;
  if (!reads_under_way_.empty()) next = reads_under_way_.front().done;
  if (!writes_under_way_.empty()) next = std::min(next, writes_under_way_.front().done);
  if (options_.refreshes) next = std::min(next, refresh_.next_due());
  const int due_rank = refresh_.due_rank();
  if (due_rank != RefreshSchedule::kNone) next = std::min(next, refresh_wake_);
  for (int rank = 0; rank < organization_.ranks; ++rank) {
    if (rank != due_rank) next = std::min(next, rank_wakes_[static_cast<size_t>(rank)]);
  }
  return std::max(next, now_);
}

void Controller::AdvanceTo(Clock clock) {
  while (now_ < clock) {
    if (options_.skips) {
      now_ = std::min(NextEvent(), clock);
      if (now_ == clock) return;
    }
    Tick();
  }
}

void Controller::Complete() {
  while (!reads_under_way_.empty() && reads_under_way_.front().done <= now_) {
    const Completion& read = reads_under_way_.front();
    ++counts_.reads_done;
    counts_.read_latency_clocks += read.done - read.accepted;
    completions_.push_back(read);
    reads_under_way_.pop_front();
    --pending_;
  }
  while (!writes_under_way_.empty() && writes_under_way_.front().done <= now_) {
    ++counts_.writes_done;
    completions_.push_back(writes_under_way_.front());
    writes_under_way_.pop_front();
    --pending_;
  }
}

void Controller::Issue(const IssuedCommand& command) {
  RankQueue& queue = queues_[static_cast<size_t>(command.rank)];
  states_.Issue(command);
  switch (command.command) {
    case Command::kActivate:
      ++counts_.activates;
      queue.OpenedRow(command.bank, command.row);
      break;
    case Command::kPrecharge:
      ++counts_.precharges;
      queue.ClosedRow(command.bank);
      break;
    case Command::kRead: ++counts_.read_bursts; break;
    case Command::kWrite: ++counts_.write_bursts; break;
    case Command::kRefresh: ++counts_.refreshes; break;
  }
  rank_wakes_[static_cast<size_t>(command.rank)] = now_ + 1;
  if (options_.on_command) options_.on_command(command);
}

bool Controller::IssueForRefresh() {
  const int rank = refresh_.due_rank();
  if (rank == RefreshSchedule::kNone) return false;
  if (states_.OpenBanks(rank) == 0) {
    refresh_wake_ = states_.EarliestOf(Command::kRefresh, rank, 0);
    if (refresh_wake_ > now_) return false;
    Issue({.clock = now_, .command = Command::kRefresh, .rank = rank});
    refresh_.Done();
    refresh_wake_ = now_ + 1;  // of the next one, where that is due already
    return true;
  }
  refresh_wake_ = kNever;
  for (int bank = 0; bank < organization_.banks(); ++bank) {
    if (states_.OpenRow(rank, bank) == BankStates::kClosed) continue;
    const Clock clock = states_.EarliestOf(Command::kPrecharge, rank, bank);
    if (clock <= now_) {
      Issue({.clock = now_, .command = Command::kPrecharge, .rank = rank, .bank = bank});
      refresh_wake_ = now_ + 1;
      return true;
    }
    refresh_wake_ = std::min(refresh_wake_, clock);
  }
  return false;
}

void Controller::IssueForRequest() {
  const int ranks = organization_.ranks;
  for (int turn = 1; turn <= ranks; ++turn) {
    const int rank = (last_served_rank_ + turn) % ranks;
    if (rank == refresh_.due_rank()) continue;
    Clock& wake = rank_wakes_[static_cast<size_t>(rank)];
    if (options_.skips && wake > now_) continue;
    const RankQueue::Choice choice = queues_[static_cast<size_t>(rank)].Choose(now_);
    if (!choice.found) {
      wake = choice.clock;
      continue;
    }
    last_served_rank_ = rank;
    Issue(choice.issued);
    ServeRequest(choice);
    return;
  }
}

void Controller::ServeRequest(const RankQueue::Choice& choice) {
  const IssuedCommand& issued = choice.issued;
  if (issued.command != Command::kRead && issued.command != Command::kWrite) return;
  const auto served = queues_[static_cast<size_t>(issued.rank)].Serve(choice.index);
  const QueuedRequest& request = served.request;
  if (served.is_row_hit) ++(request.is_write ? counts_.write_row_hits : counts_.read_row_hits);
  if (!served.is_last_burst) return;
  const Clock done = now_ + (request.is_write ? timing_.cwl : timing_.cl) + timing_.tburst;
  auto& under_way = request.is_write ? writes_under_way_ : reads_under_way_;
  under_way.push_back({request.id, request.accepted, done, request.is_write});
  may_move_ = !transactions_.empty();  // the queue has room for one
}

void Controller::MoveTransaction() {
  const auto with_room =
      std::find_if(transactions_.begin(), transactions_.end(), [&](const Transaction& waiting) {
        return queues_[static_cast<size_t>(waiting.rank)].has_room();
      });
  may_move_ = with_room != transactions_.end();
  if (!may_move_) return;
  const auto rank = static_cast<size_t>(with_room->rank);
  queues_[rank].Add(with_room->request);
  rank_wakes_[rank] = std::min(rank_wakes_[rank], now_ + 1);
  transactions_.erase(with_room);
  may_move_ = !transactions_.empty();
}

ControllerCounts Controller::Counts() const {
  ControllerCounts counts = counts_;
  counts.active_rank_clocks = states_.ActiveRankClocks(now_);
  counts.idle_rank_clocks = organization_.ranks * now_ - counts.active_rank_clocks;
  return counts;
}

}  // namespace weft::sim
