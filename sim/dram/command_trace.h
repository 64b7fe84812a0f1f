// sim/dram/command_trace.h: the commands of a channel as text, one a line:
//
//     1301 ACT 0 3 4711 0        clock, command, rank, bank, row, column
//
// Fields that a command lacks are 0. Commands are ACT, PRE, RD, WR, REFpb, REF, PDE and PDX.
//
// Units     clocks; a column is a line of 64 bytes.
// Threads   pure.
// Errors    kInvalidArgument: "file:line: what is wrong". kIoError: it can't be read.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "sim/dram/command.h"
#include "weft/status.h"

namespace weft::sim {

// So that differences of clocks are clocks, too.
inline constexpr Clock kTraceClockMax = INT64_MAX / 2;

std::string_view CommandName(Command command);

// With its line break.
std::string ToTraceLine(const IssuedCommand& issued);

// `name` is for messages.
Result<std::vector<IssuedCommand>> ReadCommandTrace(std::istream& in, const std::string& name);

}  // namespace weft::sim
