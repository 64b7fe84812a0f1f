// sim/dram/gap_table.h: after a command, how long each other one has to wait, and where.
//
// Units     clocks between the two commands.
// Threads   const after construction.
// Source    the simulator's specification, section 2.1 (table of gaps) and 2.4 (short and long).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/dram/command.h"
#include "sim/dram/timing.h"

namespace weft::sim {

// The banks that a command keeps waiting, seen from its own.
enum class Scope : uint8_t { kBank, kBankGroup, kRank, kOtherRanks };

struct Gap {
  Command next;
  Scope scope;
  int clocks;
};

using GapTable = std::array<std::vector<Gap>, kCommands>;

// By the command that was issued. A rank's window of four ACT is not among them, because it is no
// gap between two commands. `powers_down`: with those before and after power-down.
GapTable MakeGapTable(const Timing& timing, bool powers_down);

}  // namespace weft::sim
