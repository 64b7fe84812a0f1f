// sim/dram/timing.h: the times in a DRAM standard: the gaps between commands, by their names in the
// data sheets.
//
// Rules are elsewhere: gap_table.h makes the controller's from them, command_checker.h has its own.
//
// Units     clocks of the memory's command clock (tCK), except tck_ns. Additive latency is 0.
// Threads   values.
// Source    the simulator's specification, section 2.1 (DDR3) and 2.4 (others). _s and _l are
//           JEDEC's short and long: in another bank group of the rank, and in the same. Memory
//           without bank groups has one, and both alike.
#pragma once

#include <cstdint>

namespace weft::sim {

// A point in time, or a distance between two, in clocks of the memory.
using Clock = int64_t;

struct Timing {
  double tck_ns;
  int cl;         // RD to its first data
  int cwl;        // WR to its first data
  int trcd_rd;    // row to column: ACT to RD
  int trcd_wr;    // ACT to WR
  int trp;        // PRE to ACT and to REF
  int tras;       // ACT to PRE
  int trc;        // row cycle: ACT to ACT of the same bank
  int trrd_s;     // ACT to ACT
  int trrd_l;     // ... of the same bank group
  int tfaw;       // a rank's window: at most four ACT
  int twr;        // a write's last data to PRE
  int twtr_s;     // likewise: to RD of the rank
  int twtr_l;     // ... of the same bank group
  int trtp;       // RD to PRE
  int tccd_s;     // of the rank: RD to RD, WR to WR
  int tccd_l;     // RD to RD of the same bank group
  int tccd_l_wr;  // likewise: WR to WR of the same bank group
  int tburst;     // a burst's time on the data bus: BL/2 where data come twice a clock
  int trfc;       // REF to ACT and to REF
  int trefi;      // on average: between a rank's REF
  int trtrs;      // the data bus' rest when another rank, or the other direction, takes over

  // 0 if the memory's have no public figures: it does without.
  int trfc_pb = 0;  // REFpb to ACT and to REFpb of the bank
  int trrefd = 0;   // likewise: of other banks
  int txp = 0;      // PDX to any command
  int tcke = 0;     // PDE to PDX, and PDX to PDE

  bool operator==(const Timing&) const = default;
};

}  // namespace weft::sim
