// sim/dram/command.h: what a controller tells a channel's memory, one a clock.
//
// Threads   values.
#pragma once

#include <cstdint>

#include "sim/dram/timing.h"

namespace weft::sim {

enum class Command : uint8_t {
  kActivate,   // ACT: open a row of a bank
  kPrecharge,  // PRE: close the bank's row
  kRead,       // RD: a burst of the open row
  kWrite,      // WR
  kRefresh,    // REF: all banks of a rank
};
inline constexpr int kCommands = 5;

struct IssuedCommand {
  Clock clock = 0;
  Command command = Command::kActivate;
  int rank = 0;
  int bank = 0;         // of the rank; 0 for REF
  uint32_t row = 0;     // of ACT, RD and WR; else 0
  uint32_t column = 0;  // of RD and WR, in lines; else 0

  bool operator==(const IssuedCommand&) const = default;
};

}  // namespace weft::sim
