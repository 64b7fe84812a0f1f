#include "sim/dram/command_trace.h"

#include <array>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "sim/base/text_lines.h"
#include "sim/base/words.h"

namespace weft::sim {
namespace {

constexpr std::array<std::string_view, kCommands> kNames = {"ACT",   "PRE", "RD",  "WR",
                                                            "REFpb", "REF", "PDE", "PDX"};

template <typename Number>
bool TakeNumber(std::string_view& text, Number& number) {
  return base::ParseNumber(TakeWord(text), &number);
}

// What is wrong with the line, or nullptr.
const char* ParseIssued(std::string_view line, IssuedCommand& issued) {
  if (!TakeNumber(line, issued.clock)) return "a line must begin with a clock";
  if (issued.clock < 0 || issued.clock > kTraceClockMax) return "the clock is out of range";
  const std::string_view name = TakeWord(line);
  size_t command = 0;
  while (command < kNames.size() && kNames[command] != name) ++command;
  if (command == kNames.size())
    return "the second word must be ACT, PRE, RD, WR, REFpb, REF, PDE or PDX";
  issued.command = static_cast<Command>(command);
  if (!TakeNumber(line, issued.rank) || !TakeNumber(line, issued.bank) ||
      !TakeNumber(line, issued.row) || !TakeNumber(line, issued.column)) {
    return "rank, bank, row and column must be whole numbers";
  }
  return TakeWord(line).empty() ? nullptr : "there are more than six words";
}

}  // namespace

std::string_view CommandName(Command command) { return kNames[static_cast<size_t>(command)]; }

std::string ToTraceLine(const IssuedCommand& issued) {
  return fmt::format("{} {} {} {} {} {}\n", issued.clock, CommandName(issued.command), issued.rank,
                     issued.bank, issued.row, issued.column);
}

Result<std::vector<IssuedCommand>> ReadCommandTrace(std::istream& in, const std::string& name) {
  std::vector<IssuedCommand> commands;
  TextLines lines(name);
  while (true) {
    const Result<std::optional<std::string_view>> line = lines.Next(in);
    if (!line) return line.error();
    if (!line.value()) return commands;
    IssuedCommand issued;
    if (const char* const wrong = ParseIssued(*line.value(), issued)) return lines.Wrong(wrong);
    commands.push_back(issued);
  }
}

}  // namespace weft::sim
