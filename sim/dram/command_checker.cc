#include "sim/dram/command_checker.h"

#include <algorithm>

namespace weft::sim {
namespace {

// JEDEC lets eight refreshes be postponed.
constexpr Clock kRefreshTimesMax = 9;

Clock HorizonOf(const Timing& t) {
  return std::max({t.trfc, t.trc, t.tfaw, t.tras, t.trp, t.cwl + t.tburst + t.twr,
                   t.cwl + t.tburst + t.twtr_l, t.tccd_l, t.tccd_l_wr, t.trcd_rd, t.trcd_wr,
                   t.trfc_pb, t.trrefd, t.txp, t.tcke, t.cl + t.tburst + 1});
}

}  // namespace

CommandChecker::CommandChecker(const Organization& organization, const Timing& timing,
                               bool refreshes)
    : organization_(organization),
      timing_(timing),
      refreshes_(refreshes),
      horizon_(HorizonOf(timing)),
      open_rows_(static_cast<size_t>(organization.ranks * organization.banks())),
      last_refreshes_(open_rows_.size()),
      is_powered_down_(static_cast<size_t>(organization.ranks)) {}

void CommandChecker::Require(bool holds, std::string_view rule) {
  if (holds || violations_.size() == kViolationsMax) return;
  violations_.push_back({commands_, clock_, std::string(rule)});
}

bool CommandChecker::IsInRange(const IssuedCommand& issued) const {
  return issued.rank >= 0 && issued.rank < organization_.ranks && issued.bank >= 0 &&
         issued.bank < organization_.banks() && issued.row < organization_.rows &&
         issued.column < organization_.lines_per_row();
}

bool CommandChecker::IsInOrder(const IssuedCommand& issued) {
  const bool is_in_order = issued.clock >= clock_;
  if (!is_in_order) recent_.clear();
  clock_ = issued.clock;
  if (IsPower(issued.command)) return is_in_order;
  const bool is_for_column_bus = organization_.has_column_bus && IsColumn(issued.command);
  Clock& last = is_for_column_bus ? column_clock_ : row_clock_;
  const bool is_free = issued.clock > last;
  last = issued.clock;
  return is_in_order && is_free;
}

void CommandChecker::Check(const IssuedCommand& issued) {
  if (violations_.size() == kViolationsMax) {
    ++commands_;
    return;
  }
  Require(IsInOrder(issued), "order");
  Require(IsInRange(issued), "range");
  if (IsInRange(issued)) {
    while (!recent_.empty() && recent_.front().clock + horizon_ < issued.clock) {
      recent_.pop_front();
    }
    CheckPower(issued);
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
    case Command::kRefreshBank:
      Require(!open_row, "bank");
      CheckRefreshTimes(issued);
      return;
    case Command::kRefresh:
      Require(!HasOpenBank(issued.rank), "bank");
      CheckRefreshTimes(issued);
      return;
    case Command::kPowerDown:
    case Command::kPowerUp: return;
  }
}

bool CommandChecker::HasOpenBank(int rank) const {
  const auto of_rank = open_rows_.begin() + rank * organization_.banks();
  return std::any_of(of_rank, of_rank + organization_.banks(),
                     [](const auto& row) { return row.has_value(); });
}

void CommandChecker::CheckPower(const IssuedCommand& issued) {
  const auto rank = static_cast<size_t>(issued.rank);
  Require(is_powered_down_[rank] == (issued.command == Command::kPowerUp), "power");
  if (issued.command == Command::kPowerDown) Require(!HasOpenBank(issued.rank), "power");
  if (IsPower(issued.command)) is_powered_down_[rank] = issued.command == Command::kPowerDown;
}

Clock CommandChecker::OldestRefresh(int rank) const {
  const auto of_rank = last_refreshes_.begin() + rank * organization_.banks();
  return *std::min_element(of_rank, of_rank + organization_.banks());
}

void CommandChecker::CheckRefreshTime(Clock last, Clock clock) {
  if (refreshes_) Require(clock - last <= kRefreshTimesMax * timing_.trefi, "tREFI");
}

void CommandChecker::CheckRefreshTimes(const IssuedCommand& refresh) {
  const auto of_rank = last_refreshes_.begin() + refresh.rank * organization_.banks();
  if (refresh.command == Command::kRefreshBank) {
    CheckRefreshTime(of_rank[refresh.bank], refresh.clock);
    of_rank[refresh.bank] = refresh.clock;
  } else {
    CheckRefreshTime(OldestRefresh(refresh.rank), refresh.clock);
    std::fill(of_rank, of_rank + organization_.banks(), refresh.clock);
  }
}

void CommandChecker::CheckPair(const IssuedCommand& earlier, const IssuedCommand& later) {
  const Clock gap = later.clock - earlier.clock;
  switch (earlier.command) {
    case Command::kActivate: CheckAfterActivate(earlier, later, gap); return;
    case Command::kPrecharge: {
      const bool is_of_bank =
          later.command == Command::kActivate || later.command == Command::kRefreshBank;
      if (later.command == Command::kRefresh || later.command == Command::kPowerDown ||
          (is_of_bank && later.bank == earlier.bank)) {
        Require(gap >= timing_.trp, "tRP");
      }
      return;
    }
    case Command::kRead:
    case Command::kWrite: CheckAfterColumn(earlier, later, gap); return;
    case Command::kRefresh: Require(gap >= timing_.trfc, "tRFC"); return;  // nothing may go on
    case Command::kRefreshBank: CheckAfterRefreshOfBank(earlier, later, gap); return;
    case Command::kPowerDown:
      if (later.command == Command::kPowerUp) Require(gap >= timing_.tcke, "tCKE");
      return;
    case Command::kPowerUp:
      if (later.command == Command::kPowerDown) {
        Require(gap >= timing_.tcke, "tCKE");
      } else {
        Require(gap >= timing_.txp, "tXP");
      }
      return;
  }
}

void CommandChecker::CheckAfterRefreshOfBank(const IssuedCommand& earlier,
                                             const IssuedCommand& later, Clock gap) {
  if (later.bank == earlier.bank || IsOfRank(later.command)) {
    Require(gap >= timing_.trfc_pb, "tRFCpb");
  } else if (later.command == Command::kActivate || later.command == Command::kRefreshBank) {
    Require(gap >= timing_.trrefd, "tRREFD");
  }
}

void CommandChecker::CheckAfterActivate(const IssuedCommand& earlier, const IssuedCommand& later,
                                        Clock gap) {
  if (later.command == Command::kActivate || later.command == Command::kRefreshBank) {
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
  if (later.command == Command::kPowerDown) {
    if (was_write) {
      Require(since_data >= timing_.twr, "tWRPDEN");
    } else {
      Require(gap >= timing_.cl + timing_.tburst + 1, "tRDPDEN");
    }
  }
  if (!IsColumn(later.command)) return;
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
  if (!IsColumn(issued.command)) return;
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
  for (int rank = 0; rank < organization_.ranks; ++rank) {
    CheckRefreshTime(OldestRefresh(rank), end);
  }
}

}  // namespace weft::sim
