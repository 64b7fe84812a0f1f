#include "sim/dram/controller.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"

namespace weft::sim {

Status Validate(const Preset& preset, const ControllerOptions& options) {
  const auto wrong = [&](const char* what) {
    return Status(Code::kInvalidArgument, "memory '" + preset.name + "': " + what);
  };
  if (options.commands_max < 1 || options.commands_max > RankQueue::kEntriesMax) {
    return wrong("a rank's command queue must have room for 1 to 64 requests");
  }
  if (options.row_hits_max < 1)
    return wrong("a row must serve at least one request before it is closed");
  if (options.refreshes_banks && preset.timing.trfc_pb == 0) {
    return wrong("the memory has no figures for refreshes of single banks");
  }
  if (options.powers_down && preset.timing.txp == 0) {
    return wrong("the memory has no figures for power-down");
  }
  const int ranks = preset.organization.ranks;
  const int banks = preset.organization.banks();
  // Else refreshes would fall behind for ever.
  const Timing& timing = preset.timing;
  const int of_a_rank = timing.trefi / ranks;
  if (options.refreshes && of_a_rank < timing.tras + timing.trp + banks) {
    return wrong("tREFI leaves no time to close each rank's rows");
  }
  if (options.refreshes && options.refreshes_banks && of_a_rank < banks) {
    return wrong("tREFI has fewer clocks than there are banks");
  }
  return Status::Ok();
}

Controller::Controller(const Preset& preset, ControllerOptions options)
    : organization_(preset.organization),
      timing_(preset.timing),
      options_(std::move(options)),
      transactions_max_(static_cast<size_t>(options_.transactions_max)),
      has_write_buffer_(options_.writes == WritePolicy::kBuffer),
      write_buffer_max_(static_cast<size_t>(options_.write_buffer_max)),
      permits_all_(options_.order == OrderPolicy::kFirstReady && !options_.refreshes_banks &&
                   !organization_.has_column_bus),
      states_(organization_, timing_, options_.powers_down),
      refresh_(organization_.ranks, options_.refreshes_banks ? organization_.banks() : 1,
               timing_.trefi),
      rank_wakes_(static_cast<size_t>(organization_.ranks), kNever),
      power_wake_(options_.powers_down ? 0 : kNever),
      idle_writes_max_(static_cast<size_t>(options_.idle_writes_max)),
      last_served_rank_(organization_.ranks - 1) {
  WEFT_CHECK(Validate(preset, options_).ok());
  for (int rank = 0; rank < organization_.ranks; ++rank) {
    queues_.emplace_back(rank,
                         RankQueue::Options{options_.commands_max, options_.row_hits_max,
                                            options_.order == OrderPolicy::kFirstCome},
                         states_, organization_.banks());
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

void Controller::EndRequests() {
  idle_writes_max_ = 0;
  may_move_ = may_move_ || !write_buffer_.empty();
}

bool Controller::IsForWriteBuffer(const Transaction& transaction) {
  const auto is_same = [&](const Transaction& waiting) {
    return waiting.rank == transaction.rank &&
           AreForTheSameLine(waiting.request, transaction.request);
  };
  const bool waits = std::any_of(write_buffer_.begin(), write_buffer_.end(), is_same) ||
                     queues_[static_cast<size_t>(transaction.rank)].Has(transaction.request, true);
  if (waits) ++(transaction.request.is_write ? counts_.writes_merged : counts_.buffer_reads);
  if (transaction.request.is_write && !waits) write_buffer_.push_back(transaction);
  return waits || transaction.request.is_write;
}

void Controller::Tick() {
  Complete();
  if (options_.refreshes) refresh_.Advance(now_);
  free_ = {};
  IssueForRefresh();
  const bool is_issued = free_ != Buses{false, false} && IssueForRequest();
  if (is_issued && free_ != Buses{false, false}) IssueForRequest();
  if (options_.page == PagePolicy::kClosed && free_.row) IssueToCloseRow();
  if (may_move_) MoveTransaction();
  if (options_.powers_down) ChangePower();
  ++now_;
}

Clock Controller::NextEvent() const {
  if (may_move_ || !options_.skips) return now_;
  Clock next = std::min(close_wake_, power_wake_);
  if (!reads_under_way_.empty()) next = std::min(next, reads_under_way_.front().done);
  if (!writes_under_way_.empty()) next = std::min(next, writes_under_way_.front().done);
  if (!done_by_buffer_.empty()) next = std::min(next, done_by_buffer_.front().done);
  if (options_.refreshes) next = std::min(next, refresh_.next_due());
  if (refresh_.is_due()) next = std::min(next, refresh_wake_);
  const int refreshing_rank = RefreshingRank();
  for (int rank = 0; rank < organization_.ranks; ++rank) {
    if (rank != refreshing_rank) next = std::min(next, rank_wakes_[static_cast<size_t>(rank)]);
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
    case Command::kRefreshBank: ++counts_.bank_refreshes; break;
    case Command::kPowerDown:
    case Command::kPowerUp: break;
  }
  if (!organization_.has_column_bus) {
    free_ = {false, false};
  } else {
    (IsColumn(command.command) ? free_.column : free_.row) = false;
  }
  rank_wakes_[static_cast<size_t>(command.rank)] = now_ + 1;
  if (options_.page == PagePolicy::kClosed) close_wake_ = std::min(close_wake_, now_ + 1);
  if (options_.on_command) options_.on_command(command);
}

int Controller::RefreshingRank() const {
  return refresh_.is_due() && !options_.refreshes_banks ? refresh_.due().rank : kNone;
}

void Controller::IssueForRefresh() {
  if (!refresh_.is_due()) return;
  const RefreshSchedule::Due due = refresh_.due();
  if (states_.IsPoweredDown(due.rank)) {
    refresh_wake_ = kNever;  // ChangePower() sees to it
    return;
  }
  const bool is_of_bank = options_.refreshes_banks;
  const bool is_open = is_of_bank ? states_.OpenRow(due.rank, due.bank) != BankStates::kClosed
                                  : states_.OpenBanks(due.rank) > 0;
  if (is_open) {
    const uint64_t all = ~uint64_t{0} >> (64 - organization_.banks());
    IssueBeforeRefresh(due, is_of_bank ? uint64_t{1} << due.bank : all);
    return;
  }
  const Command command = is_of_bank ? Command::kRefreshBank : Command::kRefresh;
  refresh_wake_ = states_.EarliestOf(command, due.rank, due.bank);
  if (refresh_wake_ > now_) return;
  Issue({.clock = now_, .command = command, .rank = due.rank, .bank = due.bank});
  refresh_.Done();
  refresh_wake_ = now_ + 1;  // of the next one, where that is due already
}

void Controller::IssueBeforeRefresh(const RefreshSchedule::Due& due, uint64_t banks) {
  RankQueue& queue = queues_[static_cast<size_t>(due.rank)];
  // Else requests for an open row that never cease would keep a refresh waiting.
  const Clock drain_end = options_.refresh_drain ? due.since + timing_.trefi : 0;
  refresh_wake_ = kNever;
  if (now_ < drain_end) {
    const auto choice =
        queue.Choose(now_, {.rows = false, .columns = PermitOf(due.rank).columns, .banks = banks});
    refresh_wake_ = choice.found ? now_ + 1 : choice.clock;
    if (choice.found) {
      Issue(choice.issued);
      ServeRequest(choice);
      return;
    }
  }
  for (; banks != 0; banks &= banks - 1) {
    const int bank = std::countr_zero(banks);
    if (states_.OpenRow(due.rank, bank) == BankStates::kClosed) continue;
    Clock clock = states_.EarliestOf(Command::kPrecharge, due.rank, bank);
    if (queue.HasServableHits(bank)) clock = std::max(clock, drain_end);
    if (clock <= now_) {
      Issue({.clock = now_, .command = Command::kPrecharge, .rank = due.rank, .bank = bank});
      refresh_wake_ = now_ + 1;
      return;
    }
    refresh_wake_ = std::min(refresh_wake_, clock);
  }
}

RankQueue::Permit Controller::PermitOf(int rank) const {
  RankQueue::Permit permit{.rows = free_.row};
  if (options_.order == OrderPolicy::kFirstCome) {
    const bool has_oldest = !ranks_in_order_.empty() && ranks_in_order_.front() == rank;
    permit.columns = has_oldest ? Columns::kOldest : Columns::kNone;
  }
  if (!free_.column) permit.columns = Columns::kNone;
  if (options_.refreshes_banks && refresh_.is_due() && refresh_.due().rank == rank) {
    permit.banks = ~(uint64_t{1} << refresh_.due().bank);
  }
  return permit;
}

bool Controller::IssueForRequest() {
  // Only a choice among all commands says when the next will be.
  const bool is_whole = free_ == Buses{};
  const int ranks = organization_.ranks;
  const int refreshing_rank = RefreshingRank();
  for (int turn = 1; turn <= ranks; ++turn) {
    const int rank = (last_served_rank_ + turn) & (ranks - 1);
    if (rank == refreshing_rank) continue;
    Clock& wake = rank_wakes_[static_cast<size_t>(rank)];
    if (options_.skips && is_whole && wake > now_) continue;
    const RankQueue& queue = queues_[static_cast<size_t>(rank)];
    if (queue.is_empty() || states_.IsPoweredDown(rank)) {
      wake = kNever;
      continue;
    }
    const auto choice = queue.Choose(now_, permits_all_ ? RankQueue::Permit() : PermitOf(rank));
    if (!choice.found) {
      if (is_whole) wake = choice.clock;
      continue;
    }
    last_served_rank_ = rank;
    Issue(choice.issued);
    ServeRequest(choice);
    return true;
  }
  return false;
}

void Controller::IssueToCloseRow() {
  if (options_.skips && close_wake_ > now_) return;
  close_wake_ = kNever;
  for (int rank = 0; rank < organization_.ranks; ++rank) {
    if (states_.OpenBanks(rank) == 0 || rank == RefreshingRank()) continue;
    for (int bank = 0; bank < organization_.banks(); ++bank) {
      if (states_.OpenRow(rank, bank) == BankStates::kClosed) continue;
      if (queues_[static_cast<size_t>(rank)].HasHits(bank)) continue;
      const Clock clock = states_.EarliestOf(Command::kPrecharge, rank, bank);
      if (clock <= now_) {
        Issue({.clock = now_, .command = Command::kPrecharge, .rank = rank, .bank = bank});
        return;
      }
      close_wake_ = std::min(close_wake_, clock);
    }
  }
}

void Controller::ChangePower() {
  power_wake_ = kNever;
  for (int rank = 0; rank < organization_.ranks; ++rank) {
    const bool is_down = states_.IsPoweredDown(rank);
    const bool is_wanted = !queues_[static_cast<size_t>(rank)].is_empty() || refresh_.IsDue(rank);
    if (is_down != is_wanted || states_.OpenBanks(rank) > 0) continue;
    const Command command = is_down ? Command::kPowerUp : Command::kPowerDown;
    const Clock clock = states_.EarliestOf(command, rank, 0);
    if (clock > now_) {
      power_wake_ = std::min(power_wake_, clock);
      continue;
    }
    Issue({.clock = now_, .command = command, .rank = rank});
    refresh_wake_ = now_ + 1;
  }
}

void Controller::ServeRequest(const RankQueue::Choice& choice) {
  const IssuedCommand& issued = choice.issued;
  if (issued.command != Command::kRead && issued.command != Command::kWrite) return;
  RankQueue& queue = queues_[static_cast<size_t>(issued.rank)];
  const auto served = queue.Serve(choice.index);
  const QueuedRequest& request = served.request;
  if (served.is_row_hit) ++(request.is_write ? counts_.write_row_hits : counts_.read_row_hits);
  if (!served.is_last_burst) return;
  if (queue.is_empty()) rank_wakes_[static_cast<size_t>(issued.rank)] = kNever;
  if (options_.order == OrderPolicy::kFirstCome) {
    // The next oldest may be any rank's.
    ranks_in_order_.pop_front();
    std::fill(rank_wakes_.begin(), rank_wakes_.end(), now_ + 1);
    refresh_wake_ = now_ + 1;
  }
  may_move_ = !transactions_.empty() || !write_buffer_.empty();  // the queue has room for one
  if (request.is_write && has_write_buffer_) return;             // it was done before
  const Clock done = now_ + (request.is_write ? timing_.cwl : timing_.cl) + timing_.tburst;
  auto& under_way = request.is_write ? writes_under_way_ : reads_under_way_;
  under_way.push_back({request.id, request.accepted, done, request.is_write});
}

void Controller::MoveTransaction() {
  const bool is_full = has_write_buffer_ && write_buffer_.size() == write_buffer_max_;
  const bool is_idle =
      write_buffer_.size() > idle_writes_max_ &&
      std::all_of(queues_.begin(), queues_.end(), [](const auto& q) { return q.is_empty(); });
  if (writes_to_move_ == 0 && (is_full || is_idle)) writes_to_move_ = write_buffer_.size();
  const bool has_moved = writes_to_move_ > 0 ? MoveWrite() : MoveRead();
  may_move_ = has_moved && (!transactions_.empty() || !write_buffer_.empty());
}

bool Controller::MoveRead() {
  if (options_.order == OrderPolicy::kFirstCome) {
    const bool can_move = !transactions_.empty() &&
                          queues_[static_cast<size_t>(transactions_.front().rank)].has_room();
    if (can_move) Move(transactions_, transactions_.begin());
    return can_move;
  }
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
  if (options_.refresh_drain) refresh_wake_ = now_ + 1;
  if (options_.order == OrderPolicy::kFirstCome) ranks_in_order_.push_back(transaction->rank);
  if (transaction == from.begin()) {
    from.pop_front();  // as mostly: without erase()'s moves
  } else {
    from.erase(transaction);
  }
}

Controller::Unserved Controller::CountUnserved() const {
  Unserved unserved;
  const auto add = [&](bool is_write) { ++(is_write ? unserved.writes : unserved.reads); };
  for (const Transaction& waiting : transactions_) add(waiting.request.is_write);
  for (const RankQueue& queue : queues_) {
    unserved.reads += queue.reads();
    unserved.writes += queue.writes();
  }
  unserved.writes += static_cast<int64_t>(write_buffer_.size() + writes_under_way_.size());
  unserved.reads += static_cast<int64_t>(reads_under_way_.size());
  for (const Completion& done : done_by_buffer_) unserved.reads += done.is_write ? 0 : 1;
  return unserved;
}

ControllerCounts Controller::Counts() const {
  ControllerCounts counts = counts_;
  counts.active_rank_clocks = states_.ActiveRankClocks(now_);
  counts.powered_down_rank_clocks = states_.PoweredDownRankClocks(now_);
  counts.idle_rank_clocks =
      organization_.ranks * now_ - counts.active_rank_clocks - counts.powered_down_rank_clocks;
  return counts;
}

}  // namespace weft::sim
