// sim/dram/timing.h: what a DRAM standard says about time: the gaps between commands, by their
// names in the data sheets.
//
// Not for rules: gap_table.h makes the controller's of them, command_checker.h has its own.
//
// Units     clocks of the memory's command clock (tCK), but tck_ns. Additive latency is 0.
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
  int trcd_rd;    // ACT to RD
  int trcd_wr;    // ACT to WR
  int trp;        // PRE to ACT and to REF
  int tras;       // ACT to PRE
  int trc;        // ACT to ACT of the same bank
  int trrd_s;     // ACT to ACT
  int trrd_l;     // ... of the same bank group
  int tfaw;       // a rank's window of at most four ACT
  int twr;        // a write's last data to PRE
  int twtr_s;     // a write's last data to RD of the rank
  int twtr_l;     // ... of the same bank group
  int trtp;       // RD to PRE
  int tccd_s;     // RD to RD, WR to WR of the rank
  int tccd_l;     // RD to RD of the same bank group
  int tccd_l_wr;  // WR to WR of the same bank group
  int tburst;     // a burst's time on the data bus: BL/2 where data come twice a clock
  int trfc;       // REF to ACT and to REF
  int trefi;      // between a rank's REF, on average
  int trtrs;      // the data bus' rest where another rank, or the other direction, takes over

  // 0 where the memory's have no public figures: it does without.
  int trfc_pb = 0;  // REFpb to ACT and to REFpb of the bank
  int trrefd = 0;   // REFpb to ACT and to REFpb of other banks
  int txp = 0;      // PDX to any command
  int tcke = 0;     // PDE to PDX, and PDX to PDE

  bool operator==(const Timing&) const = default;
};

}  // namespace weft::sim
