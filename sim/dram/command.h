// sim/dram/command.h: a controller's commands to a channel's memory: one a clock, or one row
// command and one column command if the memory has a bus for each. Power commands are a pin of each
// rank's and take no bus.
//
// Threads   values.
#pragma once

#include <cstdint>

#include "sim/dram/timing.h"

namespace weft::sim {

enum class Command : uint8_t {
  kActivate,     // ACT: open a row of a bank
  kPrecharge,    // PRE: close the bank's row
  kRead,         // RD: a burst of the open row
  kWrite,        // WR
  kRefreshBank,  // REFpb: one bank
  // From here on of a rank, not of a bank.
  kRefresh,    // REF: all banks of a rank
  kPowerDown,  // PDE: enter precharge power-down
  kPowerUp,    // PDX: leave it
};
inline constexpr int kCommands = 8;

constexpr bool IsOfRank(Command command) { return command >= Command::kRefresh; }
constexpr bool IsColumn(Command command) {
  return command == Command::kRead || command == Command::kWrite;
}
constexpr bool IsPower(Command command) { return command >= Command::kPowerDown; }

struct IssuedCommand {
  Clock clock = 0;
  Command command = Command::kActivate;
  int rank = 0;
  int bank = 0;         // of the rank; 0 for commands of a rank
  uint32_t row = 0;     // of ACT, RD and WR; otherwise 0
  uint32_t column = 0;  // of RD and WR, in lines; otherwise 0

  bool operator==(const IssuedCommand&) const = default;
};

}  // namespace weft::sim
