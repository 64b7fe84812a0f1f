#include "sim/dram/command_checker.h"

#include <algorithm>

namespace weft::sim {
namespace {

// JEDEC lets eight refreshes be postponed.
constexpr Clock kRefreshTimesMax = 9;

bool IsColumn(const IssuedCommand& issued) {
  return issued.command == Command::kRead || issued.command == Command::kWrite;
}

Clock HorizonOf(const Timing& t) {
  return std::max({t.trfc, t.trc, t.tfaw, t.tras, t.trp, t.cwl + t.tburst + t.twr,
                   t.cwl + t.tburst + t.twtr_l, t.tccd_l, t.tccd_l_wr, t.trcd_rd, t.trcd_wr});
}

}  // namespace

CommandChecker::CommandChecker(const Organization& organization, const Timing& timing,
                               bool refreshes)
    : organization_(organization),
      timing_(timing),
      refreshes_(refreshes),
      horizon_(HorizonOf(timing)),
      open_rows_(static_cast<size_t>(organization.ranks * organization.banks())),
      last_refresh_(static_cast<size_t>(organization.ranks), 0) {}

void CommandChecker::Require(bool holds, std::string_view rule) {
  if (holds || violations_.size() == kViolationsMax) return;
  violations_.push_back({commands_, clock_, std::string(rule)});
}

bool CommandChecker::IsInRange(const IssuedCommand& issued) const {
  return issued.rank >= 0 && issued.rank < organization_.ranks && issued.bank >= 0 &&
         issued.bank < organization_.banks() && issued.row < organization_.rows &&
         issued.column < organization_.lines_per_row();
}

void CommandChecker::Check(const IssuedCommand& issued) {
  const bool is_later = issued.clock > clock_;
  clock_ = issued.clock;
  Require(is_later, "order");
  Require(IsInRange(issued), "range");
  if (IsInRange(issued)) {
    while (!recent_.empty() && recent_.front().clock + horizon_ < issued.clock) {
      recent_.pop_front();
    }
    CheckState(issued);
    for (const IssuedCommand& earlier : recent_) {
      if (earlier.rank == issued.rank) CheckPair(earlier, issued);
    }
    CheckWindow(issued);
    CheckBus(issued);
    recent_.push_back(issued);
  }
  ++commands_;
}

void CommandChecker::CheckState(const IssuedCommand& issued) {
  const auto of_rank = open_rows_.begin() + issued.rank * organization_.banks();
  std::optional<uint32_t>& open_row = of_rank[issued.bank];
  switch (issued.command) {
    case Command::kActivate:
      Require(!open_row, "bank");
      open_row = issued.row;
      return;
    case Command::kPrecharge:
      Require(open_row.has_value(), "bank");
      open_row.reset();
      return;
    case Command::kRead:
    case Command::kWrite: Require(open_row == issued.row, "bank"); return;
    case Command::kRefresh:
      Require(std::none_of(of_rank, of_rank + organization_.banks(),
                           [](const auto& row) { return row.has_value(); }),
              "bank");
      CheckRefreshTime(issued.rank, issued.clock);
      return;
  }
}

void CommandChecker::CheckRefreshTime(int rank, Clock clock) {
  Clock& last = last_refresh_[static_cast<size_t>(rank)];
  if (refreshes_) Require(clock - last <= kRefreshTimesMax * timing_.trefi, "tREFI");
  last = clock;
}

void CommandChecker::CheckPair(const IssuedCommand& earlier, const IssuedCommand& later) {
  const Clock gap = later.clock - earlier.clock;
  switch (earlier.command) {
    case Command::kActivate: CheckAfterActivate(earlier, later, gap); return;
    case Command::kPrecharge:
      if (later.command == Command::kRefresh ||
          (later.command == Command::kActivate && later.bank == earlier.bank)) {
        Require(gap >= timing_.trp, "tRP");
      }
      return;
    case Command::kRead:
    case Command::kWrite: CheckAfterColumn(earlier, later, gap); return;
    case Command::kRefresh: Require(gap >= timing_.trfc, "tRFC"); return;  // nothing may go on
  }
}

void CommandChecker::CheckAfterActivate(const IssuedCommand& earlier, const IssuedCommand& later,
                                        Clock gap) {
  if (later.command == Command::kActivate) {
    if (later.bank == earlier.bank) {
      Require(gap >= timing_.trc, "tRC");
    } else if (organization_.GroupOf(later.bank) == organization_.GroupOf(earlier.bank)) {
      Require(gap >= timing_.trrd_l, "tRRD_L");
    } else {
      Require(gap >= timing_.trrd_s, "tRRD_S");
    }
    return;
  }
  if (later.bank != earlier.bank) return;
  if (later.command == Command::kRead) Require(gap >= timing_.trcd_rd, "tRCD");
  if (later.command == Command::kWrite) Require(gap >= timing_.trcd_wr, "tRCD");
  if (later.command == Command::kPrecharge) Require(gap >= timing_.tras, "tRAS");
}

void CommandChecker::CheckAfterColumn(const IssuedCommand& earlier, const IssuedCommand& later,
                                      Clock gap) {
  const bool was_write = earlier.command == Command::kWrite;
  const Clock since_data = gap - timing_.cwl - timing_.tburst;  // of a write
  if (later.command == Command::kPrecharge && later.bank == earlier.bank) {
    if (was_write) {
      Require(since_data >= timing_.twr, "tWR");
    } else {
      Require(gap >= timing_.trtp, "tRTP");
    }
  }
  if (!IsColumn(later)) return;
  const bool in_group = organization_.GroupOf(later.bank) == organization_.GroupOf(earlier.bank);
  if (later.command == earlier.command) {
    const Clock in_group_clocks = was_write ? timing_.tccd_l_wr : timing_.tccd_l;
    Require(gap >= timing_.tccd_s, "tCCD_S");
    if (in_group) Require(gap >= in_group_clocks, "tCCD_L");
  } else if (was_write) {
    Require(since_data >= timing_.twtr_s, "tWTR_S");
    if (in_group) Require(since_data >= timing_.twtr_l, "tWTR_L");
  }
}

void CommandChecker::CheckWindow(const IssuedCommand& issued) {
  if (issued.command != Command::kActivate) return;
  const auto in_window =
      std::count_if(recent_.begin(), recent_.end(), [&](const IssuedCommand& earlier) {
        return earlier.command == Command::kActivate && earlier.rank == issued.rank &&
               issued.clock - earlier.clock < timing_.tfaw;
      });
  Require(in_window < 4, "tFAW");
}

void CommandChecker::CheckBus(const IssuedCommand& issued) {
  if (!IsColumn(issued)) return;
  const bool is_write = issued.command == Command::kWrite;
  const Clock begin = issued.clock + (is_write ? timing_.cwl : timing_.cl);
  const Burst burst{begin, begin + timing_.tburst, issued.rank, is_write};
  if (last_burst_) {
    Require(burst.begin >= last_burst_->end, "bus");
    const bool turns = burst.rank != last_burst_->rank || (is_write && !last_burst_->is_write);
    if (turns) Require(burst.begin >= last_burst_->end + timing_.trtrs, "tRTRS");
  }
  last_burst_ = burst;
}

void CommandChecker::Finish(Clock end) {
  clock_ = end;
  if (!refreshes_) return;
  for (const Clock last : last_refresh_) {
    Require(end - last <= kRefreshTimesMax * timing_.trefi, "tREFI");
  }
}

}  // namespace weft::sim
