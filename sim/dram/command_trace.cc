#include "sim/dram/command_trace.h"

#include <array>

#include <fmt/format.h>

#include "sim/words.h"

namespace weft::sim {
namespace {

constexpr std::array<std::string_view, kCommands> kNames = {"ACT",   "PRE", "RD",  "WR",
                                                            "REFpb", "REF", "PDE", "PDX"};

template <typename Number>
bool TakeNumber(std::string_view& text, Number& number) {
  return ParseWhole(TakeWord(text), 10, number);
}

// What is wrong with the line, or nullptr.
const char* Parse(std::string_view line, IssuedCommand& issued) {
  if (!TakeNumber(line, issued.clock)) return "a line begins with a clock";
  const std::string_view name = TakeWord(line);
  size_t command = 0;
  while (command < kNames.size() && kNames[command] != name) ++command;
  if (command == kNames.size())
    return "the second word is ACT, PRE, RD, WR, REFpb, REF, PDE or PDX";
  issued.command = static_cast<Command>(command);
  if (!TakeNumber(line, issued.rank) || !TakeNumber(line, issued.bank) ||
      !TakeNumber(line, issued.row) || !TakeNumber(line, issued.column)) {
    return "rank, bank, row and column are whole numbers";
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
  std::string line;
  for (size_t number = 1; std::getline(in, line); ++number) {
    IssuedCommand issued;
    if (const char* const wrong = Parse(line, issued)) {
      return Status(Code::kInvalidArgument, fmt::format("{}:{}: {}", name, number, wrong));
    }
    commands.push_back(issued);
  }
  return commands;
}

}  // namespace weft::sim
