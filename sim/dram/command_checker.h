// sim/dram/command_checker.h: re-reads a channel's commands and checks each against every earlier
// one that can still matter, rule by rule, and against the state of its bank.
//
// It shares no logic with the controller: no table of gaps, no earliest clocks. It keeps the recent
// commands and checks each pair against the data sheet. It sees the data bus as the bursts on it,
// which must not overlap and must leave the bus its rest.
//
// Rules     order (clocks rise, at most one command in each on each bus; a power command takes
//           none), range (of rank, bank, row, column), bank (its state fits), tRC, tRRD_S, tRRD_L,
//           tFAW, tRCD, tRAS, tRTP, tWR, tRP, tRFC, tRFCpb, tRREFD, tXP, tCKE, tRDPDEN and tWRPDEN
//           (RD or WR to PDE), power (what a rank gets while it is powered down, or a PDE while a
//           bank is open), tCCD_S, tCCD_L, tWTR_S, tWTR_L, bus (bursts overlap or are out of
//           order), tRTRS, tREFI (a rank is refreshed within nine of them: JEDEC lets eight
//           refreshes wait).
// Units     clocks.
// Threads   one owner.
// Cost      of a command, the number of those within the longest rule's time (tRFC). Those before a
//           clock that falls are forgotten.
// Source    the simulator's specification, sections 2.1 and 4.1 (T26).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/dram/command.h"
#include "sim/dram/organization.h"
#include "sim/dram/timing.h"

namespace weft::sim {

struct Violation {
  uint64_t index;  // of the command, from 0; of the end, for what is missing there
  Clock clock;
  std::string rule;
};

class CommandChecker {
 public:
  // More are not kept, only counted.
  static constexpr size_t kViolationsMax = 1000;

  // `refreshes`: is a lack of them a violation?
  CommandChecker(const Organization& organization, const Timing& timing, bool refreshes);

  void Check(const IssuedCommand& issued);
  // No more commands come before `end`.
  void Finish(Clock end);

  const std::vector<Violation>& violations() const { return violations_; }
  uint64_t commands() const { return commands_; }

 private:
  struct Burst {
    Clock begin;
    Clock end;
    int rank;
    bool is_write;
  };

  bool IsInRange(const IssuedCommand& issued) const;
  bool IsInOrder(const IssuedCommand& issued);
  void CheckState(const IssuedCommand& issued);
  void CheckPower(const IssuedCommand& issued);
  void CheckPair(const IssuedCommand& earlier, const IssuedCommand& later);
  void CheckAfterActivate(const IssuedCommand& earlier, const IssuedCommand& later, Clock gap);
  void CheckAfterRefreshOfBank(const IssuedCommand& earlier, const IssuedCommand& later, Clock gap);
  void CheckAfterColumn(const IssuedCommand& earlier, const IssuedCommand& later, Clock gap);
  bool HasOpenBank(int rank) const;
  void CheckWindow(const IssuedCommand& issued);
  void CheckBus(const IssuedCommand& issued);
  // Of REF or REFpb at `clock`, or of the end.
  void CheckRefreshTime(Clock last, Clock clock);
  void CheckRefreshTimes(const IssuedCommand& refresh);
  Clock OldestRefresh(int rank) const;
  void Require(bool holds, std::string_view rule);

  // Constant after construction.
  const Organization organization_;
  const Timing timing_;
  const bool refreshes_;
  const Clock horizon_;  // what lies longer back can't matter

  std::deque<IssuedCommand> recent_;
  std::vector<std::optional<uint32_t>> open_rows_;  // by rank and bank
  std::vector<Clock> last_refreshes_;               // by rank and bank
  std::vector<bool> is_powered_down_;               // by rank
  std::optional<Burst> last_burst_;
  std::vector<Violation> violations_;
  uint64_t commands_ = 0;
  Clock clock_ = -1;         // of the last command
  Clock row_clock_ = -1;     // likewise: on the bus for rows, or on the only one
  Clock column_clock_ = -1;  // likewise: on the bus for columns
};

}  // namespace weft::sim
