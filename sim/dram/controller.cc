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
      has_write_buffer_(options_.writes == WritePolicy::kBuffer),
      write_buffer_max_(static_cast<size_t>(options_.write_buffer_max)),
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
  WEFT_CHECK(CanAccept(is_write));
  const Transaction transaction{
      .rank = place.rank,
      .request = {.id = id,
                  .accepted = now_,
                  .row = place.row,
                  .column = place.column,
                  .bank = static_cast<uint8_t>(place.bank),
                  .is_write = is_write,
                  .bursts_left = static_cast<uint8_t>(organization_.bursts_per_line())}};
  ++pending_;
  may_move_ = true;
  if (has_write_buffer_ && IsForWriteBuffer(transaction)) {
    done_by_buffer_.push_back({id, now_, now_ + 1, is_write});
  } else {
    transactions_.push_back(transaction);
  }
}

bool Controller::IsForWriteBuffer(const Transaction& transaction) {
  const auto is_same = [&](const Transaction& waiting) {
    return waiting.rank == transaction.rank &&
           AreForTheSameLine(waiting.request, transaction.request);
  };
  const bool waits = std::any_of(write_buffer_.begin(), write_buffer_.end(), is_same) ||
                     queues_[static_cast<size_t>(transaction.rank)].Has(transaction.request, true);
  if (transaction.request.is_write && !waits) write_buffer_.push_back(transaction);
  return waits || transaction.request.is_write;
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
  if (!done_by_buffer_.empty()) next = std::min(next, done_by_buffer_.front().done);
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
  for (auto* const under_way : {&done_by_buffer_, &reads_under_way_, &writes_under_way_}) {
    while (!under_way->empty() && under_way->front().done <= now_) {
      const Completion& done = under_way->front();
      ++(done.is_write ? counts_.writes_done : counts_.reads_done);
      if (!done.is_write) counts_.read_latency_clocks += done.done - done.accepted;
      completions_.push_back(done);
      under_way->pop_front();
      --pending_;
    }
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
  may_move_ = !transactions_.empty() || !write_buffer_.empty();  // the queue has room for one
  if (request.is_write && has_write_buffer_) return;             // it was done before
  const Clock done = now_ + (request.is_write ? timing_.cwl : timing_.cl) + timing_.tburst;
  auto& under_way = request.is_write ? writes_under_way_ : reads_under_way_;
  under_way.push_back({request.id, request.accepted, done, request.is_write});
}

void Controller::MoveTransaction() {
  const bool is_full = has_write_buffer_ && write_buffer_.size() == write_buffer_max_;
  const bool is_idle =
      write_buffer_.size() > static_cast<size_t>(options_.idle_writes_max) &&
      std::all_of(queues_.begin(), queues_.end(), [](const auto& q) { return q.is_empty(); });
  if (writes_to_move_ == 0 && (is_full || is_idle)) writes_to_move_ = write_buffer_.size();
  const bool has_moved = writes_to_move_ > 0 ? MoveWrite() : MoveRead();
  may_move_ = has_moved && (!transactions_.empty() || !write_buffer_.empty());
}

bool Controller::MoveRead() {
  const auto with_room =
      std::find_if(transactions_.begin(), transactions_.end(), [&](const Transaction& waiting) {
        return queues_[static_cast<size_t>(waiting.rank)].has_room();
      });
  if (with_room == transactions_.end()) return false;
  Move(transactions_, with_room);
  return true;
}

bool Controller::MoveWrite() {
  bool waits_for_room = false;
  for (auto write = write_buffer_.begin(); write != write_buffer_.end(); ++write) {
    const bool has_room = queues_[static_cast<size_t>(write->rank)].has_room();
    waits_for_room |= !has_room;
    if (!has_room || HasRead(*write)) continue;
    Move(write_buffer_, write);
    --writes_to_move_;
    return true;
  }
  if (waits_for_room) return false;
  writes_to_move_ = 0;  // all wait for reads, so let those go first
  return MoveRead();
}

bool Controller::HasRead(const Transaction& write) const {
  return queues_[static_cast<size_t>(write.rank)].Has(write.request, false) ||
         std::any_of(transactions_.begin(), transactions_.end(), [&](const Transaction& read) {
           return read.rank == write.rank && AreForTheSameLine(read.request, write.request);
         });
}

void Controller::Move(std::deque<Transaction>& from,
                      std::deque<Transaction>::iterator transaction) {
  const auto rank = static_cast<size_t>(transaction->rank);
  queues_[rank].Add(transaction->request);
  rank_wakes_[rank] = std::min(rank_wakes_[rank], now_ + 1);
  from.erase(transaction);
}

ControllerCounts Controller::Counts() const {
  ControllerCounts counts = counts_;
  counts.active_rank_clocks = states_.ActiveRankClocks(now_);
  counts.idle_rank_clocks = organization_.ranks * now_ - counts.active_rank_clocks;
  return counts;
}

}  // namespace weft::sim
